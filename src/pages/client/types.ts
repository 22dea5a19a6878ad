/** What the server sends, as far as this page reads it: the documents of `--json`. */

type Of<Names extends string, Type> = Readonly<Record<Names, Type>>;
type Text = string | null;
type Count = number | null;
/** A number, or its digits where a number would round them. */
export type Amount = number | string | null;
type List = readonly string[];

/** `command`: how a copied command line begins, such as `steno --sandbox`. */
export type About = Of<'profile' | 'ledger' | 'command' | 'now', string> & Of<'sandbox', boolean>;

export type FileDocument = Of<'audiofile', string> &
  Of<'state' | 'title' | 'currency' | 'order' | 'ordered_at' | 'changed_at' | 'checked_at', Text> &
  Of<'url' | 'link' | 'key' | 'source' | 'feed' | 'hold' | 'notes' | 'remark', Text> &
  Of<'tags' | 'skus' | 'names' | 'invoices', List> &
  Of<'minutes' | 'total', Amount> &
  Of<'test' | 'late', boolean> &
  Of<'ended', 'delivered' | 'unfinished' | null> &
  Of<'by', Of<'user' | 'host' | 'job' | 'actor', Text> | null>;

export type HistoryEntry = Of<'at' | 'what' | 'by' | 'text', string> & { readonly event?: number };
export type Transcript = Of<'format' | 'path', string> &
  Of<'bytes', number> &
  Of<'at', Text> &
  Of<'here', boolean>;

export type FilePage = Of<'file', FileDocument> &
  Of<'history', readonly HistoryEntry[]> &
  Of<'transcripts', readonly Transcript[]> &
  Of<'playable', Text>;

/** Times are in seconds. */
export type Segment = Of<'line', number> &
  Of<'start' | 'end', Count> &
  Of<'speaker', Text> &
  Of<'text', string>;
export type Hit = Segment &
  Of<'audiofile' | 'title', Text> &
  Of<'path', string> &
  Of<'before' | 'after', List>;
export type Finding = Of<'line' | 'start', Count> & Of<'rule' | 'severity' | 'text', string>;

export type EventDocument = Of<'n', Count> &
  Of<'source' | 'received_at' | 'event' | 'said', string> &
  Of<'audiofile' | 'order' | 'title', Text> &
  Of<'fields', Of<string, string | List>>;

export type Action = Of<'kind' | 'target' | 'status' | 'outcome', string> &
  Of<'tries', number> &
  Of<'updated_at' | 'next_try_at', Text>;

export type ShownEvent = EventDocument &
  Of<'duplicate', Count> &
  Of<'remote' | 'content_type' | 'body' | 'curl', string> &
  Of<'actions', readonly Action[]>;

/** What it is of stands under the name of the grouping. */
export type SpendRow = Of<'month' | 'sku' | 'feed' | 'tag' | 'currency', Text> &
  Of<'spent' | 'refunded' | 'unpaid' | 'estimated', Amount> &
  Of<'files', number>;

export type Budget = Of<'budget' | 'source' | 'until', string> &
  Of<'billed' | 'estimated' | 'left' | 'limit', Amount> &
  Of<'unknown', number> &
  Of<'currency', Text>;

type InvoiceLine = Of<'sku' | 'audiofile', Text> & Of<'quantity' | 'price' | 'total', Amount>;
export type Invoice = Of<'invoice', string> &
  Of<'state' | 'currency' | 'created', Text> &
  Of<'total', Amount> &
  Of<'items', readonly InvoiceLine[]>;

type Report = Of<'totals' | 'months' | 'skus' | 'feeds' | 'tags', readonly SpendRow[]> &
  Of<'notes', List> &
  Of<'counts', Of<'delivered' | 'open' | 'held' | 'unclear' | 'late', number>>;

/** `invoices`: the newest first. `uncertain`: what orders without a clear answer may have cost. */
export type Spend = Of<'report', Report> &
  Of<'budgets', Of<'budgets', readonly Budget[]>> &
  Of<'invoices', readonly Invoice[]> &
  Of<'uncertain', ReadonlyArray<Of<'currency', string> & Of<'amount', Amount> & Of<'unknown', number>>>;

export type Attempt = Of<'attempt', number> &
  Of<'status' | 'kind', string> &
  Of<'attempted_at' | 'detail', Text> &
  Of<'urls' | 'audiofiles' | 'settle', List>;

type Check = Of<'check' | 'status' | 'message', string> & Of<'hint', Text>;
export type Health = Of<'checks', readonly Check[]> &
  Of<'listeners', ReadonlyArray<Of<string, string | Count>>>;
