/** Who bought what, when, and what it cost: the purchases as people and reports read them. */

import { IN_TURN } from './billing.ts';
import { FILE_COLUMNS, FILES_AND_ORDERS, type FileRow } from './files.ts';
import type { PurchaseKind } from './purchase.ts';
import type { Verdict } from './purchase-table.ts';
import { PURCHASE_COLUMNS, type PurchaseRow, type ShownPurchase, shownPurchase } from './shown-purchase.ts';
import type { Value } from './stores/store.ts';
import { Conditions, groupBy, jsonList, rowsOf, Table } from './table.ts';

export interface LogEntry extends ShownPurchase {
  readonly test: boolean;
  readonly items: readonly LoggedItem[];
  readonly settlements: readonly Settlement[];
}

/** Amounts are in millionths, as text: they may have more digits than a number keeps. */
export interface LoggedItem {
  readonly url: string;
  readonly file: string;
  readonly title: string;
  readonly estimate: string | null;
  /** Of a refund below zero; of others less what came back without one. */
  readonly billed: string | null;
  readonly unpaid: string | null;
  readonly currency: string;
}

/** What somebody said of a purchase without a clear answer. */
export interface Settlement {
  readonly placed: boolean;
  readonly order: string;
  readonly at: string;
  readonly by: string;
  /** Where it was mistaken. */
  readonly undoneAt: string | null;
  readonly undoneBy: string | null;
}

export interface LogFilter {
  /** ISO 8601. */
  readonly since?: string | undefined;
  readonly file?: string | undefined;
  readonly order?: string | undefined;
}

/** What was bought for a file, oldest first. */
export interface BoughtRow extends Pick<FileRow, 'user' | 'host' | 'actor'> {
  readonly file: string;
  readonly kind: PurchaseKind;
  readonly status: string;
  readonly started_at: string;
  readonly turn: number;
  readonly skus: string;
  readonly total_before: string;
  readonly estimate: number | null;
  readonly currency: string;
}

const boughtColumns = [
  ...['file', 'kind', 'status', 'started_at', 'turn', 'skus', 'total_before', 'estimate', 'currency'],
  ...['user', 'host', 'actor'],
] as ReadonlyArray<keyof BoughtRow>;

const reportedColumns = [
  ...(['id', 'order_id', 'title', 'url', 'skus', 'state', 'ended', 'hold', 'test', 'ordered_at'] as const),
  ...(['changed_at', 'upgraded_at', 'duration', 'total', 'invoices', 'user', 'host', 'actor'] as const),
  ...(['audio_title', 'audio_feed', 'audio_guid', 'audio_source', 'audio_tags'] as const),
];

/** Files as a report takes them, and what was bought for each, by its id: in the order of the purchases. */
export interface ReportedFiles {
  readonly rows: ReadonlyArray<Pick<FileRow, (typeof reportedColumns)[number]>>;
  readonly bought: ReadonlyMap<string, readonly BoughtRow[]>;
}

interface LogRow extends PurchaseRow {
  readonly test: number;
}

interface SettlementRow extends Pick<Settlement, 'order' | 'at' | 'by'> {
  readonly purchase: string;
  readonly verdict: Verdict;
}

const PAGE_SIZE = 500;

const OWN = "own.profile = items.profile AND own.file = items.file AND own.file <> ''";
/** What came back without a refund of ours after the purchase is off its cost; else the refund has it. */
const OFF = `CASE WHEN purchases.kind = 'refund' OR EXISTS (
  SELECT 1 FROM purchase_items AS own CROSS JOIN purchases AS refunds ON refunds.id = own.purchase
  WHERE ${OWN} AND refunds.kind = 'refund' AND refunds.status = 'placed' AND refunds.test = 0
    AND (purchases.kind = 'order' OR own.turn >= items.turn)) THEN 0 ELSE items.refunded END`;

export class PurchaseLog extends Table {
  /** Newest first, one page in memory at a time. What was taken in with `track` was bought elsewhere. */
  async *entries(filter: LogFilter, limit: number): AsyncGenerator<LogEntry[]> {
    let last: readonly Value[] | undefined;
    for (let left = limit; left > 0; left -= PAGE_SIZE) {
      const size = Math.min(PAGE_SIZE, left);
      const rows = await this.#rows(filter, size, last);
      if (rows.length) yield await this.#entriesOf(rows);
      const end = rows.at(-1);
      if (!end || rows.length < size) return;
      last = [end.started_at, end.number];
    }
  }

  #rows(
    { since, file, order }: LogFilter,
    size: number,
    last: readonly Value[] | undefined,
  ): Promise<LogRow[]> {
    const asked = this.#asked(file, order);
    const all = new Conditions().add('profile = ?', this.profile).add('tracked = 0');
    if (since !== undefined) all.add('started_at >= ?', since);
    if (last) all.add('(started_at, number) < (?, ?)', ...last);
    return this.db.all<LogRow>(
      `SELECT ${PURCHASE_COLUMNS}, test
       FROM ${asked.from} WHERE ${all.where} ORDER BY started_at DESC, number DESC LIMIT ${size}`,
      ...[...asked.values, ...all.values],
    );
  }

  /** All purchases, or those of a file or an order: found by their index, where a search by time would read them all. */
  #asked(file: string | undefined, order: string | undefined): { from: string; values: Value[] } {
    const sets: string[] = [];
    const values: Value[] = [];
    if (file !== undefined) {
      sets.push(`SELECT purchase FROM purchase_items WHERE profile = ? AND file = ? AND file <> ''`);
      values.push(this.profile, file);
    }
    if (order !== undefined) {
      sets.push(`SELECT purchase FROM (
        SELECT id AS purchase FROM purchases WHERE profile = ? AND order_id = ? AND order_id <> ''
        UNION SELECT items.purchase FROM files CROSS JOIN purchase_items AS items
          ON items.profile = files.profile AND items.file = files.id AND items.file <> ''
        WHERE files.profile = ? AND files.order_id = ?) AS found`);
      values.push(this.profile, order, this.profile, order);
    }
    if (sets.length === 0) return { from: 'purchases', values };
    // INTERSECT and UNION leave each once.
    const ids = sets.length > 1 ? sets.join(' INTERSECT ') : `${sets[0]} GROUP BY purchase`;
    return { from: `(${ids}) AS asked CROSS JOIN purchases ON purchases.id = asked.purchase`, values };
  }

  async #entriesOf(rows: readonly LogRow[]): Promise<LogEntry[]> {
    const ids = jsonList(rows.map(({ id }) => id));
    const [items, settlements] = await Promise.all([
      this.db.all<LoggedItem & { purchase: string }>(
        `SELECT items.purchase, items.url, items.file, CAST(items.unpaid AS TEXT) AS unpaid,
           CAST(items.billed - ${OFF} AS TEXT) AS billed,
           CAST(CASE WHEN purchases.kind = 'refund' THEN nullif(0 - items.refunded, 0)
             ELSE items.estimate - ${OFF} END AS TEXT) AS estimate,
           CASE WHEN items.currency <> '' THEN items.currency
             ELSE coalesce((SELECT max(own.currency) FROM purchase_items AS own WHERE ${OWN}), '') END AS currency,
           coalesce(files.title, '') AS title
         FROM json_each(?) AS asked CROSS JOIN purchase_items AS items ON items.purchase = asked.value
         CROSS JOIN purchases ON purchases.id = items.purchase
         LEFT JOIN files ON files.profile = items.profile AND files.id = items.file
         WHERE items.url <> '' OR items.file <> ''
         ORDER BY items.purchase, items.position`,
        ids,
      ),
      this.db.all<SettlementRow>(
        `SELECT purchase, verdict, order_id AS "order", said_at AS at, said_by AS by
         FROM json_each(?) AS asked CROSS JOIN settlements ON settlements.purchase = asked.value
         ORDER BY said_at, settlements.id`,
        ids,
      ),
    ]);
    const itemsOf = groupBy(items, ({ purchase }) => purchase);
    const settlementsOf = groupBy(settlements, ({ purchase }) => purchase);
    return rows.map((row) => this.#entryOf(row, itemsOf.get(row.id) ?? [], settlementsOf.get(row.id) ?? []));
  }

  #entryOf(row: LogRow, items: readonly LoggedItem[], settlements: readonly SettlementRow[]): LogEntry {
    return {
      ...shownPurchase(row, this.db.isShared),
      test: row.test === 1,
      items,
      settlements: settlements.flatMap(({ verdict, order, at, by }, n) => {
        if (verdict === 'reopened') return [];
        const undone = settlements.slice(n).find((later) => later.verdict === 'reopened');
        const placed = verdict === 'placed';
        return [{ placed, order, at, by, undoneAt: undone?.at ?? null, undoneBy: undone?.by ?? null }];
      }),
    };
  }

  /** All files, oldest first, one page in memory at a time. */
  async *reported(): AsyncGenerator<ReportedFiles> {
    const files = `(SELECT ${FILE_COLUMNS} FROM ${FILES_AND_ORDERS} WHERE files.profile = ?) AS found WHERE TRUE`;
    for await (const page of this.filePages(reportedColumns, files, this.profile)) {
      const rows = rowsOf<ReportedFiles['rows'][number]>(reportedColumns, page);
      const bought = await this.#bought(rows.map(({ id }) => id));
      yield { rows, bought: groupBy(bought, ({ file }) => file) };
    }
  }

  async #bought(files: readonly string[]): Promise<BoughtRow[]> {
    const lists = await this.columns(
      boughtColumns,
      `SELECT items.file, purchases.kind, purchases.status, purchases.started_at, items.turn, purchases.skus,
         items.total_before, items.estimate, items.currency, purchases."user", purchases.host, purchases.actor
       FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       WHERE items.profile = ? AND items.file IN (SELECT value FROM json_each(?)) AND items.file <> ''
         AND purchases.test = 0 AND purchases.status <> 'refused'
       ORDER BY ${IN_TURN}`,
      ...[this.profile, jsonList(files)],
    );
    return rowsOf<BoughtRow>(boughtColumns, lists);
  }
}
