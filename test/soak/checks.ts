/** What must hold after the soak: nothing lost, nothing twice, nothing left behind. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

export interface Outcome {
  /** The home of the user, and that of the sandbox. */
  readonly folder: string;
  readonly service: string;
  readonly ordered: readonly string[];
  readonly waited: readonly string[];
  /** Files whose completion the listener has answered with 200, those that never reached it, and the others. */
  readonly kept: readonly string[];
  readonly lost: readonly string[];
  readonly refused: readonly string[];
  /** Files that the ledger has as delivered. */
  readonly delivered: ReadonlySet<string>;
  /** How many completions the ledger has of a file: received, and found without one. */
  readonly events: ReadonlyMap<string, number>;
  readonly found: ReadonlyMap<string, number>;
  /** How often it was forwarded. */
  readonly forwarded: ReadonlyMap<string, number>;
}

const MAX_SHOWN = 5;

export function checkAll(outcome: Outcome): string[] {
  const { folder, service, ordered, waited, lost, refused, delivered, events, found, forwarded } = outcome;
  const ours = new Set(ordered);
  const kept = outcome.kept.filter((id) => ours.has(id));
  process.stdout.write(
    `${ordered.length} files ordered, ${kept.length} deliveries kept, ${lost.length} lost and ${found.size} found\n`,
  );
  return [
    ...each('is ordered and not delivered', ordered, (id) => !delivered.has(id)),
    ...each('was kept and is not an event, or several', kept, (id) => events.get(id) !== 1),
    ...each('was kept and not forwarded once', kept, (id) => forwarded.get(id) !== 1),
    ...each('was lost and not found, or found twice', lost, (id) => found.get(id) !== 1),
    ...each('was found though it came', [...found.keys()], (id) => !lost.includes(id)),
    ...each('was refused by the listener', refused, () => true),
    ...checkFolder(join(folder, 'heard'), ordered),
    ...checkFolder(join(folder, 'waited'), waited),
    ...each('is a temporary file', leftIn(folder), () => true),
    ...each('is a temporary file', leftIn(service), () => true),
    ...checkDatabase(join(folder, 'state', 'ledger.db')),
    ...checkDatabase(join(service, 'state', 'sandbox.db')),
    ...(lost.length ? [] : ['no delivery was lost, so none could be found']),
  ];
}

function each(what: string, ids: readonly string[], isBad: (id: string) => boolean): string[] {
  const bad = ids.filter(isBad);
  if (bad.length === 0) return [];
  const more = bad.length > MAX_SHOWN ? ` and ${bad.length - MAX_SHOWN} more` : '';
  return [`${bad.slice(0, MAX_SHOWN).join(', ')}${more} ${what}`];
}

/** A transcript of each file, and nothing else. */
function checkFolder(folder: string, ids: readonly string[]): string[] {
  const names = readdirSync(folder);
  const wanted = new Set(ids.map((id) => `${id}.txt`));
  return [
    ...each(`is missing in ${folder}`, [...wanted], (name) => !names.includes(name)),
    ...each(`is left in ${folder}`, names, (name) => !wanted.has(name)),
  ];
}

/** What is written beside its final name has got it. */
const leftIn = (home: string): string[] =>
  readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(new|part|tmp|draft|lock)$|(^|\/)\.new-/.test(name),
  );

function checkDatabase(path: string): string[] {
  const db = new DatabaseSync(path);
  try {
    const said = db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => Object.values(row as object)[0]);
    const dangling = db.prepare('PRAGMA foreign_key_check').all().length;
    return [
      ...(said.length === 1 && said[0] === 'ok' ? [] : [`${path}: ${said.join('; ')}`]),
      ...(dangling ? [`${path}: ${dangling} rows refer to nothing`] : []),
    ];
  } finally {
    db.close();
  }
}
