/** Ledgers in which very much waits, made quickly; as the program would have left them. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../src/ledger/stores/schema.ts';
import { openDatabase } from '../../src/lib/sqlite.ts';
import type { Env } from './place.ts';

export interface Crowd {
  readonly openFiles: number;
  /** How many of them, the last ones, are past the target of their SKU. */
  readonly due: number;
  /** Events that a listener which was killed has left to forward. */
  readonly actions: number;
}

/** The target of those actions. Nothing listens there, or a server of the benchmark. */
export interface CrowdTarget {
  readonly kind: string;
  readonly target: string;
}

/** Files are numbered from 1. */
const sqlFor = ({ openFiles, due, actions }: Crowd, { kind, target }: CrowdTarget): string => `
  CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${Math.max(openFiles, actions)}) SELECT i FROM n;
  INSERT INTO purchases (id, profile, kind, outcome, named, status, order_id, test, started_at, skus)
    SELECT 'p' || i, 'default', 'order', 'placed', 'o' || i, 'placed', 'o' || i, 0, '2026-01-01T00:00:00.000Z', 'TRANS14' FROM n WHERE i <= 1 + ${openFiles} / 100;
  INSERT INTO files (profile, id, purchase, order_id, link, test, state, ordered_at)
    SELECT 'default', CAST(i AS TEXT), 'p' || (1 + i / 100), 'o' || (1 + i / 100), 'https://example.com/talks/' || i || '.mp3', 0, 'Transcribing',
      strftime('%Y-%m-%dT%H:%M:%fZ', 'now', iif(i > ${openFiles - due}, '-15 days', '-1 days'), (i % 3600) || ' seconds')
    FROM n WHERE i <= ${openFiles};
  INSERT INTO runs (id, profile, host, pid, started_at, seen_at, ended_at)
    VALUES (1, 'default', 'gone', 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');
  INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
    SELECT i, 'default', 'received', '2026-01-01T00:00:00.000Z', '127.0.0.1', 'application/x-www-form-urlencoded',
      CAST('webhook_version=4&event=TRANSCRIPT_COMPLETE&audiofile=e' || i AS BLOB), 'TRANSCRIPT_COMPLETE', '4', 'e' || i, ''
    FROM n WHERE i <= ${actions};
  INSERT INTO actions (event, kind, target, run, status, updated_at, since, is_unknown)
    SELECT i, '${kind}', '${target}', 1, 'pending', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1 FROM n WHERE i <= ${actions};`;

export async function makeCrowdedLedger(env: Env, crowd: Crowd, target: CrowdTarget): Promise<void> {
  const folder = env.STENO_STATE_DIR ?? '';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'ledger.db');
  const db = await openDatabase(path, migrations);
  db.exec('PRAGMA synchronous = OFF');
  db.transaction(() => db.exec(sqlFor(crowd, target)));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  // What the disk has still to take would be waited for by the first listener that syncs the file.
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

const PAST = "'2026-01-01T00:00:00.000Z'";

/** The same for a shared ledger whose tables are there: one statement after the other. */
export const sharedCrowd = ({ openFiles, due, actions }: Crowd, { kind, target }: CrowdTarget): string[] => [
  `INSERT INTO steno.purchases (id, profile, kind, outcome, named, status, order_id, test, started_at, skus)
     SELECT 'p' || i, 'default', 'order', 'placed', 'o' || i, 'placed', 'o' || i, 0, ${PAST}, 'TRANS14' FROM generate_series(1, ${1 + openFiles / 100}) AS i`,
  `INSERT INTO steno.files (profile, id, purchase, order_id, link, test, state, ordered_at)
     SELECT 'default', i::text, 'p' || (1 + i / 100), 'o' || (1 + i / 100), 'https://example.com/talks/' || i || '.mp3', 0, 'Transcribing',
       to_char((now() - CASE WHEN i > ${openFiles - due} THEN interval '15 days' ELSE interval '1 day' END)
         AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
     FROM generate_series(1, ${openFiles}) AS i`,
  `INSERT INTO steno.runs (id, profile, host, pid, started_at, seen_at, ended_at)
     OVERRIDING SYSTEM VALUE VALUES (1000000, 'default', 'gone', 1, ${PAST}, ${PAST}, ${PAST})`,
  `INSERT INTO steno.events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
     OVERRIDING SYSTEM VALUE
     SELECT i, 'default', 'received', ${PAST}, '127.0.0.1', 'application/x-www-form-urlencoded',
       ('webhook_version=4&event=TRANSCRIPT_COMPLETE&audiofile=e' || i)::bytea, 'TRANSCRIPT_COMPLETE', '4', 'e' || i, ''
     FROM generate_series(1, ${actions}) AS i`,
  `INSERT INTO steno.actions (event, kind, target, run, status, updated_at, since, is_unknown)
     SELECT i, '${kind}', '${target}', 1000000, 'pending', ${PAST}, ${PAST}, 1 FROM generate_series(1, ${actions}) AS i`,
  `SELECT setval(pg_get_serial_sequence('steno.events', 'id'), ${actions})`,
  ...['files', 'purchases', 'events', 'actions'].map((table) => `VACUUM ANALYZE steno.${table}`),
  'CHECKPOINT',
];
