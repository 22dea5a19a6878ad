/**
 * Which recording of its order a file was made of. It stands on the items of the order and nowhere else: a guess by the
 * sequence of the ids at first, then what the service says.
 */
import { storedName, urlName } from '../lib/names.ts';
import { isUrl } from '../lib/url.ts';
import { audioColumns } from './purchase.ts';
import type { Statement, Store, Value } from './stores/store.ts';
import { NOW } from './table.ts';

/** How an item names its URL, so that the link of a file finds it. */
export const urlKey = (url: string): string =>
  url === '' ? '' : storedName(isUrl(url) ? urlName(url) : `url ${url}`);

/** SQL: joins a file with its item (`own`), and that with its recording (`audios`). */
export const WITH_AUDIO = `LEFT JOIN purchase_items AS own ON own.profile = files.profile AND own.file = files.id
    AND own.file <> '' AND own.purchase = files.purchase
  LEFT JOIN purchase_items AS audios ON audios.purchase = own.purchase AND audios.position = own.audio`;

export const INSERT_LABEL = `INSERT INTO labels (profile, kind, label, purchase, position, n) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;

/** SQL: the recording `audios` has a label. */
export const hasLabel = (kind: 'tag' | 'feed', condition: string): string =>
  `EXISTS (SELECT 1 FROM labels WHERE labels.purchase = audios.purchase AND labels.position = audios.position
    AND labels.kind = '${kind}' AND ${condition})`;

/** SQL: what an `AudioRow` is made of, of the recording `audios`. */
export const AUDIO_COLUMNS = `${audioColumns.map((name) => `audios.${name} AS audio_${name}`).join(', ')},
  coalesce((SELECT CAST(json_group_array(label) AS TEXT) FROM (
     SELECT label FROM labels WHERE labels.purchase = audios.purchase AND labels.position = audios.position
       AND labels.kind = 'tag' ORDER BY n) AS own_tags), '[]') AS audio_tags`;

/** SQL: a question about the recording of a file, `audios`, where nothing else of it is asked. */
export const audioOfFile = (select: string, and = ''): string =>
  `(SELECT ${select} FROM purchase_items AS own
    CROSS JOIN purchase_items AS audios ON audios.purchase = own.purchase AND audios.position = own.audio
    WHERE own.profile = files.profile AND own.file = files.id AND own.file <> '' AND own.purchase = files.purchase
      ${and} LIMIT 1)`;

/** SQL: what a file is made of where that is known, else the link that the service names. */
export const URL_OF_FILE = `coalesce(nullif(${audioOfFile('audios.url')}, ''), files.link)`;

/** A file in its place among the items of its order. */
export interface Paired {
  readonly file: string;
  /** The id, where the service itself has named it. */
  readonly named: string;
  /** The position of its recording; null where nobody knows. */
  readonly audio: number | null;
  readonly known: number;
  /** Its total when it was bought; null: what it is now. */
  readonly total_before: string | null;
}

/** An item: the place of a recording, or of a further file. */
interface Item extends Paired {
  readonly purchase: string;
  readonly position: number;
  readonly url_key: string;
}

interface OwnItem extends Item {
  /** The last position of its order. */
  readonly last: number;
}

/** A file, and the audio that the service says it was made of. */
export interface LinkedFile {
  readonly id: string;
  readonly purchase: string;
  readonly link: string;
}

const nobody: Paired = { file: '', named: '', audio: null, known: 0, total_before: '' };

const COLUMNS = `items.purchase, items.position, items.url_key, items.file, items.named, items.audio, items.known,
  items.total_before`;

/** Gives each file to the recording that the service names; gives the files whose cost is another item's now. */
export async function correctPairings(
  db: Store,
  profile: string,
  files: readonly LinkedFile[],
): Promise<string[]> {
  const linked = files.filter(({ purchase, link }) => purchase && link);
  if (linked.length === 0) return [];
  const pairs = (textOf: (file: LinkedFile) => string): Value[] =>
    linked.flatMap((file) => [file.purchase, textOf(file)]);
  const asked = `(VALUES ${linked.map(() => '(?, ?)').join(', ')}) AS asked`;
  const [own, named] = await Promise.all([
    db.all<OwnItem>(
      `SELECT ${COLUMNS}, (SELECT max(position) FROM purchase_items WHERE purchase = items.purchase) AS last
       FROM ${asked} CROSS JOIN purchase_items AS items ON items.profile = ? AND items.file = asked.column2
         AND items.file <> '' AND items.purchase = asked.column1`,
      ...pairs(({ id }) => id),
      profile,
    ),
    db.all<Item>(
      `SELECT ${COLUMNS} FROM ${asked} CROSS JOIN purchase_items AS items ON items.purchase = asked.column1
         AND items.url_key = asked.column2 AND items.url_key <> ''`,
      ...pairs(({ link }) => urlKey(link)),
    ),
  ]);
  const orders = new Map<string, Order>();
  for (const { last, ...item } of own) {
    const order = orders.get(item.purchase) ?? new Order(Number(last));
    orders.set(item.purchase, order.add(item));
  }
  for (const item of named) orders.get(item.purchase)?.add(item);
  for (const { id, purchase, link } of linked) orders.get(purchase)?.correct(id, urlKey(link));
  const all = [...orders].sort(([one], [other]) => (one < other ? -1 : 1));
  const statements = all.flatMap(([purchase, order]) => order.changes(profile, purchase));
  if (statements.length) await db.batch(statements);
  return all.flatMap(([, order]) => order.moved());
}

/** The items of an order, as far as they matter. */
class Order {
  readonly #items = new Map<number, Item>();
  readonly #now = new Map<number, Paired>();
  #last: number;

  constructor(last: number) {
    this.#last = last;
  }

  add(row: Item): this {
    const position = Number(row.position);
    const audio = row.audio === null ? null : Number(row.audio);
    this.#items.set(position, { ...row, position, audio, known: Number(row.known) });
    return this;
  }

  #at(position: number): Paired {
    return this.#now.get(position) ?? this.#items.get(position) ?? nobody;
  }

  #isRecording(position: number): boolean {
    return this.#items.get(position)?.url_key !== '';
  }

  correct(file: string, key: string): void {
    const place = [...this.#items.keys(), ...this.#now.keys()].find((each) => this.#at(each).file === file);
    const fits = [...this.#items.values()].flatMap((item) => (item.url_key === key ? [item.position] : []));
    if (place === undefined || fits.length === 0) return;
    const own = this.#at(place);
    // Two recordings of an order may have one URL: then its link does not tell which of them it is.
    const known = Number(fits.length === 1);
    if (own.audio !== null && fits.includes(own.audio)) {
      if (known > own.known) this.#now.set(place, { ...own, known });
      return;
    }
    const only = known ? fits[0] : undefined;
    const target = only ?? fits.find((each) => !this.#at(each).known) ?? place;
    if (target !== place || own.audio === null) this.#move(place, target, { ...own, audio: target, known });
  }

  #move(place: number, target: number, paired: Paired): void {
    const there = this.#at(target);
    const isFurther =
      there.file !== '' && there.file !== paired.file && there.known && there.audio === target;
    if (isFurther && !this.#isRecording(place)) this.#now.set(place, paired);
    else if (isFurther) {
      this.#now.set(place, nobody);
      this.#last += 1;
      this.#items.set(this.#last, { ...nobody, purchase: '', position: this.#last, url_key: '' });
      this.#now.set(this.#last, paired);
    } else this.#swap(place, target, paired);
  }

  #swap(place: number, target: number, paired: Paired): void {
    const there = this.#at(target);
    // Nobody knows what was made of the recording that it leaves, but for the guess that was wrong.
    const isGuess = there.audio !== null && this.#at(place).audio !== null && this.#isRecording(place);
    const isSettled = there.known || !there.file;
    if (place !== target)
      this.#now.set(place, isSettled ? there : { ...there, audio: isGuess ? place : null });
    this.#now.set(target, paired);
  }

  changes(profile: string, purchase: string): Statement[] {
    return [...this.#now]
      .sort(([one], [other]) => one - other)
      .map(([position, paired]) => {
        if (paired.file === this.#items.get(position)?.file)
          return {
            sql: `UPDATE purchase_items SET audio = ?, known = ?, file_at = ${NOW} WHERE purchase = ? AND position = ?`,
            values: [paired.audio, paired.known, purchase, position],
          };
        return pairing(profile, purchase, position, paired);
      });
  }

  /** The files that are at another place now. */
  moved(): string[] {
    return [...this.#now].flatMap(([position, { file }]) =>
      file && file !== this.#items.get(position)?.file ? [file] : [],
    );
  }
}

/** All items of a purchase were bought at the same time. */
const FIRST_ITEM = 'FROM purchase_items WHERE purchase = ? ORDER BY position LIMIT 1';

/** Puts a file in a place, which is made where it is that of a further file. What it cost is then to be found anew. */
export const pairing = (
  profile: string,
  purchase: string,
  position: number,
  { file, named, audio, known, total_before }: Paired,
): Statement => ({
  sql: `INSERT INTO purchase_items (purchase, position, profile, url, url_key, file, named, audio, known, file_at, total_before,
      turn, estimate, bought_at, counted_at)
    VALUES (?, ?, ?, '', '', ?, ?, CAST(? AS BIGINT), ?, ${NOW},
      coalesce(?, (SELECT total FROM files WHERE profile = ? AND id = ?), ''),
      (SELECT coalesce(max(turn) + 1, 0) FROM purchase_items WHERE profile = ? AND file = ? AND file <> '' AND purchase <> ?),
      0, coalesce((SELECT bought_at ${FIRST_ITEM}), ''),
      (SELECT counted_at ${FIRST_ITEM}))
    ON CONFLICT (purchase, position) DO UPDATE SET file = excluded.file, named = excluded.named, audio = excluded.audio,
      known = excluded.known, file_at = excluded.file_at, total_before = excluded.total_before, turn = excluded.turn, billed = NULL, unpaid = 0, refunded = 0`,
  values: [
    ...[purchase, position, profile, file, named, audio, known],
    ...[total_before, profile, file, profile, file, purchase, purchase, purchase],
  ],
});
