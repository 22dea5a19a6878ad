/** How to go on after an order that was interrupted: with the same line, or by waiting for what was placed. */
import { goOnHint, shellLine } from '../../lib/go-on-line.ts';

interface Given {
  readonly again: boolean;
  readonly test: boolean;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly nameAs: string | undefined;
}

/** The global options that say whose orders they are. */
interface Globals {
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
  readonly sandbox: boolean;
  readonly ledger: boolean;
}

/** An order, and its files. */
interface PlacedIds {
  readonly id: string;
  readonly audiofiles: readonly string[];
}

export interface GoOn {
  readonly goOn: string;
  readonly waitLine: (orders: readonly PlacedIds[]) => string;
}

export const orderGoOn = (line: readonly string[], given: Given, globals: Globals): GoOn => ({
  goOn: restHint(line, given, globals),
  waitLine: (orders) => waitLine(orders, given, globals),
});

function restHint(line: readonly string[], { again, test }: Given, { ledger }: Globals): string {
  // A test costs nothing, and the ledger does not count it.
  if (test) return goOnHint('all of it with', line);
  // What was placed can't be told from what is still wanted.
  if (again || !ledger) return 'take out what was placed before you run the same line again: see steno files';
  return goOnHint('the rest with', line, '--skip-ordered');
}

function waitLine(
  orders: readonly PlacedIds[],
  { download, format, nameAs }: Given,
  { profile, baseUrl, sandbox, ledger }: Globals,
): string {
  const [first] = orders;
  const words = [
    'wait',
    // Only the ledger knows the files of an order.
    ...(ledger ? flag('--order', orders.length === 1 ? first?.id || undefined : undefined) : []),
    ...(ledger ? [] : orders.flatMap(({ audiofiles }) => audiofiles)),
    ...flag('--download', download),
    ...(download === undefined ? [] : flag('--format', format.join(',') || undefined)),
    ...flag('--name-as', nameAs),
    ...flag('--profile', profile),
    ...flag('--base-url', baseUrl),
    ...(sandbox ? ['--sandbox'] : []),
  ];
  return shellLine(words) ?? (ledger ? 'steno wait' : 'steno wait <id…>');
}

const flag = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [name, value];
