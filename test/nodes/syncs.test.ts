/** How often the ledger is synced to disk: for each order, and not for each file of bulk work, on the oldest and the newest Node. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_KEY } from '../../src/sandbox/server.ts';
import { complete, Listener, Target } from '../support/listener.ts';
import { type Call, hasStrace, isSync, trace } from '../support/strace.ts';
import { NodeUnderTest, NodeUser } from './node-user.ts';
import type { NodeVersion } from './node-versions.ts';

const FILES = 25;
/** To open and to close a ledger costs some, whatever is done in between. */
const MOST_OF_BULK = 8;

const node = new NodeUnderTest('24');

const isOfLedger = ({ target }: Call): boolean => /\/ledger\.db/.test(target);

async function ledgerSyncs(user: NodeUser, line: string): Promise<number> {
  const { calls, code } = await trace(user, line.split(' '), 'fsync,fdatasync');
  expect([line, code]).toEqual([line, 0]);
  return calls.filter(isSync).filter(isOfLedger).length;
}

const urls = (name: string): string =>
  Array.from({ length: FILES }, (_, at) => `https://example.com/${name}-${at}.mp3`).join('\n');

/** A user who has delivered files, events and an export. */
async function userWithFiles(version: NodeVersion): Promise<NodeUser> {
  const user = new NodeUser(version, { STENO_API_KEY: SANDBOX_KEY, STENO_BASE_URL: node.baseUrl });
  await user.ok('order --from - --sku TRANS14', { stdin: urls(`bulk-${version}`) });
  const { stdout } = await user.ok('files --quiet');
  writeFileSync(join(user.home, 'ids'), stdout);
  writeFileSync(join(user.home, 'list'), urls(`listed-${version}`));
  const listener = await Listener.start(user, ['--quiet']);
  for (const id of stdout.trim().split('\n')) await listener.post(complete(id));
  await listener.until(() => listener.lines.length === FILES);
  await listener.stop();
  await user.ok('ledger export -o dump.jsonl');
  return user;
}

describe.runIf(hasStrace || process.env.CI).each(['20', '26'] as const)('on Node %s', (version) => {
  let user: NodeUser;

  beforeAll(async () => {
    user = await userWithFiles(version);
  });

  it('an order is synced before it is sent, and its outcome after', async () => {
    const one = await ledgerSyncs(user, `order https://example.com/one-${version}.mp3 --sku TRANS14`);
    const all = await ledgerSyncs(user, 'order --from list --sku TRANS14 --per-order 1');
    // What differs is the attempts and the outcomes of all orders but one.
    expect(all - one).toBe(2 * (FILES - 1));
  });

  it.each([
    'wait --interval 100ms --download waited',
    'sync --download synced',
    'transcript --from ids -o fetched/',
    'track --from ids',
    'files --refresh',
    'report',
    'order --from list --sku TRANS14 --again',
  ])('steno %s does not sync for each file', async (line) => {
    expect(await ledgerSyncs(user, line)).toBeLessThanOrEqual(MOST_OF_BULK);
  });

  it('an import and a replay of events do not sync for each row', async () => {
    const target = await Target.start();
    const numbers = Array.from({ length: FILES }, (_, at) => at + 1).join(' ');
    expect(await ledgerSyncs(user, `events replay ${numbers} --to ${target.url}`)).toBeLessThanOrEqual(
      MOST_OF_BULK,
    );
    expect(target.got).toHaveLength(FILES);
    const other = new NodeUser(version, { STENO_API_KEY: SANDBOX_KEY, STENO_BASE_URL: node.baseUrl });
    await other.ok('order https://example.com/other.mp3 --sku TRANS14 --test');
    const dump = join(user.home, 'dump.jsonl');
    expect(await ledgerSyncs(other, `ledger import ${dump}`)).toBeLessThanOrEqual(MOST_OF_BULK);
  });
});
