/** What grows with the ledger: the same command on many files, against it on few. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../src/ledger/stores/schema.ts';
import { Waiting } from '../../src/ledger/waiting.ts';
import { openDatabase } from '../../src/lib/sqlite.ts';
import { type Row, run, type Subject } from './measure.ts';
import type { Env, Place } from './place.ts';

const MANY = 100_000;
const FEW = 100;
const FIRST_ID = 100_000;

const commands = [
  { key: 'files', what: '`files`, first page', args: () => ['files', '--limit', '50'], expect: /^\d/ },
  { key: 'order', what: '`order`', args: () => newOrder(), expect: /^\d/ },
  {
    key: 'completion',
    what: 'completion of an id',
    args: () => ['__complete', 'audiofile', '1'],
    expect: /^1/,
  },
  { key: 'budget', what: '`budget`', args: () => ['budget'], expect: /^1000000/ },
  { key: 'log', what: '`log`', args: () => ['log', '--limit', '50'], expect: /order/ },
] as const;

export async function ledgerRows(place: Place, wanted: (key: string) => boolean): Promise<Row[]> {
  return [...(await grownRows(place, wanted)), ...(wanted('sync-missing') ? [await missingRow(place)] : [])];
}

async function grownRows(place: Place, wanted: (key: string) => boolean): Promise<Row[]> {
  const chosen = commands.filter(({ key }) => wanted(`many-${key}`));
  if (chosen.length === 0) return [];
  const on = async (files: number): Promise<Env> => {
    const env = place.env(place.fresh(`files-${files}`));
    await makeLedger(env, files);
    return env;
  };
  const [many, few] = [await on(MANY), await on(FEW)];
  return chosen.map(({ key, what, args, expect }) => {
    const more = key === 'budget' ? { STENO_BUDGET: '1000000/year' } : {};
    const timed = (env: Env): Subject =>
      run({ args: () => [place.bin, ...args()], env: { ...env, ...more }, expect });
    return {
      key: `many-${key}`,
      what: `${what}, on 100,000 files`,
      against: 'the same on 100 files',
      must: 1.3,
      aim: 1.1,
      subject: timed(many),
      base: timed(few),
    };
  });
}

const DOWNLOADED = 20_000;

/** All that was downloaded is there. */
async function missingRow(place: Place): Promise<Row> {
  const env = place.env(place.fresh('missing'));
  const folder = join(env.BENCH_FOLDER ?? '', 'downloaded');
  await makeLedger(env, DOWNLOADED);
  mkdirSync(folder);
  for (let at = 0; at < DOWNLOADED; at += 1)
    writeFileSync(join(folder, `${FIRST_ID + at}.txt`), `Talk ${FIRST_ID + at}`);
  const db = await openDatabase(join(env.STENO_STATE_DIR ?? '', 'ledger.db'), migrations);
  db.exec("UPDATE files SET state = 'Delivered', ended = 'delivered'");
  db.run(
    `INSERT INTO downloads (profile, file, ext, folder, path, path_key, bytes, at)
     SELECT profile, id, 'txt', ?, ? || '/' || id || '.txt', ? || '/' || id || '.txt', length('Talk ' || id), ordered_at FROM files`,
    ...[folder, folder, folder],
  );
  db.close();
  const readSizes = `const { readdirSync, statSync } = require('node:fs');
    let bytes = 0;
    for (const name of readdirSync('downloaded')) bytes += statSync('downloaded/' + name).size;
    console.log(bytes);`;
  const args = (): string[] => [place.bin, 'sync', '--download', 'downloaded', '--missing', '--json'];
  return {
    key: 'sync-missing',
    what: '`sync --missing`, with 20,000 files that are there',
    against: 'reading their sizes',
    must: 1.5,
    subject: run({ args, env, expect: /^\[\]/ }),
    base: run({ args: () => ['-e', readSizes], env, expect: /^\d/ }),
  };
}

let ordered = 0;
/** A URL that was never ordered before. */
function newOrder(): string[] {
  ordered += 1;
  return ['order', `https://example.com/new/${ordered}.mp3`, '--sku', 'TRANS14', '--quiet'];
}

/** An order for each file, of today and the day before; one file in ten is still under way. */
const fill = (files: number, allOpen: boolean): string => `
  CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT ${files}) SELECT i FROM n;
  CREATE TEMP TABLE new AS SELECT 'default' AS profile, CAST(${FIRST_ID} + i AS TEXT) AS id, 'o' || i AS order_id,
    i + 1 AS number, i, 'https://example.com/talks/' || i || '.mp3' AS url, ${allOpen ? 1 : 'i % 10 = 0'} AS open,
    strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (i - ${files}) || ' seconds') AS at FROM n;
  INSERT INTO purchases (id, number, profile, kind, outcome, named, status, order_id, test, started_at, ended_at, skus)
    SELECT 'p' || order_id, number, profile, 'order', 'placed', order_id, 'placed', order_id, 0, at, at, 'TRANS14'
    FROM new;
  INSERT INTO purchase_items (purchase, position, profile, url, url_key, file, audio, known, counted_at, estimate, currency)
    SELECT 'p' || order_id, 0, profile, url, 'url ' || url, id, 0, 1, at, 1000000, 'USD' FROM new;
  INSERT INTO files (profile, id, purchase, order_id, link, test, state, ended, title, ordered_at, changed_at, checked_at, answer)
    SELECT profile, id, 'p' || order_id, order_id, url, 0, iif(open, 'Transcribing', 'Delivered'), iif(open, '', 'delivered'),
      'Talk ' || id, at, at, at, '{"audiofile":{"id":' || id || ',"title":"Talk ' || id || '","duration":"12"}}' FROM new;`;

/** A ledger with this number of files, as the program would have left it. */
export async function makeLedger(env: Env, files: number, allOpen = false): Promise<void> {
  const folder = env.STENO_STATE_DIR ?? '';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const db = await openDatabase(join(folder, 'ledger.db'), migrations);
  db.transaction(() => db.exec(fill(files, allOpen)));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** How many events are kept: in the ledger, or on their way there. */
export async function keptEvents(env: Env): Promise<number> {
  const state = env.STENO_STATE_DIR ?? '';
  const arrivals = await new Waiting(join(state, 'waiting.db'), 'default').events();
  const db = await openDatabase(join(state, 'ledger.db'), migrations);
  const found = db.get<{ n: number }>('SELECT count(*) AS n FROM events');
  const moved = db.get<{ n: number }>(
    'SELECT count(*) AS n FROM events WHERE arrival IN (SELECT value FROM json_each(?))',
    JSON.stringify(arrivals.map(({ id }) => id)),
  );
  db.close();
  return (found?.n ?? 0) + arrivals.length - (moved?.n ?? 0);
}
