/**
 * The tables, in the SQL of SQLite. A shared ledger has the same: postgres-schema.ts translates them, so they are written
 * in what that knows. Ids are text: they may have any form.
 */
import type { Migration } from '../../lib/sqlite.ts';

export const TABLES = `
  CREATE TABLE properties (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) WITHOUT ROWID;

  -- The budget that all who use this ledger share; null: none is set. The row itself is the lock of purchases under
  -- a budget: each sees what the others cost.
  CREATE TABLE budgets (
    profile TEXT PRIMARY KEY,
    budget TEXT,
    set_at TEXT,
    set_by TEXT NOT NULL DEFAULT '',
    asked_at TEXT NOT NULL DEFAULT ''
  ) WITHOUT ROWID;

  -- 'id' is the one that was asked for, 'own_id' the one in the answer: one invoice may have several names. 'final':
  -- nothing is known that may have changed it since; a refund changes one that is paid.
  CREATE TABLE kept_invoices (
    profile TEXT NOT NULL,
    id TEXT NOT NULL,
    own_id TEXT NOT NULL,
    state TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    paid INTEGER NOT NULL,
    final INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (profile, id)
  ) WITHOUT ROWID;

  -- The lines of an invoice, by its own id; 'amount' is in millionths, null where it can't be read. The part of the
  -- total that no item explains is a line of the first file. 'fetched_at' is that of the invoice they are from.
  CREATE TABLE invoice_lines (
    profile TEXT NOT NULL,
    invoice TEXT NOT NULL,
    position INTEGER NOT NULL,
    file TEXT NOT NULL,
    sku TEXT NOT NULL,
    amount INTEGER,
    currency TEXT NOT NULL,
    paid INTEGER NOT NULL,
    fetched_at TEXT NOT NULL,
    PRIMARY KEY (profile, invoice, position)
  ) WITHOUT ROWID;
  CREATE INDEX invoice_lines_by_file ON invoice_lines (profile, file);

  -- The URLs that files of this machine got, by their content.
  CREATE TABLE uploads (
    profile TEXT NOT NULL,
    content TEXT NOT NULL,
    url TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (profile, content)
  ) WITHOUT ROWID;

  -- Audio that lists, feeds and folders leave out, by what people named it: 'given'. One that is wanted again stays,
  -- as 'removed', so that an older copy of the ledger does not bring it back.
  CREATE TABLE ignored_audio (
    profile TEXT NOT NULL,
    name TEXT NOT NULL,
    given TEXT NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    set_at TEXT NOT NULL,
    set_by TEXT NOT NULL,
    PRIMARY KEY (profile, name)
  ) WITHOUT ROWID;

  -- Every call that costs or returns money: written before it is sent, closed by the answer. 'id' is made by the
  -- client, so that a lost COMMIT can be asked about and an outcome never reaches another row; 'number' is for people.
  -- 'outcome' and 'named' are what the service said, 'status' and 'order_id' also heed the settlements. 'via' is the
  -- raw call of 'steno api'. 'user' to 'actor' say who sends, 'seen_at' is the heartbeat.
  CREATE TABLE purchases (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    profile TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('order', 'upgrade', 'refund')),
    via TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL CHECK (outcome IN ('sending', 'placed', 'refused', 'uncertain')),
    named TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL CHECK (status IN ('sending', 'placed', 'refused', 'uncertain')),
    order_id TEXT NOT NULL DEFAULT '',
    test INTEGER NOT NULL,
    tracked INTEGER NOT NULL DEFAULT 0,
    hold TEXT,
    started_at TEXT NOT NULL,
    seen_at TEXT,
    ended_at TEXT,
    detail TEXT NOT NULL DEFAULT '',
    "user" TEXT NOT NULL DEFAULT '',
    host TEXT NOT NULL DEFAULT '',
    pid INTEGER NOT NULL DEFAULT 0,
    process_start TEXT NOT NULL DEFAULT '',
    job TEXT NOT NULL DEFAULT '',
    actor TEXT NOT NULL DEFAULT '',
    skus TEXT NOT NULL DEFAULT '',
    names TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT ''
  );
  CREATE INDEX purchases_by_time ON purchases (profile, started_at);
  CREATE INDEX purchases_unclear ON purchases (profile, number) WHERE status IN ('sending', 'uncertain');
  CREATE INDEX purchases_by_order ON purchases (profile, order_id) WHERE order_id <> '';

  -- What people said of purchases without a clear answer. None is changed: taking it back is a further row.
  CREATE TABLE settlements (
    id TEXT PRIMARY KEY,
    purchase TEXT NOT NULL REFERENCES purchases (id),
    verdict TEXT NOT NULL CHECK (verdict IN ('placed', 'not placed', 'reopened')),
    order_id TEXT NOT NULL,
    said_at TEXT NOT NULL,
    said_by TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX settlements_by_purchase ON settlements (purchase);

  -- What a purchase is of: an audio of an order, or a file. 'url_key' is the name of its URL. 'spelling' is a
  -- hash of the URL as it was given: the URL itself is kept without its signature. 'title' to
  -- 'feed' are what a feed or a file says of its audio. 'file' is the one whose cost it has; 'named' is the one that the service named for it;
  -- 'file_at' is when any of these was last said.
  -- 'audio' is the position of the recording that the file was made of: the one place that says so. It is null where
  -- nobody knows, and a guess by the sequence of the ids unless 'known'. A further file of an order is a row without a
  -- URL, behind its recordings.
  -- Amounts are in millionths of 'currency': 'estimate' of the day it was bought, 'billed' by the service (null: not
  -- yet), of that 'unpaid' (null: its invoice is not read) and 'refunded', also of an estimate; what came back with a
  -- refund is its 'billed', below zero. 'total_before' is the file's total when it was bought.
  -- 'turn' is later than that of all that was known to be bought for the file then: it says what a refund covers, not a clock. 'counted_at' is
  -- 'bought_at'; null where a budget does not count it.
  CREATE TABLE purchase_items (
    purchase TEXT NOT NULL REFERENCES purchases (id),
    position INTEGER NOT NULL,
    profile TEXT NOT NULL,
    url TEXT NOT NULL,
    url_key TEXT NOT NULL,
    key TEXT NOT NULL DEFAULT '',
    spelling TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    published TEXT NOT NULL DEFAULT '',
    seconds DOUBLE PRECISION,
    guid TEXT NOT NULL DEFAULT '',
    link TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    folder TEXT NOT NULL DEFAULT '',
    feed TEXT NOT NULL DEFAULT '',
    file TEXT NOT NULL DEFAULT '',
    named TEXT NOT NULL DEFAULT '',
    file_at TEXT NOT NULL DEFAULT '',
    audio INTEGER,
    known INTEGER NOT NULL DEFAULT 0,
    bought_at TEXT NOT NULL DEFAULT '',
    counted_at TEXT,
    estimate INTEGER,
    billed INTEGER,
    unpaid INTEGER DEFAULT 0,
    refunded INTEGER NOT NULL DEFAULT 0,
    currency TEXT NOT NULL DEFAULT '',
    total_before TEXT NOT NULL DEFAULT '',
    turn INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (purchase, position)
  ) WITHOUT ROWID;
  CREATE INDEX purchase_items_by_file ON purchase_items (profile, file) WHERE file <> '';
  CREATE INDEX purchase_items_by_url ON purchase_items (purchase, url_key) WHERE url_key <> '';
  CREATE INDEX purchase_items_by_audio ON purchase_items (purchase, audio) WHERE audio IS NOT NULL;
  CREATE INDEX purchase_items_unpaired ON purchase_items (purchase) WHERE audio IS NULL AND file <> '';
  CREATE INDEX purchase_items_counted ON purchase_items (profile, counted_at, currency, estimate, billed, refunded)
    WHERE counted_at IS NOT NULL;
  CREATE INDEX purchase_items_by_currency ON purchase_items (profile, currency) WHERE currency > '';
  CREATE INDEX purchase_items_unpriced ON purchase_items (profile, counted_at)
    WHERE counted_at IS NOT NULL AND billed IS NULL AND estimate IS NULL;

  -- What an item is filed under: tags, the n-th one first; and marks of its feed, hashes of its addresses.
  CREATE TABLE labels (
    profile TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('tag', 'feed')),
    label TEXT NOT NULL,
    purchase TEXT NOT NULL REFERENCES purchases (id),
    position INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (purchase, position, kind, label)
  ) WITHOUT ROWID;

  -- The names of an item. One purchase holds a name: the unique index keeps two processes from buying the same thing.
  CREATE TABLE item_names (
    profile TEXT NOT NULL,
    name TEXT NOT NULL,
    purchase TEXT NOT NULL REFERENCES purchases (id),
    position INTEGER NOT NULL,
    holds INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile, name, purchase, position)
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX item_names_held ON item_names (profile, name) WHERE holds = 1;
  CREATE INDEX item_names_by_purchase ON item_names (purchase, position);

  -- What the service says about an id; which recording it was made of stands on the item of its order. 'link' is the
  -- audio that the service names. 'purchase' is the order that it belongs to. 'upgrades' are the SKUs that it was upgraded with, the last time at
  -- 'upgraded_at'. One that was delivered by then is open until it was seen in another state ('reworked') and
  -- delivered again. 'completed' is set back by an upgrade alone. 'found': the event that stands for a delivery until that comes, as its 'duplicate'.
  -- 'hint' is what an event says of a file, until the service is asked. 'due_since' is the target of its SKU, and
  -- then the last time that the service was asked about it; empty: no listener has seen it yet. 'polled_at' is that
  -- time in any case.
  CREATE TABLE files (
    seq INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    id TEXT NOT NULL,
    purchase TEXT NOT NULL DEFAULT '',
    order_id TEXT NOT NULL,
    link TEXT NOT NULL DEFAULT '',
    test INTEGER NOT NULL,
    upgrades TEXT NOT NULL DEFAULT '',
    upgraded_at TEXT,
    reworked INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT '',
    ended TEXT NOT NULL DEFAULT '' CHECK (ended IN ('', 'delivered', 'unfinished')),
    title TEXT NOT NULL DEFAULT '',
    duration TEXT NOT NULL DEFAULT '',
    total TEXT NOT NULL DEFAULT '',
    invoices TEXT NOT NULL DEFAULT '',
    ordered_at TEXT NOT NULL,
    changed_at TEXT,
    checked_at TEXT,
    answer TEXT,
    heard_at TEXT,
    remark TEXT NOT NULL DEFAULT '',
    hint TEXT NOT NULL DEFAULT '',
    awaited INTEGER NOT NULL DEFAULT 0,
    completed INTEGER NOT NULL DEFAULT 0,
    found INTEGER,
    due_since TEXT NOT NULL DEFAULT '',
    polled_at TEXT NOT NULL DEFAULT '',
    UNIQUE (profile, id)
  );
  CREATE INDEX files_by_profile ON files (profile, seq);
  CREATE INDEX files_by_purchase ON files (purchase, ended);
  CREATE INDEX files_by_order ON files (profile, order_id, seq);
  CREATE INDEX files_by_state ON files (profile, state, seq);
  CREATE INDEX files_open ON files (profile, seq) WHERE ended = '' AND test = 0;
  CREATE INDEX files_invoiced ON files (profile, seq) WHERE invoices <> '';
  CREATE INDEX files_missed ON files (profile, seq) WHERE awaited = 1 AND ended = 'delivered';
  CREATE INDEX files_with_news ON files (profile, heard_at) WHERE heard_at >= coalesce(checked_at, '');
  CREATE INDEX files_due ON files (profile, due_since) WHERE ended = '' AND test = 0;
  CREATE INDEX files_by_poll ON files (profile, polled_at) WHERE ended = '' AND test = 0 AND due_since > '';

  -- 'path_key' is one for all spellings of a path that a disk may take for the same. 'sha256' is of what we wrote. A
  -- draft was written while its file was not known to be delivered. One from before an upgrade of its file is outdated.
  -- 'handed_over': 1, it waits for the command of sync --exec; 2, one that got it exited 0. 'tries': how often one
  -- was begun. Who runs it at the moment is in 'leader_tasks'.
  CREATE TABLE downloads (
    profile TEXT NOT NULL,
    file TEXT NOT NULL,
    ext TEXT NOT NULL,
    folder TEXT NOT NULL,
    path TEXT NOT NULL,
    path_key TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    at TEXT NOT NULL,
    sha256 TEXT NOT NULL DEFAULT '',
    draft INTEGER NOT NULL DEFAULT 0,
    handed_over INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (profile, file, ext, folder)
  ) WITHOUT ROWID;
  CREATE INDEX downloads_by_path ON downloads (path_key);
  CREATE INDEX downloads_waiting ON downloads (profile, folder, ext, file) WHERE handed_over = 1;

  -- 'shows' are the names of the events that a listener shows.
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT NOT NULL DEFAULT '',
    started_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    ended_at TEXT,
    shows TEXT NOT NULL DEFAULT ''
  );
  CREATE INDEX runs_unended ON runs (profile) WHERE ended_at IS NULL;

  -- What one listener, or one sync, does for all.
  CREATE TABLE leader_tasks (
    name TEXT PRIMARY KEY,
    run INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- A number is never given again. 'arrival' is the id that a delivery got when it came in, so that it is moved from a
  -- waiting place into the ledger once. Null for other events.
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    profile TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('received', 'test', 'found')),
    arrival TEXT,
    received_at TEXT NOT NULL,
    remote TEXT NOT NULL,
    content_type TEXT NOT NULL,
    body BLOB NOT NULL,
    event TEXT NOT NULL,
    version TEXT NOT NULL,
    audiofile TEXT NOT NULL,
    order_id TEXT NOT NULL,
    duplicate INTEGER,
    listener INTEGER
  );
  CREATE INDEX events_to_show ON events (listener, id) WHERE listener IS NOT NULL;
  CREATE UNIQUE INDEX events_by_arrival ON events (arrival) WHERE arrival IS NOT NULL;
  CREATE INDEX events_by_file ON events (audiofile) WHERE audiofile <> '';

  CREATE TABLE event_files (
    audiofile TEXT NOT NULL,
    event INTEGER NOT NULL REFERENCES events (id),
    PRIMARY KEY (audiofile, event)
  ) WITHOUT ROWID;
  -- Without it, each event that is removed would have all rows read.
  CREATE INDEX event_files_by_event ON event_files (event);

  -- 'is_unknown': the ledger does not know what the event is about. 'due_at' is the time of the next try; it is given up
  -- some time after 'since'. 'via' are the listeners that a delivery has passed.
  CREATE TABLE actions (
    event INTEGER NOT NULL REFERENCES events (id),
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (id),
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
    tries INTEGER NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL DEFAULT '',
    updated_at TEXT NOT NULL,
    is_unknown INTEGER NOT NULL DEFAULT 0,
    due_at TEXT NOT NULL DEFAULT '',
    since TEXT NOT NULL,
    via TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (event, kind, target)
  ) WITHOUT ROWID;
  CREATE INDEX actions_next ON actions (kind, target, run, is_unknown, due_at, event) WHERE status = 'pending';
  CREATE INDEX actions_failed ON actions (kind, target, run, event) WHERE status = 'failed';
  CREATE INDEX actions_by_run ON actions (run);`;

/** In the order they were added; one that has been released is never changed. Builds before 1.0.0 had other ones. */
export const migrations: readonly Migration[] = [{ name: '001-facts', sql: TABLES }];
