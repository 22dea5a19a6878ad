/** What the server sends, as far as this page reads it: the documents of `--json`. */

/** A number, or its digits where a number would round them. */
export type Amount = number | string | null;
type Texts<Names extends string> = Readonly<Record<Names, string>>;
type MaybeTexts<Names extends string> = Readonly<Record<Names, string | null>>;
type Lists<Names extends string> = Readonly<Record<Names, readonly string[]>>;
type Counts<Names extends string> = Readonly<Record<Names, number>>;
type MaybeCounts<Names extends string> = Readonly<Record<Names, number | null>>;
type Amounts<Names extends string> = Readonly<Record<Names, Amount>>;

/** `command`: how a copied command line begins, such as `steno --sandbox`. */
export type About = Texts<'profile' | 'ledger' | 'command' | 'now'> & {
  readonly sandbox: boolean;
};

export type FileDocument = Texts<'audiofile'> &
  MaybeTexts<'state' | 'title' | 'currency' | 'order' | 'ordered_at' | 'changed_at' | 'checked_at'> &
  MaybeTexts<'url' | 'link' | 'key' | 'source' | 'feed' | 'hold' | 'notes' | 'remark'> &
  Lists<'tags' | 'skus' | 'names' | 'invoices'> &
  Amounts<'minutes' | 'total'> & {
    readonly test: boolean;
    readonly late?: boolean;
    readonly ended: 'delivered' | 'unfinished' | null;
    readonly by: MaybeTexts<'user' | 'host' | 'job' | 'actor'> | null;
  };

export type HistoryEntry = Texts<'at' | 'what' | 'by' | 'text'> & { readonly event?: number };
export type Transcript = Texts<'format' | 'path'> &
  Counts<'bytes'> &
  MaybeTexts<'at'> & { readonly here: boolean };

export interface FilePage extends MaybeTexts<'playable'> {
  readonly file: FileDocument;
  readonly history: readonly HistoryEntry[];
  readonly transcripts: readonly Transcript[];
}

/** Times are in seconds. */
export type Segment = Counts<'line'> & MaybeCounts<'start' | 'end'> & MaybeTexts<'speaker'> & Texts<'text'>;
export type Hit = Segment & MaybeTexts<'audiofile' | 'title'> & Texts<'path'> & Lists<'before' | 'after'>;
export type Finding = MaybeCounts<'line' | 'start'> & Texts<'rule' | 'severity' | 'text'>;

export type EventDocument = MaybeCounts<'n'> &
  Texts<'source' | 'received_at' | 'event' | 'said'> &
  MaybeTexts<'audiofile' | 'order' | 'title'> & {
    readonly fields: Readonly<Record<string, string | readonly string[]>>;
  };

export type Action = Texts<'kind' | 'target' | 'status' | 'outcome'> &
  Counts<'tries'> &
  MaybeTexts<'updated_at' | 'next_try_at'>;

export type ShownEvent = EventDocument &
  MaybeCounts<'duplicate'> &
  Texts<'remote' | 'content_type' | 'body' | 'curl'> & { readonly actions: readonly Action[] };

/** What it is of stands under the name of the grouping: `month`, `sku`. */
export type SpendRow = MaybeTexts<'currency'> &
  Amounts<'spent' | 'refunded' | 'unpaid' | 'estimated'> &
  Counts<'files'> & { readonly [grouping: string]: unknown };

export type Waiting = { readonly kind: 'open' | 'held' | 'unclear' } & MaybeCounts<'attempt'> &
  MaybeTexts<'audiofile' | 'title' | 'order' | 'state' | 'ordered_at' | 'url'>;

export type Budget = Texts<'budget' | 'source' | 'until'> &
  Amounts<'billed' | 'estimated' | 'left' | 'limit'> &
  Counts<'unknown'> &
  MaybeTexts<'currency'>;

type InvoiceLine = MaybeTexts<'sku' | 'audiofile'> & Amounts<'quantity' | 'price' | 'total'>;
export type Invoice = Texts<'invoice'> &
  MaybeTexts<'state' | 'currency' | 'created'> &
  Amounts<'total'> & { readonly items: readonly InvoiceLine[] };

export interface Spend {
  readonly report: Readonly<Record<'totals' | 'months' | 'skus' | 'feeds' | 'tags', readonly SpendRow[]>> &
    Lists<'notes'> & {
      readonly counts: Counts<'delivered' | 'open' | 'held' | 'unclear' | 'late'>;
      readonly waiting: readonly Waiting[];
    };
  readonly budgets: { readonly budgets: readonly Budget[] };
  /** Newest first. */
  readonly invoices: readonly Invoice[];
  /** What orders without a clear answer may have cost. */
  readonly uncertain: ReadonlyArray<Texts<'currency'> & Amounts<'amount'> & Counts<'unknown'>>;
}

export type Attempt = Counts<'attempt'> &
  Texts<'status' | 'kind'> &
  MaybeTexts<'attempted_at' | 'detail'> &
  Lists<'urls' | 'audiofiles' | 'settle'>;

export interface Health {
  readonly checks: ReadonlyArray<Texts<'check' | 'status' | 'message'> & MaybeTexts<'hint'>>;
  readonly listeners: ReadonlyArray<Readonly<Record<string, string | number | null>>>;
  readonly attempts: readonly Attempt[];
}
