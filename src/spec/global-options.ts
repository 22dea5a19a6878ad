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
  baseUrl: text('--base-url <url>', 'base URL of the service, ending in /API4', {
    env: 'STENO_BASE_URL',
    values: 'base-url',
  }),
  apiKey: text('--api-key <key>', 'API key; safer in the environment, or saved with steno login', {
    env: 'STENO_API_KEY',
  }),
  sandbox: flag('--sandbox', 'use the built-in test service: no account, no network, no cost'),
  json: flag('--json', 'print one JSON document; for its fields, see: steno help json'),
  csv: flag('--csv', 'print CSV with a header line', { excludes: ['--json'] }),
  markdown: flag('--markdown', 'print a GitHub Markdown table, for a pull request or a job summary', {
    excludes: ['--json', '--csv'],
  }),
  columns: list('--columns <name…>', 'print these columns, in this order; all for every column', {
    excludes: ['--json'],
  }),
  quiet: flag('--quiet', 'print only the ids, paths or amounts that a script needs next', {
    excludes: ['--csv', '--markdown', '--columns'],
  }),
  color: flag('--no-color', 'do not use colour', { env: 'NO_COLOR' }),
  progress: flag(
    '--no-progress',
    'no live progress; on a terminal, a plain line every ten seconds (none with --quiet)',
  ),
  pager: flag('--no-pager', 'print long lists directly, without a pager'),
  debug: flag('--debug', 'log requests, answers and stack traces to stderr'),
  timeout: duration('--timeout <duration>', 'give up after this long', {
    defaultNote: `${formatDuration(READ_LIMIT_MS)} for a read, ${formatDuration(CHANGE_LIMIT_MS)} for an upgrade or refund, ${formatDuration(ORDER_LIMIT_MS.base)} plus ${formatDuration(ORDER_LIMIT_MS.perUrl)} per URL for an order; none for wait and listen`,
  }),
  ledger: flag('--no-ledger', 'do not read or write the ledger'),
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
