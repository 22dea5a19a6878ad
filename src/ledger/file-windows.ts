/** Files as a table shows them: filtered by words, sorted, counted, and read in windows, so that 100,000 are no trouble. */
import { orderSkus } from '../catalog/skus.ts';
import { fileStates } from '../catalog/states.ts';
import { nowMs } from '../lib/time.ts';
import { FILE_COLUMNS, FILES_AND_ORDERS, type FileRow, ORDERED_AT, SKUS_NOW } from './files.ts';
import { hasLabel, WITH_AUDIO } from './pairing.ts';
import { Conditions, jsonList, spellings, Table } from './table.ts';

export const fileSorts = ['ordered_at', 'title', 'state', 'minutes', 'total', 'audiofile'] as const;
export type FileSort = (typeof fileSorts)[number];

/** What a file is to a person. A file that is overdue is open too. */
export const fileKinds = ['open', 'held', 'failed', 'overdue', 'delivered'] as const;
export type FileKind = (typeof fileKinds)[number];

export interface FileQuery {
  /** Each must be in the title, id, order, key, a tag, the feed, the state or the URL. */
  readonly words: readonly string[];
  /** Empty: all of them. `ordered` is a file that the service was not asked about. */
  readonly states: readonly string[];
  readonly order: string | undefined;
  readonly sort: FileSort;
  readonly isDescending: boolean;
  readonly kind: FileKind | undefined;
}

const STATE = "coalesce(nullif(files.state, ''), 'ordered')";
/** As `audioTitle` has it. */
const TITLE = `CASE WHEN audios.feed <> '' OR audios.guid <> '' THEN coalesce(nullif(audios.title, ''), files.title)
  ELSE coalesce(nullif(files.title, ''), audios.title, '') END`;
const MINUTES = `CASE WHEN files.duration <> '' THEN round(files.duration, 9) ELSE coalesce(audios.seconds, 0) / 60 END`;

const joined = (parts: readonly string[]): string => parts.join(" || '\n' || ");
/** What words are looked for in; a line break between them, so that no word is found across two. */
const COLUMNS = joined([
  'files.id',
  'files.order_id',
  "coalesce(audios.key, '')",
  STATE,
  'files.title',
  ...['url', 'title', 'feed'].map((name) => `coalesce(audios.${name}, '')`),
  'files.link',
]);

const sortKeys: Readonly<Record<FileSort, readonly string[]>> = {
  ordered_at: ['files.ordered_at'],
  title: [`lower(${TITLE})`],
  state: [STATE],
  minutes: [MINUTES],
  total: ['round(files.total, 9)'],
  audiofile: ['length(files.id)', 'files.id'],
};

const HELD_STATES = fileStates.flatMap(({ name, held }) => (held ? [`'${name}'`] : [])).join(', ');
const IS_HELD = `files.ended = '' AND (${STATE} IN (${HELD_STATES}) OR coalesce(purchases.hold, '') <> '')`;

/** SQL: whether a file is of a kind. */
function conditionOf(kind: FileKind, now: number): string {
  switch (kind) {
    case 'open':
      return `files.ended = '' AND NOT (${IS_HELD})`;
    case 'held':
      return IS_HELD;
    case 'failed':
      return "files.ended = 'unfinished' AND files.state <> 'Refunded'";
    case 'delivered':
      return "files.ended = 'delivered'";
    case 'overdue':
      return `files.ended = '' AND files.test = 0 AND coalesce(purchases.hold, '') = '' AND (${isOverdue(now)})`;
  }
}

/** As `isLate` of the report has it. */
const isOverdue = (now: number): string =>
  orderSkus
    .flatMap(({ sku, targetDays }) => {
      if (targetDays === undefined) return [];
      const due = new Date(now - targetDays * 86_400_000).toISOString();
      return `(',' || ${SKUS_NOW} || ',' LIKE '%,${sku},%' AND coalesce(files.upgraded_at, nullif(${ORDERED_AT}, '')) < '${due}')`;
    })
    .join(' OR ');

/** Speed: most tables ask nothing of the recordings. */
const fromFor = ({ words, sort }: FileQuery): string =>
  words.length || sort === 'title' || sort === 'minutes' ? `files ${WITH_AUDIO}` : 'files';

export class FileWindows extends Table {
  /**
   * The places of all files that match, in order: the windows of a table are cut out of it. As one text, and sorted
   * without the other columns: with those, the sorter would need a disk.
   */
  async places(query: FileQuery): Promise<number[]> {
    const { where, values } = this.#where(query);
    const { sort, isDescending } = query;
    const direction = isDescending ? 'DESC' : 'ASC';
    const keys = sortKeys[sort].map((key, at) => `${key} AS key${at}`);
    const order = [...[...keys.keys()].map((at) => `key${at} ${direction}`), `seq ${direction}`];
    const found = await this.db.get<{ places: string | null }>(
      `SELECT CAST(json_group_array(seq) AS TEXT) AS places FROM (
         SELECT seq FROM (
           SELECT files.seq, ${keys.join(', ')} FROM ${fromFor(query)} WHERE ${where} ${this.#once}) AS found
         ORDER BY ${order.join(', ')}) AS sorted`,
      ...values,
    );
    return JSON.parse(found?.places ?? '[]') as number[];
  }

  /** The files at these places, in the same order. */
  async rows(places: readonly number[]): Promise<FileRow[]> {
    const rows = await this.db.all<FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${FILES_AND_ORDERS}
       WHERE files.seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
      jsonList(places.map(String)),
    );
    const bySeq = new Map(rows.map((row) => [Number(row.seq), row]));
    return places.flatMap((seq) => bySeq.get(seq) ?? []);
  }

  /** How many files there are of each kind. */
  async counts(): Promise<Readonly<Record<FileKind, number>>> {
    const sums = fileKinds.map(
      (kind) => `sum(CASE WHEN ${conditionOf(kind, nowMs())} THEN 1 ELSE 0 END) AS ${kind}`,
    );
    const sql = `SELECT ${sums.join(', ')} FROM ${FILES_AND_ORDERS} WHERE files.profile = ?`;
    const row = await this.db.get<Record<FileKind, number | null>>(sql, this.profile);
    const counts = fileKinds.map((kind) => [kind, Number(row?.[kind] ?? 0)] as const);
    return Object.fromEntries(counts) as Record<FileKind, number>;
  }

  /** At the end of a query within another one: Postgres works out its expressions once. SQLite does so by itself. */
  get #once(): string {
    return this.db.isShared ? 'LIMIT 1000000000' : '';
  }

  #where({ words = [], states = [], order, kind }: Partial<FileQuery> = {}): Conditions {
    const all = new Conditions().add('files.profile = ?', this.profile);
    if (states.length) all.add(`${STATE} IN (SELECT value FROM json_each(?))`, jsonList(states));
    if (order !== undefined) all.add('files.order_id = ?', order);
    if (kind)
      all.add(
        `files.seq IN (SELECT files.seq FROM ${FILES_AND_ORDERS} WHERE files.profile = ? AND ${conditionOf(kind, nowMs())})`,
        this.profile,
      );
    for (const word of words)
      all.addWord(`(${COLUMNS})`, spellings(word), (like) => hasLabel('tag', like('label')));
    return all;
  }
}
