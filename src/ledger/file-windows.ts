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
const TITLE = `CASE WHEN ${detail('feed')} IS NOT NULL OR ${detail('guid')} IS NOT NULL
  THEN coalesce(nullif(${detail('title')}, ''), files.title)
  ELSE coalesce(nullif(files.title, ''), ${detail('title')}, '') END`;
const MINUTES = `CASE WHEN files.duration <> '' THEN CAST(files.duration AS REAL)
  ELSE coalesce(CAST(${detail('seconds')} AS REAL) / 60, 0) END`;

/** What words are looked for in; a line break between them, so that no word is found across two. */
const SEARCHED = `lower(${[
  ...['files.id', 'files.order_id', 'files.key', STATE, 'files.title', 'files.url'],
  ...['title', 'feed', 'tags'].map((name) => `coalesce(${detail(name)}, '')`),
].join(" || '\n' || ")})`;

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
  async count(query?: FileQuery): Promise<number> {
    const { where, values } = this.#where(query);
    const row = await this.db.get<{ n: number }>(`SELECT count(*) AS n FROM files WHERE ${where}`, ...values);
    return row?.n ?? 0;
  }

  /** Sorted by what is sorted by alone: with all columns of 100,000 files the sorter would need a disk. */
  async rows(query: FileQuery, offset: number, limit: number): Promise<FileRow[]> {
    const { where, values } = this.#where(query);
    const found = await this.db.all<{ seq: number }>(
      `SELECT files.seq FROM files WHERE ${where} ORDER BY ${orderOf(query)} LIMIT ? OFFSET ?`,
      ...[...values, limit, offset],
    );
    const rows = await this.db.all<FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${FILES_AND_ORDERS}
       WHERE files.seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
      jsonList(found.map(({ seq }) => String(seq))),
    );
    const bySeq = new Map(rows.map((row) => [Number(row.seq), row]));
    return found.flatMap(({ seq }) => bySeq.get(Number(seq)) ?? []);
  }

  /** In the order of their rows. */
  groups(query: FileQuery & { readonly group: FileGrouping }): Promise<FileGroup[]> {
    const { where, values } = this.#where(query);
    return this.db.all<FileGroup>(
      `SELECT name, count(*) AS count
       FROM (SELECT files.seq, ${groupKeys[query.group]} AS name FROM files WHERE ${where}) AS found
       GROUP BY name ORDER BY ${groupOrders[query.group]('name', 'max(seq)')}`,
      ...values,
    );
  }

  #where({ words = [], states = [] }: Partial<FileQuery> = {}): Conditions {
    const all = new Conditions().add('files.profile = ?', this.profile);
    if (states.length) all.add(`${STATE} IN (SELECT value FROM json_each(?))`, jsonList(states));
    for (const word of words) all.addWord(SEARCHED, spellings(word));
    return all;
  }
}

type GroupOrder = (name: string, newest: string) => string;
const byName: GroupOrder = (name) => `${name} = '', lower(${name}), ${name}`;

/** An id says nothing: of orders, the newest comes first. */
const groupOrders: Readonly<Record<FileGrouping, GroupOrder>> = {
  order: (name, newest) => `${newest} DESC, ${name}`,
  feed: byName,
  tag: byName,
};

function orderOf({ sort, isDescending, group }: FileQuery): string {
  const direction = isDescending ? 'DESC' : 'ASC';
  const key = group && groupKeys[group];
  const newest = `max(files.seq) OVER (PARTITION BY ${key})`;
  return [
    ...(group && key ? [groupOrders[group](key, newest)] : []),
    ...sortKeys[sort].map((each) => `${each} ${direction}`),
    `files.seq ${direction}`,
  ].join(', ');
}
