/** What running a command may do, for a program that decides what to run; and the exit codes that it may give. */
import type { Effect } from '../lib/command-entry.ts';
import { exitCodes, type Kind } from '../lib/errors.ts';

/** Beside 0: any command may fail, be called wrongly or be interrupted. */
const ALWAYS: readonly Kind[] = ['failed', 'usage', 'interrupted'];
const CALL: readonly Kind[] = ['auth', 'missing', 'timeout', 'network'];
const MONEY: readonly Kind[] = [...CALL, 'uncertain'];
const SEVERAL: readonly Kind[] = [...CALL, 'partial'];
/** Where a shared ledger may be out of reach. */
const LEDGER: readonly Kind[] = ['network'];

interface Nature {
  readonly effect: Effect;
  readonly exits: readonly Kind[];
  /** Running it twice does harm that running it once does not. */
  readonly once?: boolean;
}

const reads = (exits: readonly Kind[] = []): Nature => ({ effect: 'none', exits });
const local = (exits: readonly Kind[] = []): Nature => ({ effect: 'local', exits });
const account = (exits: readonly Kind[], once = false): Nature => ({ effect: 'account', exits, once });
const money = (exits: readonly Kind[]): Nature => ({ effect: 'money', exits, once: true });

/** By the path of the command. */
const natures: Readonly<Record<string, Nature>> = {
  order: money([...MONEY, 'held', 'unfinished', 'duplicate', 'partial']),
  attempts: reads(LEDGER),
  'attempts settle': local(SEVERAL),
  ignore: local(LEDGER),
  files: reads(SEVERAL),
  file: reads(SEVERAL),
  track: local(SEVERAL),
  wait: local([...SEVERAL, 'held', 'unfinished', 'uncertain']),
  transcript: local(SEVERAL),
  sync: local(SEVERAL),
  upgrade: money([...MONEY, 'duplicate', 'partial']),
  refund: money([...MONEY, 'duplicate', 'partial']),
  balance: reads(CALL),
  invoice: reads(SEVERAL),
  report: reads(SEVERAL),
  log: reads(LEDGER),
  budget: reads(LEDGER),
  'budget set': local(LEDGER),
  'budget unset': local(LEDGER),
  listen: account([...CALL]),
  events: reads(LEDGER),
  'events show': reads(LEDGER),
  'events replay': account(['network', 'partial'], true),
  'webhook get': reads(CALL),
  'webhook set': account(CALL),
  'webhook test': account(CALL, true),
  login: local(CALL),
  logout: local(),
  whoami: reads(['auth']),
  'config list': reads(),
  'config get': reads(),
  'config set': local(),
  'config unset': local(),
  'config path': reads(),
  'ledger status': reads(LEDGER),
  'ledger migrate': local(LEDGER),
  'ledger copy': local(LEDGER),
  'ledger export': reads(LEDGER),
  'ledger import': local(LEDGER),
  'ledger prune': local(LEDGER),
  'ledger account': local(LEDGER),
  skus: reads(),
  states: reads(),
  formats: reads(),
  sandbox: local(),
  'sandbox reset': local(),
  'sandbox release': local(),
  'sandbox advance': local(),
  api: money([...MONEY, 'duplicate']),
  completion: reads(),
  'completion install': local(),
  'completion uninstall': local(),
  doctor: reads(CALL),
  schema: reads(),
  commands: reads(),
};

export const hasNature = (path: string): boolean => path in natures;

export const effectOf = (path: string): Effect => natures[path]?.effect ?? 'none';

export const isSafeToRepeat = (path: string): boolean => natures[path]?.once !== true;

export const exitsOf = (path: string): Array<{ readonly code: number; readonly name: string }> =>
  (['ok', ...ALWAYS, ...(natures[path]?.exits ?? [])] as const)
    .map((name) => ({ code: exitCodes[name].code, name }))
    .sort((one, other) => one.code - other.code);
