/** The options that every command takes, before or after its name. */

import { CHANGE_LIMIT_MS, ORDER_LIMIT_MS, READ_LIMIT_MS } from '../lib/defaults.ts';
import { usage } from '../lib/errors.ts';
import { accountName } from '../lib/names.ts';
import { formatDuration } from '../lib/time.ts';
import type { Output } from '../ui/output.ts';
import { duration, flag, list, type OptionValues, text } from './options.ts';

export const globalOptions = {
  profile: text('--profile <name>', 'use the settings of this profile', {
    env: 'STENO_PROFILE',
    values: 'profile',
  }),
  baseUrl: text('--base-url <url>', 'address of the service, ending in /API4', {
    env: 'STENO_BASE_URL',
    values: 'base-url',
  }),
  apiKey: text('--api-key <key>', 'key of the account; better kept by login or in the environment', {
    env: 'STENO_API_KEY',
  }),
  sandbox: flag('--sandbox', 'use the service inside steno: no account, no network, no cost'),
  json: flag('--json', 'print one JSON document; its names and shape: steno help json'),
  csv: flag('--csv', 'print CSV rows with a header line', { excludes: ['--json'] }),
  markdown: flag('--markdown', 'print the table as GitHub Markdown, for a pull request or a job summary', {
    excludes: ['--json', '--csv'],
  }),
  columns: list('--columns <name…>', 'print these columns, in this order', { excludes: ['--json'] }),
  quiet: flag('--quiet', 'print only what a script needs next', { excludes: ['--markdown', '--columns'] }),
  color: flag('--no-color', 'print without colour', { env: 'NO_COLOR' }),
  progress: flag(
    '--no-progress',
    'no line that moves: on a terminal a plain line every ten seconds, or none with --quiet',
  ),
  pager: flag('--no-pager', 'print long lists at once, not in a pager'),
  debug: flag('--debug', 'show on stderr what is sent and received, and the stack of an error'),
  timeout: duration('--timeout <duration>', 'give up after this long', {
    defaultNote: `${formatDuration(READ_LIMIT_MS)} a read, ${formatDuration(CHANGE_LIMIT_MS)} an upgrade or refund, ${formatDuration(ORDER_LIMIT_MS.base)} and ${formatDuration(ORDER_LIMIT_MS.perUrl)} a URL an order; wait and listen: none`,
  }),
  ledger: flag('--no-ledger', 'neither read nor write the ledger of your orders'),
};

export type GlobalValues = OptionValues<typeof globalOptions>;

/** The profile that is the sandbox. */
export const SANDBOX = 'sandbox';

/** The sandbox has an address, a key and a profile of its own. */
export function checkSandboxFlags({ baseUrl, apiKey, profile, sandbox }: GlobalValues): void {
  const ignored = [
    baseUrl !== undefined && '--base-url',
    apiKey !== undefined && '--api-key',
    profile !== undefined && accountName(profile) !== SANDBOX && '--profile',
  ].find(Boolean);
  if (!ignored) return;
  throw usage(
    `${sandbox ? '--sandbox' : 'the profile sandbox'} and ${ignored} can't be used together`,
    `the sandbox has its own: leave out ${ignored}`,
  );
}

export const warnOfKeyFlag = (out: Output): Promise<void> =>
  out.warn(
    '--api-key exposes the key: other users of this machine see it in the process list, and the shell history keeps it',
    'save it with: steno login   (or set STENO_API_KEY, or have a command print it: steno login --api-key-command)',
  );
