/** The files of the orders: what is known of each, and which are open, that is, may still change. */
import { findFileState } from '../catalog/states.ts';
import { feedMark } from '../lib/names.ts';
import { isUrl } from '../lib/url.ts';
import { renewInvoices, totalOf, updateBills } from './billing.ts';
import {
  AUDIO_COLUMNS,
  audioOfFile,
  correctPairings,
  hasLabel,
  INSERT_LABEL,
  WITH_AUDIO,
} from './pairing.ts';
import type { AudioRow } from './purchase.ts';
import type { Statement, Store } from './stores/store.ts';
import { Conditions, jsonList, Table } from './table.ts';

/** A file as the ledger gives it, with what is kept of its order. */
export interface FileRow extends AudioRow {
  readonly seq: number;
  readonly id: string;
  /** The order that it belongs to, in this ledger; empty where none does. */
  readonly purchase: string;
  readonly order_id: string;
  /** Of its recording; where nobody knows which that is, the link that the service names. */
  readonly url: string;
  /** 1: the service has not said which recording of its order it is of, so that these follow the order's own sequence. */
  readonly assumed: number;
  readonly test: number;
  readonly state: string;
  readonly ended: '' | 'delivered' | 'unfinished';
  readonly title: string;
  /** In minutes, and in dollars, as the service says it; empty where it does not. */
  readonly duration: string;
  readonly total: string;
  readonly invoices: string;
  /** Since when its present SKUs are on order. */
  readonly upgraded_at: string | null;
  /** Empty where nobody knows: the file was ordered elsewhere. */
  readonly ordered_at: string;
  readonly changed_at: string | null;
  readonly checked_at: string | null;
  readonly heard_at: string | null;
  readonly remark: string;
  /** What an event said of it since the service was asked; empty: nothing. */
  readonly hint: string;
  readonly answer: string | null;
  /** Those that it has now: of its order, then of its upgrades. */
  readonly skus: string | null;
  readonly names: string | null;
  readonly notes: string | null;
  readonly hold: string | null;
  /** Who ordered it; null or empty where it was not ordered with this ledger. */
  readonly user: string | null;
  readonly host: string | null;
  readonly job: string | null;
  readonly actor: string | null;
  /** What tells its audio from others in place of the URL; empty where the URL does. */
  readonly key: string;
}

/** SQL: the SKUs of a file, of its order and of its upgrades. */
export const SKUS_NOW = "nullif(trim(coalesce(purchases.skus, '') || ',' || files.upgrades, ','), '')";

/** SQL: the column itself is when a tracked file was added, by which lists sort and filter. */
export const ORDERED_AT = "CASE WHEN purchases.tracked = 1 THEN '' ELSE files.ordered_at END";

/** SQL: what a `FileRow` is made of. */
export const FILE_COLUMNS = `files.seq, files.id, files.purchase, files.order_id,
  coalesce(nullif(audios.url, ''), files.link) AS url, CASE WHEN own.known = 0 AND own.audio IS NOT NULL THEN 1 ELSE 0 END AS assumed, files.test, files.state, files.ended,
  files.title, files.duration, files.total, files.invoices, files.upgraded_at, ${ORDERED_AT} AS ordered_at, files.changed_at,
  files.checked_at, files.heard_at,
  files.remark, files.hint, files.answer, coalesce(audios.key, '') AS key, ${AUDIO_COLUMNS},
  ${SKUS_NOW} AS skus, purchases.names, purchases.notes, purchases.hold, purchases."user", purchases.host, purchases.job,
  purchases.actor`;

export const FILES_AND_ORDERS = `files LEFT JOIN purchases ON purchases.id = files.purchase ${WITH_AUDIO}`;

export interface FileFilter {
  readonly states?: readonly string[];
  readonly order?: string | undefined;
  readonly key?: string | undefined;
  readonly tag?: string | undefined;
  /** The title of a feed, or its address. */
  readonly feed?: string | undefined;
  /** ISO 8601: ordered, or added with `track`, at this time or later. */
  readonly since?: string | undefined;
  /** None where this ledger has no budget, which nothing else has to be asked for. */
  readonly onlyUnderBudget?: boolean;
}

/** What the service said of a file. */
export interface ServiceAnswer {
  readonly id: string;
  readonly state: string;
  readonly title: string;
  readonly duration: string;
  readonly total: string;
  readonly invoices: readonly string[];
  /** The audio that it was made of; empty where the service does not say. */
  readonly link: string;
  readonly answer: string;
  /** When it was asked (ISO 8601): an event that came since then is news. */
  readonly askedAt: string;
}

/** What is known of a file that an event names. */
export interface KnownFile extends AudioRow {
  readonly title: string;
  readonly key: string;
  /** The event that was made in place of the file's delivery, as long as that has not come. */
  readonly found: number | null;
}

/** Which transcripts that a folder had are looked for on the disk. */
export interface LookedFor {
  readonly isGone: (path: string) => boolean;
  /** Those of files that were ordered or changed since then (ISO 8601; empty: all); absent: none of them. */
  readonly since?: string | undefined;
  /** Those that wait for the command of `sync --exec`; `only`: no others. */
  readonly waiting?: 'only' | 'too' | undefined;
}

/** How long an upgraded file that was delivered waits to be seen in another state. */
const REWORK_LIMIT_MS = 30 * 86_400_000;

/** A service that has not said by then what a file costs that has ended is not asked again. */
const BILLED_WITHIN_MS = 30 * 86_400_000;

/** SQL: a transcript was written before its file was upgraded. */
export const IS_OUTDATED = `EXISTS (SELECT 1 FROM files
  WHERE files.profile = downloads.profile AND files.id = downloads.file AND files.upgraded_at > downloads.at)`;
/** SQL: it is the transcript that was delivered last. */
export const IS_FINAL = `(downloads.draft = 0 AND NOT ${IS_OUTDATED})`;

/** An event named the file since the service was last asked about it; as in the index. */
export const hasNews = "heard_at >= coalesce(checked_at, '')";

/** A file before the service was asked. */
interface SeenBefore {
  readonly id: string;
  readonly purchase: string;
  readonly link: string;
  /** Which recording it was made of. */
  readonly known: number;
  readonly state: string;
  readonly total: string;
  readonly invoices: string;
  readonly hold: string | null;
}

/** The order of a file, if it was on hold and a known state says that there is work again. */
function resumedOrder(before: SeenBefore | undefined, said: string): string[] {
  const state = findFileState(said);
  return before && before.hold !== null && state && !state.held ? [before.purchase] : [];
}

/** An invoice of the file may have changed, though it was paid: its total is another, or its money came back. */
const isBilledAnew = ({ state, total }: ServiceAnswer, before: SeenBefore | undefined): boolean =>
  before !== undefined &&
  ((isReturned(state) && !isReturned(before.state)) ||
    (total !== before.total && totalOf(before.total) !== undefined));

/** Money may have come back for a file in this state. */
const isReturned = (state: string): boolean => {
  const { name } = findFileState(state) ?? {};
  return name === 'Refunded' || name === 'Order Cancelled';
};

export class Files extends Table {
  get(id: string): Promise<FileRow | undefined> {
    return this.db.get<FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${FILES_AND_ORDERS} WHERE files.profile = ? AND files.id = ?`,
      this.profile,
      id,
    );
  }

  /** Those of these files that are in the ledger, by id. */
  async getAll(ids: readonly string[]): Promise<ReadonlyMap<string, FileRow>> {
    const rows = await this.db.all<FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${FILES_AND_ORDERS}
       WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?))`,
      this.profile,
      jsonList(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** A page of files, newest first, older than the one at `before`. */
  page(filter: FileFilter, size: number, before = Number.MAX_SAFE_INTEGER): Promise<FileRow[]> {
    const { where, values } = this.#where(filter);
    return this.db.all<FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${FILES_AND_ORDERS} WHERE ${where} AND files.seq < ? ORDER BY files.seq DESC LIMIT ?`,
      ...values,
      before,
      size,
    );
  }

  async count(filter: FileFilter): Promise<number> {
    const { where, values } = this.#where(filter);
    const row = await this.db.get<{ n: number }>(`SELECT count(*) AS n FROM files WHERE ${where}`, ...values);
    return row?.n ?? 0;
  }

  async ofOrder(order: string): Promise<FileRow[]> {
    return (await this.page({ order }, 100_000)).reverse();
  }

  /** Whether the ledger has the order, with or without files. */
  async hasOrder(order: string): Promise<boolean> {
    const sql =
      "SELECT 1 FROM purchases WHERE profile = ? AND order_id = ? AND kind = 'order' AND status <> 'refused'";
    return (await this.db.get(sql, this.profile, order)) !== undefined;
  }

  /** Ids of the files that may still change, oldest first; test orders are never transcribed. */
  open(filter: FileFilter = {}): Promise<string[]> {
    const { where, values } = this.#where(filter);
    return this.fileIds(`${where} AND ended = '' AND test = 0`, ...values);
  }

  /** Open files that the service was not asked about since then: how many, and when the first of them was asked about. */
  async uncheckedSince(time: string, filter: FileFilter): Promise<{ count: number; oldest: string | null }> {
    const { where, values } = this.#where(filter);
    const row = await this.db.get<{ n: number; oldest: string | null }>(
      `SELECT count(*) AS n, min(coalesce(checked_at, ordered_at)) AS oldest FROM files
        WHERE ${where} AND ended = '' AND test = 0 AND coalesce(checked_at, '') < ?`,
      ...values,
      time,
    );
    return { count: row?.n ?? 0, oldest: row?.oldest ?? null };
  }

  /**
   * The same, then those that have ended and that an event named since, or that were refunded before their cost was known:
   * the service may say something else now.
   */
  async toRefresh(filter: FileFilter = {}): Promise<string[]> {
    const { where, values } = this.#where(filter);
    const wantsRefunded = !filter.states?.length || filter.states.includes('Refunded');
    const lists = await Promise.all([
      this.open(filter),
      this.ids(
        `SELECT id FROM files WHERE ${where} AND ${hasNews} AND ended <> '' AND test = 0 ORDER BY heard_at`,
        ...values,
      ),
      wantsRefunded ? this.unbilled({ ...filter, states: ['Refunded'] }) : [],
    ]);
    return [...new Set(lists.flat())];
  }

  /** Files that were delivered or refunded lately, and of which the service has not said yet what they cost. */
  unbilled(filter: FileFilter = { states: ['Delivered', 'Refunded'] }): Promise<string[]> {
    const { where, values } = this.#where(filter);
    const since = new Date(Date.parse(this.timestamp()) - BILLED_WITHIN_MS).toISOString();
    // What was known before a refund may not name every invoice.
    return this.ids(
      `SELECT id FROM files WHERE ${where} AND ended <> '' AND test = 0 AND changed_at >= ?
         AND ((state = 'Refunded' AND invoices = '') OR EXISTS (SELECT 1 FROM purchase_items AS items
           WHERE items.profile = files.profile AND items.file = files.id AND items.file <> '' AND items.billed IS NULL))
       ORDER BY seq`,
      ...[...values, since],
    );
  }

  /** Whether the service has said that the file is delivered; an event does not count. */
  async isDelivered(id: string): Promise<boolean> {
    const sql = "SELECT 1 FROM files WHERE profile = ? AND id = ? AND ended = 'delivered'";
    return (await this.db.get(sql, this.profile, id)) !== undefined;
  }

  /**
   * Those of these files that were delivered, then upgraded, and not seen in another state since: 'Delivered' is not
   * their end yet.
   */
  async awaitingRework(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const limit = new Date(Date.parse(this.timestamp()) - REWORK_LIMIT_MS).toISOString();
    return new Set(
      await this.ids(
        `SELECT id FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?)) AND reworked = 0
         AND upgraded_at > ?`,
        this.profile,
        jsonList(ids),
        limit,
      ),
    );
  }

  /**
   * Ids of delivered files of which this folder has at most a draft or an outdated copy in this format, oldest first; with
   * `lookedFor` also those whose copy is gone.
   */
  async notDownloaded(ext: string, folder: string, lookedFor?: LookedFor): Promise<string[]> {
    const { isGone = () => false, waiting } = lookedFor ?? {};
    const since = waiting === 'only' ? undefined : lookedFor?.since;
    const found: string[] = [];
    const isWaiting = waiting && 'handed_over = 1';
    const isLate = since && 'ordered_at >= ? OR changed_at >= ?';
    const wanted = [waiting === 'only' ? '' : 'path IS NULL', isWaiting, isLate].filter(Boolean).join(' OR ');
    const pages = this.filePages<[ids: string[], paths: Array<string | null>]>(
      ['id', 'path'],
      `files LEFT JOIN downloads ON downloads.profile = files.profile
         AND downloads.file = files.id AND ext = ? AND folder = ? AND draft = 0 AND downloads.at >= coalesce(upgraded_at, '')
       WHERE files.profile = ? AND ended = 'delivered' AND test = 0 AND (${since === '' ? 'TRUE' : wanted})`,
      ...[ext, folder, this.profile, ...(since ? [since, since] : [])],
    );
    for await (const [ids, paths] of pages)
      for (const [at, path] of paths.entries())
        if (path === null || isGone(path)) found.push(ids[at] as string);
    return found;
  }

  /** Those of these files that are in the ledger. */
  async known(ids: readonly string[]): Promise<ReadonlyMap<string, KnownFile>> {
    const rows = await this.db.all<KnownFile & { id: string }>(
      `SELECT files.id, files.title, coalesce(audios.key, '') AS key, ${AUDIO_COLUMNS}, files.found
       FROM files ${WITH_AUDIO} WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?))`,
      this.profile,
      jsonList(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Adds tags to the recordings of files that have not all of them, by the ids of the files. */
  addTags(tagged: ReadonlyMap<string, readonly string[]>): Promise<void> {
    return this.db.transaction(async (db) => {
      const rows = await db.all<{ id: string; purchase: string; position: number; tags: number }>(
        `SELECT files.id, audios.purchase, audios.position, (SELECT count(*) FROM labels
           WHERE labels.purchase = audios.purchase AND labels.position = audios.position) AS tags
         FROM files ${WITH_AUDIO}
         WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?)) AND audios.purchase IS NOT NULL`,
        ...[this.profile, jsonList([...tagged.keys()])],
      );
      const labels = rows.flatMap(({ id, purchase, position, tags }) =>
        (tagged.get(id) ?? []).map((tag, n) => ({
          sql: INSERT_LABEL,
          values: [this.profile, 'tag', this.hide(tag), purchase, position, Number(tags) + n],
        })),
      );
      await db.batch(labels);
    });
  }

  /** Those of these files that have ended, or that an event named since the service was last asked about them. */
  withNews(ids: readonly string[]): Promise<string[]> {
    return this.ids(
      `SELECT id FROM files WHERE profile = ? AND id IN (SELECT value FROM json_each(?))
       AND (ended <> '' OR ${hasNews})`,
      this.profile,
      jsonList(ids),
    );
  }

  /** Keeps what the service said of a file that was ordered here; gives the state before, if it was another. */
  async update(seen: ServiceAnswer): Promise<string | undefined> {
    return (await this.updateMany([seen]))[0];
  }

  /** The same for many, in one transaction: nothing waits for each of them. */
  updateMany(seen: readonly ServiceAnswer[]): Promise<ReadonlyArray<string | undefined>> {
    return this.db.transaction(async (db) => {
      const rows = await db.batch<SeenBefore>([this.#before(seen), ...this.#keeping(seen)]);
      const before = new Map(rows?.map((row) => [row.id, row]));
      const linked = seen.flatMap(({ id, link: said }) => {
        const [file, link] = [before.get(id), this.hide(said)];
        const isNews = file && (Number(file.known) === 0 || file.link !== link);
        return isNews ? [{ id, purchase: file.purchase, link }] : [];
      });
      const moved = await correctPairings(db, this.profile, linked);
      const resumed = seen.flatMap(({ id, state }) => resumedOrder(before.get(id), state));
      if (resumed.length) await this.#endHolds(db, resumed);
      const billed = seen.filter((each) => this.#tellsCost(each, before.get(each.id))).map(({ id }) => id);
      const rebilled = seen.filter((each) => isBilledAnew(each, before.get(each.id))).map(({ id }) => id);
      await renewInvoices(db, this.profile, rebilled);
      if (billed.length || moved.length) await updateBills(db, this.profile, [...billed, ...moved]);
      return seen.map(({ id, state }) => {
        const previous = before.get(id)?.state;
        return previous === this.#stateName(state) ? undefined : previous;
      });
    });
  }

  /** Whether an answer says something new about what the file costs. */
  #tellsCost({ state, total, invoices }: ServiceAnswer, before: SeenBefore | undefined): boolean {
    if (!before) return false;
    const named = invoices.join(',');
    return (
      total !== before.total ||
      (named !== '' && named !== before.invoices) ||
      this.#stateName(state) !== before.state
    );
  }

  #before(seen: readonly ServiceAnswer[]): Statement {
    return {
      sql: `SELECT files.id, files.purchase, files.link, coalesce(own.known, 0) AS known, files.state, files.total,
          files.invoices, purchases.hold
        FROM ${FILES_AND_ORDERS}
        WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?))`,
      values: [this.profile, jsonList(seen.map(({ id }) => id))],
      isResult: true,
    };
  }

  /** In the order of their ids, so that no two processes wait for each other. */
  #keeping(seen: readonly ServiceAnswer[]): Statement[] {
    const now = this.timestamp();
    const sorted = [...seen].sort((one, other) => (one.id < other.id ? -1 : 1));
    return sorted.map(({ id, state: said, title, duration, total, invoices, link, answer, askedAt }) => {
      const state = this.#stateName(said);
      const { end = '' } = findFileState(said) ?? {};
      const asked = this.byItsClock(askedAt);
      const reworkLimit = new Date(Date.parse(asked) - REWORK_LIMIT_MS).toISOString();
      return {
        // After an upgrade, the state of the delivery before it is not its end yet.
        sql: `UPDATE files SET state = ?,
            ended = CASE WHEN ? = 'delivered' AND reworked = 0 AND upgraded_at > ? THEN '' ELSE ? END,
            reworked = CASE WHEN ? <> 'delivered' AND upgraded_at <= ? THEN 1 ELSE reworked END, title = ?, duration = ?, total = ?, invoices = coalesce(nullif(?, ''), invoices),
            link = coalesce(nullif(?, ''), link), answer = ?,
            checked_at = ?, polled_at = ?, due_since = CASE WHEN due_since = '' OR due_since > ? THEN due_since ELSE ? END,
            hint = CASE WHEN heard_at >= ? THEN hint ELSE '' END,
            changed_at = CASE WHEN state <> ? THEN ? ELSE changed_at END
          WHERE profile = ? AND id = ?`,
        values: [
          ...[
            state,
            end,
            reworkLimit,
            end,
            end,
            asked,
            this.hide(title),
            this.hide(duration),
            this.hide(total),
          ],
          ...[invoices.join(','), this.hide(link), this.hide(answer)],
          ...[asked, asked, asked, asked, asked, state, now, this.profile, id],
        ],
      };
    });
  }

  #stateName(said: string): string {
    return findFileState(said)?.name ?? this.hide(said);
  }

  /** Work on one of its files means that an order is not on hold any more, whoever said that it was. */
  #endHolds(db: Store, purchases: readonly string[]): Promise<number> {
    return db.run(
      'UPDATE purchases SET hold = NULL WHERE id IN (SELECT value FROM json_each(?))',
      jsonList(purchases),
    );
  }

  /** Ids of all invoices that files name, of the newest files first. */
  async invoices(onlyUnderBudget = false): Promise<string[]> {
    return [...(await this.invoiceFiles(onlyUnderBudget)).keys()];
  }

  /** The same, with the files that name each. */
  async invoiceFiles(onlyUnderBudget = false): Promise<Map<string, string[]>> {
    const { where, values } = this.#where({ onlyUnderBudget });
    const rows = await this.db.all<{ id: string; invoices: string }>(
      `SELECT id, invoices FROM files WHERE ${where} AND invoices <> '' ORDER BY seq DESC`,
      ...values,
    );
    const files = new Map<string, string[]>();
    for (const { id, invoices } of rows)
      for (const invoice of invoices.split(',')) {
        const naming = files.get(invoice);
        if (naming) naming.push(id);
        else files.set(invoice, [id]);
      }
    return files;
  }

  /** All states that files are in. From one to the next by the index: DISTINCT would go through all files. */
  async states(): Promise<string[]> {
    const rows = await this.db.all<{ state: string }>(
      `WITH RECURSIVE found (state) AS (
         SELECT min(state) FROM files WHERE profile = ?
         UNION ALL
         SELECT (SELECT min(files.state) FROM files WHERE files.profile = ? AND files.state > found.state)
         FROM found WHERE found.state IS NOT NULL)
       SELECT state FROM found WHERE state IS NOT NULL`,
      this.profile,
      this.profile,
    );
    return rows.map(({ state }) => state);
  }

  #where({ states = [], key, since, onlyUnderBudget = false, ...filter }: FileFilter): Conditions {
    // As the profile itself, so that nothing is read where there is no budget.
    const profile = onlyUnderBudget
      ? '(SELECT profile FROM budgets WHERE profile = ? AND budget IS NOT NULL)'
      : '?';
    const all = new Conditions().add(`files.profile = ${profile}`, this.profile);
    if (states.length) all.add(`files.state IN (${states.map(() => '?').join(', ')})`, ...states);
    if (key !== undefined) all.add(`EXISTS ${audioOfFile('1', 'AND audios.key = ?')}`, this.hide(key));
    addFileConditions(all, filter, this.hide);
    if (since !== undefined) all.add('files.ordered_at >= ?', since);
    return all;
  }
}

/** Of the order, tag and feed of a file. */
export function addFileConditions(
  all: Conditions,
  { order, tag, feed }: Pick<FileFilter, 'order' | 'tag' | 'feed'>,
  hide: (text: string) => string,
): void {
  if (order !== undefined) all.add('files.order_id = ?', order);
  if (tag !== undefined)
    all.add(`EXISTS ${audioOfFile('1', `AND ${hasLabel('tag', 'label = ?')}`)}`, hide(tag));
  if (feed !== undefined)
    all.add(
      `EXISTS ${audioOfFile('1', `AND (audios.feed = ? OR ${hasLabel('feed', 'label = ?')})`)}`,
      ...[hide(feed), isUrl(feed) ? feedMark(feed) : ''],
    );
}
