/** How purchases, their items and files are written; the base of the tables that do so. */
import { ciActor, ciJobUrl } from '../lib/ci-job.ts';
import { spellingOf } from '../lib/names.ts';
import { thisProcess, userName } from '../lib/processes.ts';
import { Claims, givingNames } from './claims.ts';
import type { OrderedFile } from './ordered-files.ts';
import { pairing, urlKey } from './pairing.ts';
import {
  audioColumns,
  audioRowOf,
  IS_ACCEPTED,
  kindOf,
  type NewPurchase,
  type PurchaseKind,
  type PurchaseSender,
} from './purchase.ts';
import type { Statement, Store, Value } from './stores/store.ts';
import { jsonList, NOW, Table, type TableContext } from './table.ts';
import { deriveUpgrades } from './upgrades.ts';

/** What the service said of a purchase. */
export type Answered = 'placed' | 'refused' | 'uncertain';

/** What is kept of an order that the service accepted. */
export interface AnsweredOrder {
  /** The service itself named its files; else somebody who settled it did. */
  readonly isNamed: boolean;
  /** Empty where the answer has none. */
  readonly id: string;
  readonly hold: string | null;
  readonly at: string;
  readonly test: boolean;
}

export interface NewRow {
  readonly id: string;
  /** ISO 8601; absent: now. */
  readonly startedAt?: string | undefined;
  /** It was bought elsewhere, and taken in with `track`. */
  readonly tracked?: boolean;
  /** Who sent it; absent: this process. */
  readonly sender?: PurchaseSender;
  /** It is to hold all its names: where one is held, the batch is undone. */
  readonly claims?: boolean;
}

/** An outcome replaces those before it in this list: what is known of a purchase only grows. */
const outcomes = ['sending', 'refused', 'uncertain', 'placed'] as const;

/** SQL: the rank of an outcome. */
export const rankOf = (outcome: string): string =>
  `CASE ${outcome} ${outcomes.map((each, rank) => `WHEN '${each}' THEN ${rank}`).join(' ')} END`;

export type Verdict = 'placed' | 'not placed' | 'reopened';

/** SQL: what people said of a purchase since it was last reopened. */
export const SAID = `FROM settlements WHERE settlements.purchase = purchases.id AND settlements.verdict <> 'reopened'
  AND NOT EXISTS (SELECT 1 FROM settlements AS later
    WHERE later.purchase = settlements.purchase AND later.verdict = 'reopened'
      AND (later.said_at, later.id) > (settlements.said_at, settlements.id))`;

const said = (verdict: Verdict): string => `${SAID} AND settlements.verdict = '${verdict}'`;

/** SQL: the service's yes stands, or that of people, which outranks their no. What the service has named was placed. */
export const DERIVE_STATUS = `UPDATE purchases SET
    order_id = coalesce(nullif(named, ''),
      (SELECT order_id ${said('placed')} ORDER BY order_id = '', said_at, settlements.id LIMIT 1), ''),
    status = CASE WHEN outcome = 'placed' OR EXISTS (SELECT 1 ${said('placed')}) THEN 'placed'
      WHEN NOT ${IS_ACCEPTED} AND EXISTS (SELECT 1 ${said('not placed')}) THEN 'refused'
      ELSE outcome END`;

/** A budget counts what was bought with this ledger, or may have been. */
export const DERIVE_COUNTED = `UPDATE purchase_items SET counted_at = (
    SELECT purchase_items.bought_at FROM purchases WHERE id = purchase AND kind <> 'refund' AND test = 0
      AND tracked = 0 AND status <> 'refused')`;

/** The order that a file belongs to, by the items that have its cost: a later one has taken it over. */
export const OF_FILE = `FROM purchase_items AS items
  CROSS JOIN purchases ON purchases.id = items.purchase
  WHERE items.profile = files.profile AND items.file = files.id AND items.file <> '' AND purchases.kind = 'order'
  ORDER BY purchases.test, purchases.started_at DESC, purchases.id DESC LIMIT 1`;

/**
 * Of orders whose settlement was taken back (`orders`: SQL for their ids): the files that the service named stay. Of the
 * others, those that only the settlement had named go, and each that another order has is that order's again.
 */
export async function takeFilesBack(db: Store, orders: string, value: string): Promise<void> {
  await db.run(
    `UPDATE purchase_items SET file = named, audio = NULL, known = 0, total_before = '', billed = NULL, unpaid = 0, refunded = 0
     WHERE purchase IN (${orders}) AND file <> named`,
    value,
  );
  await dropFiles(db, orders, value);
  await db.run(
    `UPDATE files SET order_id = (SELECT named FROM purchases WHERE id = files.purchase) WHERE purchase IN (${orders})`,
    value,
  );
}

/** Files of these orders that no item of theirs has any more. */
export async function dropFiles(db: Store, orders: string, value: string): Promise<void> {
  const brought = `purchase IN (${orders}) AND NOT EXISTS (
    SELECT 1 FROM purchase_items AS own WHERE own.purchase = files.purchase AND own.file = files.id)`;
  await db.run(
    `DELETE FROM files WHERE ${brought} AND NOT EXISTS (SELECT 1 FROM purchase_items AS other
       WHERE other.profile = files.profile AND other.file = files.id AND other.file <> '')`,
    value,
  );
  const ofOther = (column: string): string => `coalesce((SELECT ${column} ${OF_FILE}), '')`;
  await db.run(
    `UPDATE files SET purchase = ${ofOther('purchases.id')}, order_id = ${ofOther('purchases.order_id')} WHERE ${brought}`,
    value,
  );
}

export abstract class PurchaseTable extends Table {
  protected readonly claims: Claims;

  constructor(context: TableContext) {
    super(context);
    this.claims = new Claims(context);
  }

  protected sender(): PurchaseSender {
    const { env } = process;
    return { user: userName(), ...thisProcess(), job: this.hide(ciJobUrl(env)), actor: ciActor(env) };
  }

  /** Writes a new purchase; one that is there already stays as it is. */
  protected adding(
    purchase: NewPurchase,
    { id, startedAt, tracked = false, sender = this.sender(), claims = false }: NewRow,
  ): Statement[] {
    const { audios, skus, names, notes, test, via = '' } = purchase;
    const { user, host, pid, start, job, actor } = sender;
    const at = startedAt === undefined ? NOW : '?';
    const row: Statement = {
      sql: `INSERT INTO purchases (id, profile, kind, via, outcome, status, test, tracked, started_at, seen_at,
          "user", host, pid, process_start, job, actor, skus, names, notes)
        VALUES (?, ?, ?, ?, 'sending', 'sending', ?, ?, ${at}, ${NOW}, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING`,
      values: [
        ...[id, this.profile, kindOf(purchase), this.hide(via), Number(test), Number(tracked)],
        ...(startedAt === undefined ? [] : [startedAt]),
        ...[user, host, pid, start, job, actor],
        ...[skus.join(','), this.hide(names.join('|')), this.hide(notes ?? '')],
      ],
    };
    const turns: Statement = {
      sql: `UPDATE purchase_items SET turn = (SELECT coalesce(max(other.turn), 0) + 1 FROM purchase_items AS other
          WHERE other.profile = purchase_items.profile AND other.file = purchase_items.file AND other.file <> '')
        WHERE purchase = ? AND file <> '' AND turn = 0`,
      values: [id],
    };
    return [
      row,
      ...insertStatements('purchase_items', ITEM_COLUMNS, audios, (audio, at) => this.#itemOf(audio, id, at)),
      ...(audios.some(({ file }) => file) ? [turns] : []),
      ...this.#labelling(audios, id),
      ...this.#naming(audios, id, claims),
      ...this.#counting(id),
    ];
  }

  #labelling(audios: NewPurchase['audios'], id: string): Statement[] {
    const rows = audios.flatMap(({ details: { tags = [], feedMarks = '' } = {} }, position) => [
      ...tags.map((tag, n): Value[] => [this.profile, 'tag', this.hide(tag), id, position, n]),
      ...feedMarks
        .split(' ')
        .flatMap((mark, n): Value[][] => (mark ? [[this.profile, 'feed', mark, id, position, n]] : [])),
    ]);
    const columns = ['profile', 'kind', 'label', 'purchase', 'position', 'n'];
    return insertStatements('labels', columns, rows, (row) => row);
  }

  /** In sorted order, so that no two orders wait for each other. An order may have a name several times, and holds it once. */
  #naming(audios: NewPurchase['audios'], id: string, claims: boolean): Statement[] {
    const first = new Map<string, number>();
    const again: Array<[name: string, position: number]> = [];
    for (const [position, { names }] of audios.entries())
      for (const name of names.map((each) => this.claims.stored(each)))
        if (first.has(name)) again.push([name, position]);
        else first.set(name, position);
    const columns = ['profile', 'name', 'purchase', 'position', 'holds'];
    const inserts = (names: Array<[name: string, position: number]>, holds: boolean): Statement[] =>
      insertStatements(
        'item_names',
        columns,
        names,
        ([name, position]) => [this.profile, name, id, position, Number(holds)],
        holds,
      );
    const sorted = [...first].sort(([one], [other]) => (one < other ? -1 : 1));
    return [...inserts(sorted, claims), ...inserts(again, false)];
  }

  #itemOf(audio: NewPurchase['audios'][number], purchase: string, position: number): Value[] {
    const { url, key = '', details, file = '', cost, totalBefore = '' } = audio;
    const kept = this.hide(url);
    const row = audioRowOf(details ?? {}, this.hide);
    return [
      ...[purchase, position, this.profile, kept, urlKey(kept)],
      ...[this.hide(key), spellingOf(url), ...audioColumns.map((name) => row[`audio_${name}`])],
      ...[file, file ? position : null, Number(file !== '')],
      ...[cost?.millionths ?? null, cost?.currency ?? '', totalBefore],
    ];
  }

  /** Of a new purchase. Without a clock of its own, a ledger counts no purchase in a period before the latest one. */
  #counting(id: string): Statement[] {
    const latest = this.db.isShared
      ? undefined
      : 'SELECT max(counted_at) FROM purchase_items WHERE profile = ? AND counted_at IS NOT NULL';
    const started = 'SELECT started_at FROM purchases WHERE id = ?';
    const bought = latest === undefined ? started : `SELECT max((${started}), coalesce((${latest}), ''))`;
    return [
      {
        sql: `UPDATE purchase_items SET bought_at = (${bought}) WHERE purchase = ? AND bought_at = ''`,
        values: [id, ...(latest === undefined ? [] : [this.profile]), id],
      },
      { sql: `${DERIVE_COUNTED} WHERE purchase = ?`, values: [id] },
    ];
  }

  /** Writes what the service said, unless more is known already; and what follows from it. */
  protected answering(id: string, outcome: Answered, detail: string, named = ''): Statement[] {
    return [
      {
        sql: `UPDATE purchases SET outcome = ?, named = coalesce(nullif(?, ''), named), detail = ?, ended_at = ${NOW}
          WHERE id = ? AND (outcome = ? OR ${rankOf('?')} > ${rankOf('outcome')})`,
        values: [outcome, named, detail, id, outcome, outcome],
      },
      ...this.deriving(id),
    ];
  }

  /** What an upgrade or a refund that was accepted changes about its file; within a transaction. */
  protected async changeFile(kind: PurchaseKind, file: string): Promise<void> {
    if (kind === 'refund')
      await this.db.run(
        `UPDATE files SET state = 'Refunded', ended = 'unfinished', hint = '', changed_at = ${NOW}
         WHERE profile = ? AND id = ?`,
        this.profile,
        file,
      );
    else await deriveUpgrades(this.db, this.profile, [file]);
  }

  /** Its status, what a budget counts of it, and what it holds. */
  protected deriving(id: string): Statement[] {
    return [
      { sql: `${DERIVE_STATUS} WHERE id = ?`, values: [id] },
      { sql: `${DERIVE_COUNTED} WHERE purchase = ?`, values: [id] },
      ...givingNames(this.profile, [id]),
    ];
  }

  /** Of an order: its hold, its files, and which item has the cost of which file. */
  protected addingFiles(
    id: string,
    order: AnsweredOrder,
    files: readonly OrderedFile[],
    places: readonly Place[],
  ): Statement[] {
    const hold: Statement = { sql: 'UPDATE purchases SET hold = ? WHERE id = ?', values: [order.hold, id] };
    return [
      hold,
      ...files.map(({ id: file }) => this.#addingFile(id, file, order)),
      ...this.givingPlaces(id, files, places, order.isNamed),
    ];
  }

  /** What an order has by now: the places of its recordings and of further files. */
  protected places(purchase: string): Promise<Place[]> {
    return this.db.all<Place>(
      `SELECT position, CASE WHEN url <> '' OR url_key <> '' THEN 1 ELSE 0 END AS recording, file, named, audio FROM purchase_items
       WHERE purchase = ? ORDER BY position`,
      purchase,
    );
  }

  /** A known id is open again, as a file of the new order; but a test never replaces a real file. */
  #addingFile(purchase: string, id: string, order: AnsweredOrder): Statement {
    return {
      sql: `INSERT INTO files (profile, id, purchase, order_id, test, state, ordered_at) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (profile, id) DO UPDATE SET purchase = excluded.purchase, order_id = excluded.order_id,
          test = excluded.test, state = excluded.state, ended = '', ordered_at = excluded.ordered_at
        WHERE excluded.test <= files.test`,
      values: [
        ...[this.profile, id, purchase, order.id, Number(order.test)],
        ...[order.hold === null ? '' : 'On Hold', order.at],
      ],
    };
  }

  /** More files than audios: each further one is an item of its own, whose cost is known when it is billed. */
  protected givingPlaces(
    purchase: string,
    files: readonly OrderedFile[],
    places: readonly Place[],
    isNamed: boolean,
  ): Statement[] {
    const told = new Set(files.flatMap(({ id, position }) => (position === undefined ? [] : [id])));
    // Nobody knew the audio of these until now.
    const waiting = places.filter(({ file, audio }) => audio === null && told.has(file));
    const there = new Map(places.flatMap((place) => (waiting.includes(place) ? [] : [[place.file, place]])));
    const added = files.filter(({ id }) => !there.has(id));
    // What the service names takes the place of what a person has named.
    const isFree = (place: Place): boolean =>
      !place.file || waiting.includes(place) || (isNamed && added.length > 0 && !place.named);
    const open = places.filter((place) => place.recording && isFree(place));
    const free = new Set(open.map(({ position }) => Number(position)));
    const own = added.map(({ position }) =>
      position !== undefined && free.delete(position) ? position : undefined,
    );
    let last = places.reduce((most, { position }) => Math.max(most, Number(position)), -1);
    const next = (): number => {
      for (const position of free) return free.delete(position) ? position : -1;
      last += 1;
      return last;
    };
    const given = added.map(({ id: file, position, known: isKnown }, at) => {
      const place = own[at] ?? next();
      // Where another file has the place, only the service can tell whose it is.
      const audio = position !== undefined && (isKnown || place === position) ? position : null;
      const named = isNamed || waiting.some((each) => each.file === file && each.named) ? file : '';
      return { place, file, named, audio, known: Number(isKnown), total_before: null };
    });
    const taken = new Set(given.map(({ place }) => place));
    const nothing = { named: '', audio: null, known: 0, total_before: null };
    const left = waiting.flatMap(({ position }) =>
      taken.has(Number(position)) ? [] : [{ ...nothing, place: Number(position), file: '' }],
    );
    const displaced = open.flatMap((place) => {
      if (!place.file || waiting.includes(place) || !taken.has(Number(place.position))) return [];
      last += 1;
      return [{ ...nothing, place: last, file: place.file }];
    });
    return [
      ...[...left, ...given, ...displaced].map(({ place, ...paired }) =>
        pairing(this.profile, purchase, place, paired),
      ),
      ...(isNamed && added.length < files.length
        ? [
            {
              sql: `UPDATE purchase_items SET named = file, file_at = ${NOW}
                WHERE purchase = ? AND named <> file AND file IN (SELECT value FROM json_each(?))`,
              values: [purchase, jsonList(files.map(({ id }) => id))],
            },
          ]
        : []),
    ];
  }
}

/** A place among the items of an order; 1: of a recording, else of a further file. */
export interface Place {
  readonly position: number;
  readonly recording: number;
  readonly file: string;
  /** The same, where the service itself has named it. */
  readonly named: string;
  /** The position of the audio of the file; null where nobody knows. */
  readonly audio: number | null;
}

const ITEM_COLUMNS = [
  ...['purchase', 'position', 'profile', 'url', 'url_key', 'key', 'spelling'],
  ...audioColumns,
  ...['file', 'audio', 'known'],
  ...['estimate', 'currency', 'total_before'],
];

/** SQLite takes 32,766 values in a statement; the fewer there are, the less of them outlives a collection of garbage. */
const ROWS_PER_STATEMENT = 200;

/** `isWhole`: all rows are to be new. The values of a statement are made when it is run: of 100,000 rows they fill the memory. */
function insertStatements<Source>(
  table: string,
  columns: readonly string[],
  sources: readonly Source[],
  rowOf: (source: Source, at: number) => readonly Value[],
  isWhole = false,
): Statement[] {
  const statements: Statement[] = [];
  for (let from = 0; from < sources.length; from += ROWS_PER_STATEMENT) {
    const some = sources.slice(from, from + ROWS_PER_STATEMENT);
    const row = `(${columns.map(() => '?').join(', ')})`;
    statements.push({
      sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => row).join(', ')} ON CONFLICT DO NOTHING`,
      get values() {
        return some.flatMap((source, at) => rowOf(source, from + at));
      },
      ...(isWhole && { expects: some.length }),
    });
  }
  return statements;
}
