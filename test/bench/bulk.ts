/** Many transcripts at once, against curl fetching the same to files. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeLedger } from './ledgers.ts';
import { type Row, run, type Subject } from './measure.ts';
import { installed, type Place } from './place.ts';

const AT_ONCE = 16;
const FIRST_ID = 100_000;
const against = '`curl --parallel --parallel-max 16`';

interface Load {
  readonly count: number;
  readonly size: number;
  /** How long the service takes to answer. */
  readonly waitsMs?: number;
}

const small: Load = { count: 2000, size: 20_000 };
/** As real services do. */
const slow: Load = { ...small, waitsMs: 20 };
const large: Load = { count: 20, size: 20_000_000 };

export const smallKeys = ['bulk-small', 'bulk-ledger', 'bulk-slow'];

/**
 * On a disk where thousands of files were deleted in the last minutes, as each run does with its folder. On ext4 that
 * makes new files dear for everybody: an inode that was freed lately is not used again, and each new file walks past
 * them all. That is how the limits were measured, so it is brought about before the first run.
 */
export async function smallRows(place: Place): Promise<Row[]> {
  // All in one place, for a new folder elsewhere may lie in a part of the disk that is better or worse off.
  const home = place.fresh('small');
  for (let time = 0; time < 30; time += 1) makeAndDelete(home, small.count);
  return [
    {
      key: 'bulk-small',
      what: '2,000 transcripts of 20 kB, 16 at once',
      must: 1.8,
      aim: 1.4,
      ...(await both(place, small, { home })),
    },
    {
      key: 'bulk-slow',
      what: 'the same from a service that takes 20 ms to answer',
      must: 1.12,
      aim: 1.05,
      ...(await both(place, slow, { home })),
    },
    {
      key: 'bulk-ledger',
      what: 'the same, noted in a ledger',
      ...(await both(place, small, { ledger: true, home })),
    },
  ];
}

/** The same where a new file costs nothing at all: in memory, as far as the system has a folder there. */
export async function memoryRows(place: Place): Promise<Row[]> {
  const home = place.inMemory();
  const skipped = home === undefined ? { skipped: 'there is no /dev/shm' } : {};
  const subject = await steno(place, small, { home });
  return [
    {
      key: 'bulk-memory',
      what: '2,000 transcripts of 20 kB, 16 at once, to a folder in memory',
      against,
      subject,
      ...curlOrNot(place, small, home),
      ...skipped,
    },
  ];
}

function makeAndDelete(home: string, files: number): void {
  const folder = mkdtempSync(join(home, 'deleted-'));
  for (let at = 0; at < files; at += 1) writeFileSync(join(folder, String(at)), '');
  rmSync(folder, { recursive: true });
}

export async function largeRows(place: Place): Promise<Row[]> {
  return [
    {
      key: 'bulk-large',
      what: '20 transcripts of 20 MB, 16 at once',
      must: 3.8,
      aim: 2.5,
      ...(await both(place, large)),
    },
  ];
}

interface How {
  readonly ledger?: boolean;
  /** Where it goes, if not to a place of its own. */
  readonly home?: string | undefined;
}

type Compared = Pick<Row, 'against' | 'subject' | 'base' | 'skipped'>;

async function both(place: Place, load: Load, how: How = {}): Promise<Compared> {
  return { against, subject: await steno(place, load, how), ...curlOrNot(place, load, how.home) };
}

async function steno(place: Place, load: Load, { ledger, home }: How): Promise<Subject> {
  const env = place.env(place.fresh('bulk'), place.baseUrl(load.size, load.waitsMs));
  if (ledger) await makeLedger(env, load.count);
  const ids = join(env.BENCH_FOLDER ?? '', 'ids');
  writeFileSync(ids, idsOf(load).join('\n'));
  const into = new Folder(home ?? env.BENCH_FOLDER ?? '', load);
  const args = [place.bin, 'transcript', '--from', ids, '--jobs', String(AT_ONCE), '--quiet'];
  return run({ args: () => [...args, '-o', `${into.path}/`], env, ...into.around });
}

const curls = new Map<string, Subject>();

/** Rows that are measured in the same way share one curl. */
function curlOrNot(place: Place, load: Load, home?: string): Pick<Row, 'base' | 'skipped'> {
  const file = installed('curl');
  if (file === undefined) return { base: { once: () => 0 }, skipped: 'curl is not installed' };
  const key = JSON.stringify([load, home]);
  const base = curls.get(key) ?? curl(place, file, load, home);
  curls.set(key, base);
  return { base };
}

function curl(place: Place, file: string, load: Load, home?: string): Subject {
  const env = place.env(place.fresh('curl'));
  const into = new Folder(home ?? env.BENCH_FOLDER ?? '', load);
  const config = join(env.BENCH_FOLDER ?? '', 'config');
  const lines = idsOf(load).flatMap((id) => [
    `url = "${place.baseUrl(load.size, load.waitsMs)}/audiofile/${id}/transcript.txt"`,
    `output = "${id}.txt"`,
  ]);
  const body = JSON.stringify({ api_key: env.STENO_API_KEY }).replaceAll('"', '\\"');
  lines.push(`data = "${body}"`, 'header = "content-type: application/json"');
  writeFileSync(config, lines.join('\n'));
  const args = ['--silent', '--fail', '--parallel', '--parallel-max', String(AT_ONCE), '--config', config];
  return run({ file, args: () => [...args, '--output-dir', into.path], env, ...into.around });
}

const idsOf = ({ count }: Load): string[] => Array.from({ length: count }, (_, at) => String(FIRST_ID + at));

/** A new empty folder for each run; after it, all that was asked for must be there, whole. */
class Folder {
  readonly #home: string;
  readonly #load: Load;
  path = '';

  constructor(home: string, load: Load) {
    this.#home = home;
    this.#load = load;
  }

  get around(): { before(): void; after(): void } {
    return { before: () => this.#before(), after: () => this.#after() };
  }

  #before(): void {
    this.path = mkdtempSync(join(this.#home, 'out-'));
  }

  #after(): void {
    const { count, size } = this.#load;
    const names = readdirSync(this.path);
    const whole = names.filter((name) => statSync(join(this.path, name)).size === size);
    if (names.length !== count || whole.length !== count) {
      throw new Error(`${whole.length} of ${count} transcripts came whole, ${names.length} files`);
    }
    rmSync(this.path, { recursive: true });
  }
}
