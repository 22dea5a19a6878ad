import type { Migration } from '../lib/sqlite.ts';

/** In the order they were added; one that has been released is never changed. Ids are text: they may have any form. */
export const migrations: readonly Migration[] = [
  {
    name: '001-ledger',
    sql: `
      -- 'salt' goes into whatever is derived from a secret.
      CREATE TABLE properties (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
      ) WITHOUT ROWID;
      INSERT INTO properties (name, value) VALUES ('salt', lower(hex(randomblob(16))));

      CREATE TABLE budgets (
        profile TEXT PRIMARY KEY,
        asked_at TEXT NOT NULL
      ) WITHOUT ROWID;

      CREATE TABLE kept_invoices (
        profile TEXT NOT NULL,
        id TEXT NOT NULL,
        fetched_at TEXT NOT NULL,
        final INTEGER NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (profile, id)
      ) WITHOUT ROWID;

      -- The URLs that files of this machine got, by their content.
      CREATE TABLE uploads (
        profile TEXT NOT NULL,
        content TEXT NOT NULL,
        url TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (profile, content)
      ) WITHOUT ROWID;

      -- 'token' is made by the client, so that after a lost COMMIT it can be asked whether it came through. 'user' to
      -- 'job' say who sends: 'job' is the URL of a CI job, 'seen_at' the heartbeat. 'cost' is the estimate in millionths
      -- of 'currency'; null where it is not known.
      CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        token TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL CHECK (status IN ('sending', 'placed', 'refused', 'uncertain')),
        test INTEGER NOT NULL,
        started_at TEXT NOT NULL,
        seen_at TEXT,
        ended_at TEXT,
        order_id TEXT,
        detail TEXT,
        user TEXT NOT NULL DEFAULT '',
        host TEXT NOT NULL DEFAULT '',
        pid INTEGER NOT NULL DEFAULT 0,
        process_start TEXT NOT NULL DEFAULT '',
        job TEXT NOT NULL DEFAULT '',
        skus TEXT NOT NULL DEFAULT '',
        names TEXT NOT NULL DEFAULT '',
        notes TEXT NOT NULL DEFAULT '',
        cost INTEGER,
        currency TEXT NOT NULL DEFAULT ''
      );
      CREATE INDEX attempts_by_time ON attempts (profile, started_at);
      CREATE INDEX attempts_unclear ON attempts (profile, id) WHERE status IN ('sending', 'uncertain');

      -- 'url_key' is the first name of the audio. 'spelling' is a hash of the URL as it was given: the URL itself is kept
      -- without its signature. 'details' is JSON: what a feed or a file says of its audio.
      CREATE TABLE attempt_urls (
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        position INTEGER NOT NULL DEFAULT 0,
        url TEXT NOT NULL,
        url_key TEXT NOT NULL,
        key TEXT NOT NULL DEFAULT '',
        spelling TEXT NOT NULL DEFAULT '',
        details TEXT NOT NULL DEFAULT ''
      );
      CREATE INDEX attempt_urls_by_attempt ON attempt_urls (attempt, position);

      CREATE TABLE attempt_names (
        name TEXT NOT NULL,
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        position INTEGER NOT NULL,
        PRIMARY KEY (name, attempt, position)
      ) WITHOUT ROWID;
      CREATE INDEX attempt_names_by_attempt ON attempt_names (attempt, position);

      -- A name of an audio and the attempt that holds it. The primary key is what keeps two processes from ordering the
      -- same audio.
      CREATE TABLE claims (
        profile TEXT NOT NULL,
        name TEXT NOT NULL,
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        PRIMARY KEY (profile, name)
      ) WITHOUT ROWID;
      CREATE INDEX claims_by_attempt ON claims (attempt);

      CREATE TABLE orders (
        profile TEXT NOT NULL,
        id TEXT NOT NULL,
        placed_at TEXT NOT NULL,
        skus TEXT NOT NULL,
        names TEXT NOT NULL,
        notes TEXT NOT NULL,
        hold TEXT,
        user TEXT NOT NULL DEFAULT '',
        host TEXT NOT NULL DEFAULT '',
        job TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (profile, id)
      ) WITHOUT ROWID;

      -- 'completed' is never set back. 'found': the event that stands for a delivery until that comes, as its 'twin'.
      -- 'hint' is what an event says of a file, until the service is asked. 'due_since' is the target of its SKU, and
      -- then the last time that the service was asked about it; empty: no listener has seen it yet. 'looked_at' is that
      -- time in any case.
      CREATE TABLE files (
        seq INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        id TEXT NOT NULL,
        order_id TEXT NOT NULL,
        url TEXT NOT NULL,
        key TEXT NOT NULL DEFAULT '',
        details TEXT NOT NULL DEFAULT '',
        test INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT '',
        ended TEXT NOT NULL DEFAULT '' CHECK (ended IN ('', 'delivered', 'unfinished')),
        title TEXT NOT NULL DEFAULT '',
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
        looked_at TEXT NOT NULL DEFAULT '',
        UNIQUE (profile, id)
      );
      CREATE INDEX files_by_profile ON files (profile, seq);
      CREATE INDEX files_by_order ON files (profile, order_id, seq);
      CREATE INDEX files_by_state ON files (profile, state, seq);
      CREATE INDEX files_open ON files (profile, seq) WHERE ended = '' AND test = 0;
      CREATE INDEX files_invoiced ON files (profile, seq) WHERE invoices <> '';
      CREATE INDEX files_missed ON files (profile, seq) WHERE awaited = 1 AND ended = 'delivered';
      CREATE INDEX files_with_news ON files (profile, heard_at) WHERE heard_at >= coalesce(checked_at, '');
      CREATE INDEX files_due ON files (profile, due_since) WHERE ended = '' AND test = 0;
      CREATE INDEX files_by_look ON files (profile, looked_at) WHERE ended = '' AND test = 0 AND due_since > '';

      -- 'path_key' is one for all spellings of a path that a disk may take for the same. 'draft' is the SHA-256 of a
      -- transcript that was written while its file was not known to be delivered; null otherwise.
      CREATE TABLE downloads (
        profile TEXT NOT NULL,
        file TEXT NOT NULL,
        ext TEXT NOT NULL,
        folder TEXT NOT NULL,
        path TEXT NOT NULL,
        path_key TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        at TEXT NOT NULL,
        draft TEXT,
        PRIMARY KEY (profile, file, ext, folder)
      ) WITHOUT ROWID;
      CREATE INDEX downloads_by_path ON downloads (path_key);

      CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started_at TEXT NOT NULL,
        seen_at TEXT NOT NULL,
        ended_at TEXT
      );
      CREATE INDEX runs_unended ON runs (profile) WHERE ended_at IS NULL;

      -- What one listener does for all.
      CREATE TABLE duties (
        name TEXT PRIMARY KEY,
        run INTEGER NOT NULL
      ) WITHOUT ROWID;

      -- Webhooks that listeners have borrowed. 'account' is a mark of the base URL and the key, 'secret_hash' tells the
      -- listener's address, which is kept sealed; 'former' is what is put back. No reference to runs: one may be pruned.
      CREATE TABLE webhook_loans (
        id INTEGER PRIMARY KEY,
        account TEXT NOT NULL,
        run INTEGER NOT NULL,
        secret_hash TEXT NOT NULL,
        address TEXT NOT NULL,
        former TEXT NOT NULL,
        leaving INTEGER NOT NULL DEFAULT 0,
        taken_at TEXT NOT NULL
      );

      -- 'arrival' is the id that a delivery got on arrival: it is moved from a journal into the ledger once. Null for
      -- other events.
      CREATE TABLE events (
        id INTEGER PRIMARY KEY,
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
        twin INTEGER
      );
      CREATE UNIQUE INDEX events_by_arrival ON events (arrival) WHERE arrival IS NOT NULL;
      CREATE INDEX events_by_file ON events (audiofile) WHERE audiofile <> '';

      CREATE TABLE event_files (
        audiofile TEXT NOT NULL,
        event INTEGER NOT NULL REFERENCES events (id),
        PRIMARY KEY (audiofile, event)
      ) WITHOUT ROWID;
      -- Without it, each event that is removed would have all rows read.
      CREATE INDEX event_files_by_event ON event_files (event);

      -- 'subject' is the file or order of the event; 'stranger': the ledger does not know it; 'turn': how many actions
      -- about the same subject wait before it. 'due_at' is the time of the next try, 'failing_since' that of the first
      -- one that failed. 'hops' are the listeners that a delivery has passed.
      CREATE TABLE actions (
        event INTEGER NOT NULL REFERENCES events (id),
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        run INTEGER NOT NULL REFERENCES runs (id),
        status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
        tries INTEGER NOT NULL DEFAULT 0,
        outcome TEXT NOT NULL DEFAULT '',
        updated_at TEXT NOT NULL,
        subject TEXT NOT NULL DEFAULT '',
        stranger INTEGER NOT NULL DEFAULT 0,
        turn INTEGER NOT NULL DEFAULT 0,
        due_at TEXT NOT NULL DEFAULT '',
        failing_since TEXT NOT NULL DEFAULT '',
        hops TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (event, kind, target)
      ) WITHOUT ROWID;
      CREATE INDEX actions_unfinished ON actions (kind, target, event) WHERE status <> 'done';
      CREATE INDEX actions_next ON actions (kind, target, run, stranger, due_at, turn, event) WHERE status = 'pending';
      CREATE INDEX actions_by_subject ON actions (kind, target, subject, turn) WHERE status = 'pending';
      CREATE INDEX actions_failing ON actions (kind, target, run, failing_since) WHERE status = 'pending';
      CREATE INDEX actions_failed ON actions (kind, target, event) WHERE status = 'failed';
      CREATE INDEX actions_by_run ON actions (run);`,
  },
];
