/** Files as a table shows them: filtered by words, sorted, grouped, and read in windows, so that 100,000 are no trouble. */
import { FILE_COLUMNS, FILES_AND_ORDERS, type FileRow } from './files.ts';
import { Conditions, jsonList, spellings, Table } from './table.ts';

export const fileSorts = ['ordered_at', 'title', 'state', 'minutes', 'total', 'audiofile'] as const;
export type FileSort = (typeof fileSorts)[number];

export const fileGroupings = ['order', 'feed', 'tag'] as const;
export type FileGrouping = (typeof fileGroupings)[number];

export interface FileQuery {
  /** Each must be in the title, id, order, key, a tag, the feed, the state or the URL. */
  readonly words: readonly string[];
  /** Empty: all of them. `ordered` is a file that the service was not asked about. */
  readonly states: readonly string[];
  readonly order: string | undefined;
  readonly sort: FileSort;
  readonly isDescending: boolean;
  readonly group: FileGrouping | undefined;
}

export interface FileGroup {
  /** Of tags, those of each of its files, as JSON. Empty: files that have none. */
  readonly name: string;
  readonly count: number;
}

/** SQL: one value of what the feed or the file of the audio says; null where there is none. */
const detail = (name: string): string =>
  `CASE WHEN json_valid(files.details) THEN json_extract(files.details, '$.${name}') END`;

const STATE = "coalesce(nullif(files.state, ''), 'ordered')";
/** As `audioTitle` has it. */
const TITLE = `CASE WHEN files.details LIKE '%"feed":"%' OR files.details LIKE '%"guid":"%'
  THEN coalesce(nullif(${detail('title')}, ''), files.title)
  ELSE coalesce(nullif(files.title, ''), ${detail('title')}, '') END`;
const MINUTES = `CASE WHEN files.duration <> '' THEN CAST(files.duration AS REAL)
  ELSE coalesce(CAST(${detail('seconds')} AS REAL) / 60, 0) END`;

const joined = (parts: readonly string[]): string => parts.join(" || '\n' || ");
/** What words are looked for in; a line break between them, so that no word is found across two. */
const COLUMNS = joined(['files.id', 'files.order_id', 'files.key', STATE, 'files.title', 'files.url']);
const DETAILS = joined(['title', 'feed', 'tags'].map((name) => `coalesce(${detail(name)}, '')`));

const sortKeys: Readonly<Record<FileSort, readonly string[]>> = {
  ordered_at: ['files.ordered_at'],
  title: [`lower(${TITLE})`],
  state: [STATE],
  minutes: [MINUTES],
  total: ['CAST(files.total AS REAL)'],
  audiofile: ['length(files.id)', 'files.id'],
};

const groupKeys: Readonly<Record<FileGrouping, string>> = {
  order: 'files.order_id',
  feed: `coalesce(${detail('feed')}, '')`,
  tag: `coalesce(${detail('tags')}, '')`,
};

export class FileWindows extends Table {
  /**
   * The places of all files that match, in order: the windows of a table are cut out of it. As one text, and sorted
   * without the other columns: with those, the sorter would need a disk.
   */
  async places(query: FileQuery): Promise<number[]> {
    const { where, values } = this.#where(query);
    const { sort, group, isDescending } = query;
    const direction = isDescending ? 'DESC' : 'ASC';
    const keys = sortKeys[sort].map((key, at) => `${key} AS key${at}`);
    const order = [
      ...(group ? [groupOrders[group]('max(seq) OVER (PARTITION BY name)')] : []),
      ...[...keys.keys()].map((at) => `key${at} ${direction}`),
      `seq ${direction}`,
    ];
    const found = await this.db.get<{ places: string | null }>(
      `SELECT CAST(json_group_array(seq) AS TEXT) AS places FROM (
         SELECT seq FROM (
           SELECT files.seq, ${group ? groupKeys[group] : "''"} AS name, ${keys.join(', ')}
           FROM files WHERE ${where} ${this.#once}) AS found
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

  /** In the order of their rows. */
  groups(query: FileQuery & { readonly group: FileGrouping }): Promise<FileGroup[]> {
    const { where, values } = this.#where(query);
    return this.db.all<FileGroup>(
      `SELECT name, count(*) AS count
       FROM (SELECT files.seq, ${groupKeys[query.group]} AS name FROM files WHERE ${where} ${this.#once}) AS found
       GROUP BY name ORDER BY ${groupOrders[query.group]('max(seq)')}`,
      ...values,
    );
  }

  /** At the end of a query within another one: Postgres works out its expressions once. SQLite does so by itself. */
  get #once(): string {
    return this.db.isShared ? 'LIMIT 1000000000' : '';
  }

  #where({ words = [], states = [], order }: Partial<FileQuery> = {}): Conditions {
    const all = new Conditions().add('files.profile = ?', this.profile);
    if (states.length) all.add(`${STATE} IN (SELECT value FROM json_each(?))`, jsonList(states));
    if (order !== undefined) all.add('files.order_id = ?', order);
    for (const word of words) {
      const forms = spellings(word);
      // Speed: details are read as JSON only where the word is in their text.
      if (!/["\\]/.test(word)) all.addWord(joined([COLUMNS, 'files.details']), forms);
      all.addWord(`(${COLUMNS})`, forms, `(${DETAILS})`);
    }
    return all;
  }
}

const byName = (): string => "name = '', lower(name), name";

/** An id says nothing: of orders, the newest comes first. */
const groupOrders: Readonly<Record<FileGrouping, (newest: string) => string>> = {
  order: (newest) => `${newest} DESC, name`,
  feed: byName,
  tag: byName,
};
