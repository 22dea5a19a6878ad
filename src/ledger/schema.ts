import type { Migration } from '../lib/sqlite.ts';

/** In the order they were added; one that has been released is never changed. Ids are text: they may have any form. */
export const migrations: readonly Migration[] = [
  {
    name: '001-orders-and-files',
    sql: `
      CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('sending', 'placed', 'refused', 'uncertain')),
        test INTEGER NOT NULL,
        started_at TEXT NOT NULL,
        ended_at TEXT,
        order_id TEXT,
        detail TEXT
      );
      CREATE INDEX attempts_unclear ON attempts (profile, id) WHERE status IN ('sending', 'uncertain');

      CREATE TABLE attempt_urls (
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        url TEXT NOT NULL,
        url_key TEXT NOT NULL
      );
      CREATE INDEX attempt_urls_by_key ON attempt_urls (url_key);
      CREATE INDEX attempt_urls_by_attempt ON attempt_urls (attempt);

      CREATE TABLE orders (
        profile TEXT NOT NULL,
        id TEXT NOT NULL,
        placed_at TEXT NOT NULL,
        skus TEXT NOT NULL,
        names TEXT NOT NULL,
        notes TEXT NOT NULL,
        hold TEXT,
        PRIMARY KEY (profile, id)
      ) WITHOUT ROWID;

      CREATE TABLE files (
        seq INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        id TEXT NOT NULL,
        order_id TEXT NOT NULL,
        url TEXT NOT NULL,
        test INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT '',
        ended TEXT NOT NULL DEFAULT '' CHECK (ended IN ('', 'delivered', 'unfinished')),
        title TEXT NOT NULL DEFAULT '',
        invoices TEXT NOT NULL DEFAULT '',
        ordered_at TEXT NOT NULL,
        changed_at TEXT,
        checked_at TEXT,
        answer TEXT,
        UNIQUE (profile, id)
      );
      CREATE INDEX files_by_profile ON files (profile, seq);
      CREATE INDEX files_by_order ON files (profile, order_id, seq);
      CREATE INDEX files_by_state ON files (profile, state, seq);
      CREATE INDEX files_open ON files (profile, seq) WHERE ended = '' AND test = 0;
      CREATE INDEX files_invoiced ON files (profile, seq) WHERE invoices <> '';

      CREATE TABLE downloads (
        profile TEXT NOT NULL,
        file TEXT NOT NULL,
        ext TEXT NOT NULL,
        folder TEXT NOT NULL,
        path TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (profile, file, ext, folder)
      ) WITHOUT ROWID;`,
  },
  {
    name: '002-events',
    sql: `
      CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started_at TEXT NOT NULL,
        seen_at TEXT NOT NULL,
        ended_at TEXT,
        webhook TEXT,
        former_webhook TEXT
      );
      CREATE INDEX runs_unended ON runs (profile) WHERE ended_at IS NULL;
      CREATE INDEX runs_registered ON runs (profile) WHERE webhook IS NOT NULL;

      CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        source TEXT NOT NULL CHECK (source IN ('received', 'test', 'found')),
        received_at TEXT NOT NULL,
        remote TEXT NOT NULL,
        content_type TEXT NOT NULL,
        body BLOB NOT NULL,
        event TEXT NOT NULL,
        version TEXT NOT NULL,
        audiofile TEXT NOT NULL,
        order_id TEXT NOT NULL
      );

      CREATE TABLE event_files (
        audiofile TEXT NOT NULL,
        event INTEGER NOT NULL REFERENCES events (id),
        PRIMARY KEY (audiofile, event)
      ) WITHOUT ROWID;

      CREATE TABLE actions (
        event INTEGER NOT NULL REFERENCES events (id),
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        run INTEGER NOT NULL REFERENCES runs (id),
        status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'failed')),
        tries INTEGER NOT NULL DEFAULT 0,
        outcome TEXT NOT NULL DEFAULT '',
        updated_at TEXT NOT NULL,
        PRIMARY KEY (event, kind, target)
      ) WITHOUT ROWID;
      CREATE INDEX actions_unfinished ON actions (kind, target, event) WHERE status <> 'done';

      ALTER TABLE files ADD COLUMN heard_at TEXT;
      ALTER TABLE files ADD COLUMN remark TEXT NOT NULL DEFAULT '';
      ALTER TABLE files ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX files_awaited ON files (profile, seq) WHERE awaited = 1;`,
  },
  {
    // `completed` is never set back. `found`: the event that stands for a delivery until that comes, as its `twin`.
    name: '003-completions',
    sql: `
      ALTER TABLE files ADD COLUMN completed INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE files ADD COLUMN found INTEGER;
      ALTER TABLE events ADD COLUMN twin INTEGER;

      UPDATE events SET twin = came.id
        FROM (SELECT profile, audiofile, min(id) AS id FROM events
              WHERE event = 'TRANSCRIPT_COMPLETE' AND source = 'received' GROUP BY profile, audiofile) AS came
        WHERE events.source = 'found' AND events.profile = came.profile AND events.audiofile = came.audiofile;
      UPDATE files SET awaited = 0, completed = 1, found = told.found
        FROM (SELECT profile, audiofile, max(CASE WHEN source = 'found' AND twin IS NULL THEN id END) AS found
              FROM events WHERE event = 'TRANSCRIPT_COMPLETE' AND source <> 'test' GROUP BY profile, audiofile) AS told
        WHERE files.profile = told.profile AND files.id = told.audiofile;`,
  },
  {
    // `path_key` is the path in lower case: one name is one transcript, also on disks that ignore case.
    name: '004-download-paths',
    sql: `
      ALTER TABLE downloads ADD COLUMN path_key TEXT NOT NULL DEFAULT '';
      UPDATE downloads SET path_key = lower(path);
      CREATE INDEX downloads_by_path ON downloads (path_key);`,
  },
  {
    /*
     * `token` is made by the client, so that after a lost COMMIT it can be asked whether it came through. `user`, `host`,
     * `pid` and `process_start` say who sends, `seen_at` is the heartbeat. `spelling` is a hash of the URL as it was
     * given: the URL itself is kept without its signature. A claim is a name of an audio and the attempt that holds it;
     * its primary key is what keeps two processes from ordering the same audio.
     */
    name: '005-claims',
    sql: `
      ALTER TABLE attempts ADD COLUMN token TEXT;
      ALTER TABLE attempts ADD COLUMN user TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempts ADD COLUMN host TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempts ADD COLUMN pid INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE attempts ADD COLUMN process_start TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempts ADD COLUMN seen_at TEXT;
      ALTER TABLE attempts ADD COLUMN skus TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempts ADD COLUMN names TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempts ADD COLUMN notes TEXT NOT NULL DEFAULT '';
      CREATE UNIQUE INDEX attempts_by_token ON attempts (token);

      ALTER TABLE attempt_urls ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE attempt_urls ADD COLUMN key TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempt_urls ADD COLUMN spelling TEXT NOT NULL DEFAULT '';
      DROP INDEX attempt_urls_by_key;
      DROP INDEX attempt_urls_by_attempt;
      CREATE INDEX attempt_urls_by_attempt ON attempt_urls (attempt, position);

      CREATE TABLE attempt_names (
        name TEXT NOT NULL,
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        position INTEGER NOT NULL,
        PRIMARY KEY (name, attempt, position)
      ) WITHOUT ROWID;
      CREATE INDEX attempt_names_by_attempt ON attempt_names (attempt, position);

      CREATE TABLE claims (
        profile TEXT NOT NULL,
        name TEXT NOT NULL,
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        PRIMARY KEY (profile, name)
      ) WITHOUT ROWID;
      CREATE INDEX claims_by_attempt ON claims (attempt);

      ALTER TABLE files ADD COLUMN key TEXT NOT NULL DEFAULT '';`,
    load: async () => (await import('./identity-migration.ts')).bringIdentitiesAlong,
  },
  {
    // What 005 has cut out must not stay readable in the file.
    name: '006-nothing-left-of-signatures',
    rewritesFile: true,
  },
  {
    // The SHA-256 of a transcript that was written while its file was not known to be delivered; null otherwise.
    name: '007-drafts',
    sql: 'ALTER TABLE downloads ADD COLUMN draft TEXT;',
  },
  {
    // The id that a delivery got on arrival: it is moved from a journal into the ledger once. Null for other events.
    name: '008-arrivals',
    sql: `
      ALTER TABLE events ADD COLUMN arrival TEXT;
      CREATE UNIQUE INDEX events_by_arrival ON events (arrival) WHERE arrival IS NOT NULL;`,
  },
  {
    /*
     * What is done first, and what is tried again when. `subject` is the file or order of the event; `stranger`: the
     * ledger does not know it; `turn`: how many actions about the same subject wait before it. `due_at` is the time of
     * the next try, `failing_since` that of the first one that failed. `hops` are the listeners that a delivery has
     * passed. `hint` is what an event says of a file, until the service is asked.
     */
    name: '009-retries',
    sql: `
      ALTER TABLE actions ADD COLUMN subject TEXT NOT NULL DEFAULT '';
      ALTER TABLE actions ADD COLUMN stranger INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE actions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE actions ADD COLUMN due_at TEXT NOT NULL DEFAULT '';
      ALTER TABLE actions ADD COLUMN failing_since TEXT NOT NULL DEFAULT '';
      ALTER TABLE actions ADD COLUMN hops TEXT NOT NULL DEFAULT '';
      UPDATE actions SET subject = events.audiofile, stranger = NOT EXISTS (
          SELECT 1 FROM files WHERE files.profile = events.profile AND files.id = events.audiofile)
        FROM events WHERE events.id = actions.event AND actions.status <> 'done';
      CREATE INDEX actions_next ON actions (kind, target, run, stranger, due_at, turn, event) WHERE status = 'pending';
      CREATE INDEX actions_by_subject ON actions (kind, target, subject, turn) WHERE status = 'pending';
      CREATE INDEX actions_failing ON actions (kind, target, run, failing_since) WHERE status = 'pending';

      ALTER TABLE files ADD COLUMN hint TEXT NOT NULL DEFAULT '';
      CREATE INDEX files_with_news ON files (profile, heard_at) WHERE heard_at >= coalesce(checked_at, '');`,
  },
  {
    // `salt` goes into whatever is derived from a secret. Targets of actions lose their passwords.
    name: '010-no-secrets',
    sql: `
      CREATE TABLE properties (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
      ) WITHOUT ROWID;
      INSERT INTO properties (name, value) VALUES ('salt', lower(hex(randomblob(16))));`,
    load: async () => (await import('./secret-cleaning.ts')).takePasswordsOut,
  },
  {
    name: '011-nothing-left-of-secrets',
    rewritesFile: true,
  },
  {
    /*
     * Webhooks that listeners have borrowed. `account` is a mark of the base URL and the key, `secret_hash` tells the
     * listener's address, which is kept sealed; `former` is what is put back. No reference to `runs`: a run may be pruned.
     */
    name: '012-webhook-loans',
    sql: `
      CREATE TABLE webhook_loans (
        id INTEGER PRIMARY KEY,
        account TEXT NOT NULL,
        run INTEGER NOT NULL,
        secret_hash TEXT NOT NULL,
        address TEXT NOT NULL,
        former TEXT NOT NULL,
        leaving INTEGER NOT NULL DEFAULT 0,
        taken_at TEXT NOT NULL
      );`,
    load: async () => (await import('./loan-migration.ts')).bringLoansAlong,
  },
  {
    name: '013-nothing-left-of-addresses',
    rewritesFile: true,
  },
  {
    // Without it, each event that is removed would have all rows of event_files read.
    name: '014-removable-events',
    sql: 'CREATE INDEX event_files_by_event ON event_files (event);',
  },
  {
    // Who ordered it: `job` is the URL of a CI job.
    name: '015-who',
    sql: `
      ALTER TABLE attempts ADD COLUMN job TEXT NOT NULL DEFAULT '';
      ALTER TABLE orders ADD COLUMN user TEXT NOT NULL DEFAULT '';
      ALTER TABLE orders ADD COLUMN host TEXT NOT NULL DEFAULT '';
      ALTER TABLE orders ADD COLUMN job TEXT NOT NULL DEFAULT '';`,
  },
  {
    /*
     * `details` is JSON: what a feed or a file says of its audio. `cost` is the estimate of an order in millionths of
     * `currency`; null where it is not known. `uploads` are the URLs that files of this machine got, by their content.
     */
    name: '016-cost',
    sql: `
      ALTER TABLE attempt_urls ADD COLUMN details TEXT NOT NULL DEFAULT '';
      ALTER TABLE files ADD COLUMN details TEXT NOT NULL DEFAULT '';
      ALTER TABLE attempts ADD COLUMN cost INTEGER;
      ALTER TABLE attempts ADD COLUMN currency TEXT NOT NULL DEFAULT '';
      CREATE INDEX attempts_by_time ON attempts (profile, started_at);

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

      CREATE TABLE uploads (
        profile TEXT NOT NULL,
        content TEXT NOT NULL,
        url TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (profile, content)
      ) WITHOUT ROWID;`,
  },
  {
    /*
     * `due_since` is the target of a file's SKU, and then the last time that the service was asked about it; empty: no
     * listener has seen it yet. `looked_at` is that time in any case. `duties`: what one listener does for all.
     */
    name: '017-look-out',
    sql: `
      ALTER TABLE files ADD COLUMN due_since TEXT NOT NULL DEFAULT '';
      ALTER TABLE files ADD COLUMN looked_at TEXT NOT NULL DEFAULT '';
      CREATE INDEX files_due ON files (profile, due_since) WHERE ended = '' AND test = 0;
      CREATE INDEX files_by_look ON files (profile, looked_at) WHERE ended = '' AND test = 0 AND due_since > '';
      DROP INDEX files_awaited;
      CREATE INDEX files_missed ON files (profile, seq) WHERE awaited = 1 AND ended = 'delivered';
      CREATE INDEX events_by_file ON events (audiofile) WHERE audiofile <> '';
      CREATE INDEX actions_failed ON actions (kind, target, event) WHERE status = 'failed';
      CREATE INDEX actions_by_run ON actions (run);
      CREATE TABLE duties (name TEXT PRIMARY KEY, run INTEGER NOT NULL) WITHOUT ROWID;`,
  },
];
