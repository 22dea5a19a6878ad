/** A file as the ledger gives it, with what is kept of its order. */

export interface FileRow {
  readonly seq: number;
  readonly id: string;
  /** The order that it belongs to, in this ledger; empty where none does. */
  readonly purchase: string;
  readonly order_id: string;
  readonly url: string;
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
  /** What the feed or the file of its audio says; see audio-details.ts. */
  readonly details: string;
}

/** SQL: the SKUs of a file, of its order and of its upgrades. */
export const SKUS_NOW = "nullif(trim(coalesce(purchases.skus, '') || ',' || files.upgrades, ','), '')";

/** SQL: what a `FileRow` is made of. */
export const FILE_COLUMNS = `files.seq, files.id, files.purchase, files.order_id, files.url, files.test, files.state, files.ended,
  files.title, files.duration, files.total, files.invoices, files.upgraded_at, files.ordered_at, files.changed_at,
  files.checked_at, files.heard_at,
  files.remark, files.hint, files.answer, files.key, files.details,
  ${SKUS_NOW} AS skus, purchases.names, purchases.notes, purchases.hold, purchases."user", purchases.host, purchases.job,
  purchases.actor`;

export const FILES_AND_ORDERS = 'files LEFT JOIN purchases ON purchases.id = files.purchase';
