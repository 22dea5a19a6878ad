/** What the server sends, as far as this page reads it: the documents of `--json`. */

/** A number, or its digits where a number would round them. */
export type Amount = number | string | null;

export interface About {
  readonly version: string;
  readonly profile: string;
  readonly sandbox: boolean;
  readonly ledger: 'local' | 'shared';
  /** How a copied command line begins: `steno --sandbox`. */
  readonly command: string;
  readonly formats: readonly string[];
}

export interface FileDocument {
  readonly audiofile: string;
  readonly state: string | null;
  readonly title: string | null;
  readonly minutes: Amount;
  readonly total: Amount;
  readonly currency: string | null;
  readonly order: string | null;
  readonly ordered_at: string | null;
  readonly changed_at: string | null;
  readonly checked_at: string | null;
  readonly published_at: string | null;
  readonly url: string | null;
  readonly link: string | null;
  readonly key: string | null;
  readonly guid: string | null;
  readonly source: string | null;
  readonly feed: string | null;
  readonly tags: readonly string[];
  readonly skus: readonly string[];
  readonly names: readonly string[];
  readonly invoices: readonly string[];
  readonly hold: string | null;
  readonly notes: string | null;
  readonly remark: string | null;
  readonly test: boolean;
  readonly ended: 'delivered' | 'unfinished' | null;
  readonly by: Readonly<Record<'user' | 'host' | 'job' | 'actor', string | null>> | null;
  readonly downloads: readonly { readonly format: string; readonly path: string }[];
  readonly late?: boolean;
}

export interface Group {
  readonly name: string;
  readonly count: number;
  readonly offset: number;
}

export interface FileWindow {
  readonly total: number;
  readonly all: number;
  readonly rows: readonly FileDocument[];
  readonly groups?: readonly Group[];
}

export interface HistoryEntry {
  readonly at: string;
  readonly what: string;
  readonly by?: string | null;
  readonly text?: string | null;
  readonly event?: number | null;
}

export interface Transcript {
  readonly format: string;
  readonly path: string;
  readonly bytes: number;
  readonly at: string | null;
  readonly here: boolean;
}

export interface FilePage {
  readonly file: FileDocument;
  readonly history: readonly HistoryEntry[];
  readonly transcripts: readonly Transcript[];
  readonly playable: string | null;
}

export interface Segment {
  readonly line: number;
  /** In seconds. */
  readonly start?: number | null;
  readonly end?: number | null;
  readonly speaker?: string | null;
  readonly text: string;
}

export interface Finding {
  readonly start?: number | null;
  readonly line?: number | null;
  readonly rule: string;
  readonly severity?: string;
  readonly message?: string | null;
  readonly text?: string | null;
}

export interface Hit extends Segment {
  readonly audiofile: string | null;
  readonly title: string | null;
  readonly path: string;
}

export interface EventDocument {
  readonly n: number | null;
  readonly source: 'received' | 'found';
  readonly received_at: string;
  readonly event: string;
  readonly audiofile: string | null;
  readonly order: string | null;
  readonly title: string | null;
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
}

export interface Action {
  readonly kind: string;
  readonly target: string;
  readonly status: string;
  readonly tries: number;
  readonly outcome: string;
  readonly updated_at: string | null;
  readonly next_try_at: string | null;
}

export interface ShownEvent extends EventDocument {
  readonly duplicate: number | null;
  readonly remote: string;
  readonly content_type: string;
  readonly body: string;
  readonly actions: readonly Action[];
  readonly curl: string;
}

export interface SpendRow {
  readonly currency: string | null;
  readonly spent: Amount;
  readonly refunded: Amount;
  readonly unpaid: Amount;
  readonly estimated: Amount;
  readonly unbilled: number;
  readonly minutes: Amount;
  readonly files: number;
  readonly [grouping: string]: unknown;
}

export interface Waiting {
  readonly kind: 'open' | 'held' | 'unclear';
  readonly audiofile: string | null;
  readonly attempt: number | null;
  readonly title: string | null;
  readonly order: string | null;
  readonly state: string | null;
  readonly ordered_at: string | null;
  readonly due_at: string | null;
  readonly late_seconds: number | null;
  readonly url: string | null;
}

export interface Turnaround {
  readonly sku: string | null;
  readonly target_days: number | null;
  readonly delivered: number;
  readonly on_time: number;
  readonly late: number;
  readonly median_seconds: number | null;
  readonly slowest_seconds: number | null;
}

export interface Budget {
  readonly budget: string;
  readonly source: string;
  readonly until: string;
  readonly billed: Amount;
  readonly estimated: Amount;
  readonly left: Amount;
  readonly limit: Amount;
  readonly unknown: number;
  readonly currency: string | null;
}

export interface Invoice {
  readonly invoice: string;
  readonly state: string | null;
  readonly total: Amount;
  readonly currency: string | null;
  readonly created_at?: string | null;
}

export interface Spend {
  readonly report: {
    readonly counts: Readonly<Record<'delivered' | 'open' | 'held' | 'unclear' | 'late', number>>;
    readonly totals: readonly SpendRow[];
    readonly turnaround: readonly Turnaround[];
    readonly waiting: readonly Waiting[];
    readonly notes: readonly string[];
  } & Readonly<Record<'months' | 'skus' | 'orders' | 'feeds' | 'tags', readonly SpendRow[]>>;
  readonly budgets: { readonly budgets: readonly Budget[] };
  readonly invoices?: readonly Invoice[];
}

export interface Health {
  readonly checks: readonly Readonly<
    Record<'check' | 'status' | 'message', string> & { hint?: string | null }
  >[];
  readonly listeners: readonly Readonly<Record<string, string | number | null>>[];
  readonly attempts: readonly {
    readonly attempt: number;
    readonly status: string;
    readonly kind: string;
    readonly attempted_at: string | null;
    readonly urls: readonly string[];
    readonly audiofiles: readonly string[];
    readonly detail: string | null;
    readonly settle?: string;
  }[];
}
