/**
 * Brings the rows of earlier versions along: every URL gets its names, every name is claimed by the attempt that holds
 * it, and signatures are cut out of all that is kept. Reads page by page, so that a large ledger takes little memory.
 */
import { cutSignatures, withoutSignature } from '../lib/audio-identity.ts';
import { cutFormSignatures } from '../lib/form-signatures.ts';
import { isUrl } from '../lib/is-url.ts';
import type { Database } from '../lib/sqlite.ts';
import { spellingOf, storedName, urlName } from './audio-names.ts';
import { rewriteRows } from './rewrite-rows.ts';

const PAGE_ROWS = 500;

/** Columns of text that came from outside, with the key of their table. */
const texts: ReadonlyArray<readonly [table: string, key: readonly string[], columns: readonly string[]]> = [
  ['attempts', ['id'], ['detail']],
  ['orders', ['profile', 'id'], ['names', 'notes']],
  ['files', ['seq'], ['url', 'title', 'remark', 'answer']],
  ['actions', ['event', 'kind', 'target'], ['outcome']],
];

export function bringIdentitiesAlong(database: Database): void {
  nameAudios(database);
  claimNames(database);
  for (const [table, key, columns] of texts)
    rewriteRows<string>(database, { table, key, columns, where: mayHoldLink }, cutSignatures);
  const bodies = { table: 'events', key: ['id'], columns: ['body'], where: bodyMayHoldLink };
  rewriteRows<Uint8Array>(database, bodies, cutFormSignatures);
}

interface StoredUrl {
  readonly rowid: number;
  readonly attempt: number;
  readonly url: string;
}

function nameAudios(database: Database): void {
  let [attempt, position] = [0, 0];
  for (let last = 0; ; ) {
    // Rows were written attempt by attempt, in the order of the URLs.
    const page = database.all<StoredUrl>(
      `SELECT rowid, attempt, url FROM attempt_urls WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE_ROWS}`,
      last,
    );
    for (const row of page) {
      position = row.attempt === attempt ? position + 1 : 0;
      ({ attempt } = row);
      nameAudio(database, row, position);
    }
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1)?.rowid ?? 0;
  }
}

function nameAudio(database: Database, { rowid, attempt, url }: StoredUrl, position: number): void {
  const kept = withoutSignature(url);
  const name = nameOf(kept);
  database.run(
    'UPDATE attempt_urls SET position = ?, url = ?, url_key = ?, spelling = ? WHERE rowid = ?',
    position,
    kept,
    name.replace(/^url /, ''),
    spellingOf(url),
    rowid,
  );
  database.run(
    'INSERT INTO attempt_names (name, attempt, position) VALUES (?, ?, ?)',
    name,
    attempt,
    position,
  );
}

/** A URL in which a secret was masked may be one no longer; it is then its own name. */
const nameOf = (url: string): string => storedName(isUrl(url) ? urlName(url) : `url ${url}`);

/** A placed order holds a name before one whose outcome is unknown, and the latest of either: what comes last stays. */
function claimNames(database: Database): void {
  database.run(
    `INSERT INTO claims (profile, name, attempt)
     SELECT attempts.profile, attempt_names.name, attempts.id FROM attempt_names JOIN attempts ON attempts.id = attempt
     WHERE attempts.test = 0 AND attempts.status <> 'refused'
     ORDER BY attempts.status = 'placed', attempts.id
     ON CONFLICT (profile, name) DO UPDATE SET attempt = excluded.attempt`,
  );
}

/** Only a query or a password can hold what is cut. */
const mayHoldLink = (column: string): string => `instr(${column}, '?') OR instr(${column}, '@')`;
const bodyMayHoldLink = (column: string): string =>
  ["'?'", "'@'", "'%3f'", "'%3F'", "'%40'"]
    .map((text) => `instr(${column}, CAST(${text} AS BLOB))`)
    .join(' OR ');
