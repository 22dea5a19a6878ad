/** What a user does with every part of the program. The same cases run on each Node. */
import { describe } from 'vitest';
import { NodeUnderTest } from '../node-user.ts';
import type { NodeVersion } from '../node-versions.ts';
import { changes } from './changes.ts';
import { downloads } from './downloads.ts';
import { events } from './events.ts';
import { files } from './files.ts';
import { ledger } from './ledger.ts';
import { lookUps } from './look-ups.ts';
import { money } from './money.ts';
import { orders } from './orders.ts';
import { output } from './output.ts';
import { processes } from './processes.ts';
import { sandbox } from './sandbox.ts';
import { settings } from './settings.ts';
import { sharedLedger } from './shared-ledger.ts';
import { tls } from './tls.ts';

const groups = {
  'look-ups': lookUps,
  settings,
  orders,
  money,
  files,
  downloads,
  changes,
  events,
  ledger,
  'a shared ledger': sharedLedger,
  'the sandbox': sandbox,
  output,
  processes,
  TLS: tls,
};

export function smokeCases(version: NodeVersion): void {
  describe(`on Node ${version}`, () => {
    const node = new NodeUnderTest(version);
    for (const [name, cases] of Object.entries(groups)) describe(name, () => cases(node));
  });
}
