/** `search` over 5,000 transcripts of 60 kB: to index them, to ask for a sentence, and what both take. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { migrations } from '../../src/ledger/stores/schema.ts';
import { openDatabase } from '../../src/lib/sqlite.ts';
import { makeLedger } from './ledgers.ts';
import type { Env, Place } from './place.ts';
import { noProc, type Usage, usageOf } from './usage.ts';
import type { Found, WeighedRow } from './weigh.ts';

const TABLE = '`search`, 5,000 transcripts of 60 kB';
const FIRST_ID = 100_000;
const CUES = 520;
const REPEATS = 21;

export function searchRows(place: Place, quick: boolean): WeighedRow[] {
  let indexed: Promise<Indexed> | undefined;
  const row = (key: string, what: string, must: number, unit: string, of: (it: Indexed) => Found) => ({
    ...{ key: `search-${key}`, what, must, unit, table: TABLE },
    weigh: async (): Promise<Found> => {
      if (noProc !== undefined) return { skipped: noProc };
      indexed ??= index(place, quick ? 100 : 5_000);
      return of(await indexed);
    },
  });
  const times = (one: number, other: number): Found => ({
    value: Math.round((one / other) * 100) / 100,
    note: `${Math.round(one)} against ${Math.round(other)}`,
  });
  return [
    row('index', 'indexing, over reading, hashing and FTS5 alone (processor time)', 2.5, 'times', (it) =>
      times(it.ours.milliseconds, it.bare.milliseconds),
    ),
    row('query', 'a sentence found, over `node -e 0`', 2.5, 'times', ({ env }) => query(place, env)),
    row('memory', 'peak memory of indexing', 150, 'MB', ({ ours }) => ({ value: ours.megabytes })),
    row('size', 'the index with its sentences, over the text', 2.5, 'times', (it) =>
      times(it.indexBytes, it.textBytes),
    ),
  ];
}

interface Indexed {
  readonly env: Env;
  readonly ours: Usage;
  readonly bare: Usage;
  readonly indexBytes: number;
  readonly textBytes: number;
}

/** Reads and hashes the transcripts, and gives the same words to FTS5, as plainly as it can be done. */
const bareIndex = `
  const { readFileSync, readdirSync } = require('node:fs');
  const { createHash } = require('node:crypto');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') ?? require(process.argv[1]);
  const db = new DatabaseSync('bare.db');
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE VIRTUAL TABLE t USING fts5(text, content='')");
  const insert = db.prepare('INSERT INTO t (text) VALUES (?)');
  db.exec('BEGIN');
  for (const name of readdirSync('t')) {
    createHash('sha256').update(readFileSync('t/' + name)).digest('hex');
    insert.run(readFileSync('words/' + name, 'utf8'));
  }
  db.exec('COMMIT');`;

async function index(place: Place, files: number): Promise<Indexed> {
  const env = place.env(place.fresh('search'));
  await makeLedger(env, files);
  const textBytes = await download(env, files);
  const bare = await usageOf(['-e', bareIndex, resolve('node_modules/@photostructure/sqlite')], env);
  const ours = await usageOf([place.bin, 'search', 'nowhere'], env);
  const indexBytes = statSync(join(env.STENO_STATE_DIR ?? '', 'search.db')).size;
  return { env, ours, bare, indexBytes, textBytes };
}

/** Captions of two speakers; each file has a word of its own. Gives their size. */
async function download(env: Env, files: number): Promise<number> {
  const home = env.BENCH_FOLDER ?? '';
  const folder = join(home, 't');
  for (const name of ['t', 'words']) mkdirSync(join(home, name));
  const next = randomWord();
  let bytes = 0;
  for (let at = 0; at < files; at += 1) {
    const said = Array.from({ length: CUES }, () => Array.from({ length: 12 }, next).join(' '));
    said[at % CUES] = `The needle${at} is here.`;
    const cues = said.map(
      (text, cue) => `${clock(cue)} --> ${clock(cue + 1)}\n<v Speaker ${cue % 2}>${text}.\n`,
    );
    const text = `WEBVTT\n\n${cues.join('\n')}`;
    writeFileSync(join(folder, `${FIRST_ID + at}.vtt`), text);
    writeFileSync(join(home, 'words', `${FIRST_ID + at}.vtt`), said.join('\n'));
    bytes += text.length;
  }
  const db = await openDatabase(join(env.STENO_STATE_DIR ?? '', 'ledger.db'), migrations);
  db.run(
    `INSERT INTO downloads (profile, file, ext, folder, path, path_key, bytes, at)
     SELECT profile, id, 'vtt', ?, ? || '/' || id || '.vtt', ? || '/' || id || '.vtt', 1, ordered_at FROM files`,
    ...[folder, folder, folder],
  );
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return bytes;
}

const clock = (cue: number): string =>
  `00:${String(Math.floor(cue / 12)).padStart(2, '0')}:${String((cue % 12) * 5).padStart(2, '0')}.000`;

const LETTERS = 'etaoinshrdlucmfwypvbgkjqxz';
const VOCABULARY = 30_000;

/** As often as words are in a language: the second half as often as the first, and so on. */
function randomWord(): () => string {
  const words = Array.from({ length: VOCABULARY }, (_, rank) => {
    let word = '';
    for (let left = rank + 1; left > 0; left = Math.floor(left / 9))
      word += LETTERS[(left * 7 + word.length) % 26];
    return word.padEnd(3, 'e');
  });
  let seed = 1;
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return words[Math.floor(VOCABULARY ** (seed / 2_147_483_648)) - 1] ?? 'the';
  };
}

function query(place: Place, env: Env): Found {
  const timed = (args: readonly string[], expect: RegExp): number => {
    const begun = performance.now();
    const { stdout } = spawnSync(process.execPath, args, { env, cwd: env.BENCH_FOLDER, encoding: 'utf8' });
    if (!expect.test(stdout)) throw new Error(`${args.join(' ')}: ${stdout.slice(0, 200)}`);
    return performance.now() - begun;
  };
  const middle = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < REPEATS; round += 1) {
    bare.push(timed(['-e', '0'], /^$/));
    ours.push(timed([place.bin, 'search', `needle${round + 7}`], /is here/));
  }
  return {
    value: Math.round((middle(ours) / middle(bare)) * 100) / 100,
    note: `${Math.round(middle(ours))} ms, at least ${Math.round(Math.min(...ours))} of ${Math.round(Math.min(...bare))}`,
  };
}
