/** What grows with the ledger: the same command on many files, against it on few. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Attempts } from '../../src/ledger/attempts.ts';
import { openDatabase } from '../../src/ledger/database.ts';
import { migrations } from '../../src/ledger/schema.ts';
import { type Row, run, type Subject } from './measure.ts';
import type { Env, Place } from './place.ts';

const MANY = 100_000;
const FEW = 100;
const PER_ORDER = 5;
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
] as const;

export async function ledgerRows(place: Place, wanted: (key: string) => boolean): Promise<Row[]> {
  const chosen = commands.filter(({ key }) => wanted(`many-${key}`));
  if (chosen.length === 0) return [];
  const [many, few] = [place.env(place.fresh('many')), place.env(place.fresh('few'))];
  await makeLedger(many, MANY);
  await makeLedger(few, FEW);
  return chosen.map(({ key, what, args, expect }) => {
    const on = (env: Env): Subject => run({ args: () => [place.bin, ...args()], env, expect });
    return {
      key: `many-${key}`,
      what: `${what}, on 100,000 files`,
      against: 'the same on 100 files',
      must: 1.3,
      aim: 1.1,
      subject: on(many),
      base: on(few),
    };
  });
}

let ordered = 0;
/** A URL that was never ordered before. */
function newOrder(): string[] {
  ordered += 1;
  return ['order', `https://example.com/new/${ordered}.mp3`, '--sku', 'TRANS14', '--quiet'];
}

/** A ledger with so many files, made by the code that writes real ones, five files an order. */
export async function makeLedger(env: Env, files: number): Promise<void> {
  const folder = env.STENO_STATE_DIR ?? '';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const db = await openDatabase(join(folder, 'ledger.db'), migrations);
  db.exec('PRAGMA synchronous = OFF');
  const attempts = new Attempts(db, 'default');
  for (let first = FIRST_ID; first < FIRST_ID + files; first += PER_ORDER) {
    const ids = Array.from({ length: PER_ORDER }, (_, at) => String(first + at));
    const urls = ids.map((id) => `https://example.com/talks/${id}.mp3`);
    const order = { urls, skus: ['TRANS14'], names: [], test: false };
    const attempt = attempts.begin(order, { again: true });
    if (typeof attempt !== 'number') throw new Error('the ledger refused an order');
    attempts.placed(attempt, order, { id: `o${first}`, audiofiles: ids, hold: undefined });
  }
  // One in ten is still under way.
  db.exec(`UPDATE files SET title = 'Talk ' || id, checked_at = ordered_at, changed_at = ordered_at,
    state = CASE seq % 10 WHEN 0 THEN 'Transcribing' ELSE 'Delivered' END,
    ended = CASE seq % 10 WHEN 0 THEN '' ELSE 'delivered' END,
    answer = '{"audiofile":{"id":' || id || ',"title":"Talk ' || id || '","names":"","notes":"","duration":"12"}}'`);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}
