import type { exitCodes } from '../lib/errors.ts';

/** What to do after each exit code; for the README and the help. */
export const exitAdvice: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: '',
  failed: "read the line on stderr, which has the service's own words; --debug shows the calls",
  usage: 'the hint says what to change; steno help <command> lists every flag',
  auth: 'steno whoami shows which key holds and where it came from; STENO_API_KEY goes before a kept key',
  missing: "check --profile, and whether the id is an order's or an invoice's",
  held: 'pay the past-due balance; the order goes on by itself, then steno wait --order <id>',
  timeout: 'give it longer; the files go on meanwhile, so steno wait or steno sync can go on later',
  network: 'steno doctor checks network, proxy and base URL; order says whether it was placed',
  unfinished: 'steno file <id> tells why; the state Error may allow steno refund <id>',
  duplicate:
    'steno files and steno attempts show the earlier one; --skip-ordered leaves it out, --again buys it',
  partial:
    'run the same line again with --skip-ordered or --skip-existing: it does only the rest (upgrade and refund: only the ids that failed)',
  uncertain: 'look at your account, then steno attempts settle; only then run it again',
  interrupted: 'the hint names the line to go on with; for order it has --skip-ordered',
};
