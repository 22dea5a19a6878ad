/** What a shared ledger is opened with. */
import { join } from 'node:path';
import type { SharedLedgerOptions } from '../ledger/shared.ts';
import type { Env } from '../lib/env.ts';
import { accountName } from '../lib/names.ts';
import type { CommandLimits } from '../settings/key.ts';
import { closeFolder, stateFolder } from '../settings/paths.ts';
import type { Settings } from '../settings/settings.ts';
import type { Output } from '../ui/output.ts';

/** What it needs of a command's context. */
interface Needed {
  readonly env: Env;
  readonly out: Output;
  readonly commandLimits: CommandLimits;
}

/** How long a connection may take: some databases wake up first. It may be silent for as long. */
const LEDGER_TIMEOUT_MS = 30_000;

/** `limitMs`: how long it may be waited for at most, whatever the URL says. */
export async function sharedLedgerOptions(
  { env, out, commandLimits }: Needed,
  settings: Settings,
  url: string,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<SharedLedgerOptions> {
  const { readPostgresUrl } = await import('../lib/postgres-url.ts');
  settings.maskLedgerPassword(url);
  const address = readPostgresUrl(url, env);
  const folder = stateFolder(env);
  closeFolder(folder, 'STENO_STATE_DIR');
  return {
    address,
    password: () => settings.ledgerPassword(address, commandLimits),
    timeoutMs: Math.min(address.connectTimeoutMs ?? LEDGER_TIMEOUT_MS, limitMs),
    queryTimeoutMs: Math.min(LEDGER_TIMEOUT_MS, limitMs),
    outcomes: join(folder, 'outcomes'),
    onTrouble: (text, hint) => out.warn(text, hint),
    account: {
      name: accountName(settings.account.value ?? settings.profileName),
      isChosen: settings.get('account').value !== undefined,
      baseUrl: settings.get('base-url').value,
    },
  };
}
