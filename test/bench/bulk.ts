/** Many transcripts at once, against curl fetching the same to files. */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
}

const small: Load = { count: 2000, size: 20_000 };
const large: Load = { count: 20, size: 20_000_000 };

export async function smallRows(place: Place): Promise<Row[]> {
  const limits = { against, must: 2.2, aim: 1.5, ...curlOrNot(place, small) };
  return [
    {
      ...limits,
      key: 'bulk-small',
      what: '2,000 transcripts of 20 kB, 16 at once',
      subject: await steno(place, small, false),
    },
    {
      ...limits,
      key: 'bulk-ledger',
      what: 'the same, noted in a ledger',
      subject: await steno(place, small, true),
    },
  ];
}

export async function largeRows(place: Place): Promise<Row[]> {
  return [
    {
      key: 'bulk-large',
      what: '20 transcripts of 20 MB, 16 at once',
      against,
      must: 3.8,
      aim: 2.5,
      subject: await steno(place, large, false),
      ...curlOrNot(place, large),
    },
  ];
}

async function steno(place: Place, load: Load, ledger: boolean): Promise<Subject> {
  const env = place.env(place.fresh('bulk'), place.baseUrl(load.size));
  if (ledger) await makeLedger(env, load.count);
  const ids = join(env.HOME ?? '', 'ids');
  writeFileSync(ids, idsOf(load).join('\n'));
  const into = folder(env.HOME ?? '', load);
  const args = ['transcript', '--from', ids, '--jobs', String(AT_ONCE), '-o', `${into.path}/`, '--quiet'];
  return run({ args: () => [place.bin, ...args], env, ...into });
}

function curlOrNot(place: Place, load: Load): { readonly base: Subject; readonly skipped?: string } {
  const file = installed('curl');
  if (file === undefined) return { base: { once: () => 0 }, skipped: 'curl is not installed' };
  const env = place.env(place.fresh('curl'));
  const into = folder(env.HOME ?? '', load);
  const config = join(env.HOME ?? '', 'config');
  const lines = idsOf(load).flatMap((id) => [
    `url = "${place.baseUrl(load.size)}/audiofile/${id}/transcript.txt"`,
    `output = "${into.path}/${id}.txt"`,
  ]);
  const body = JSON.stringify({ api_key: env.STENO_API_KEY }).replaceAll('"', '\\"');
  lines.push(`data = "${body}"`, 'header = "content-type: application/json"');
  writeFileSync(config, lines.join('\n'));
  const args = ['--silent', '--fail', '--parallel', '--parallel-max', String(AT_ONCE), '--config', config];
  return { base: run({ file, args: () => args, env, ...into }) };
}

const idsOf = ({ count }: Load): string[] => Array.from({ length: count }, (_, at) => String(FIRST_ID + at));

/** An empty folder before each run; after it, all that was asked for must be there, whole. */
function folder(home: string, { count, size }: Load): { path: string; before(): void; after(): void } {
  const path = join(home, 'out');
  const clear = (): void => rmSync(path, { recursive: true, force: true });
  return {
    path,
    before() {
      clear();
      mkdirSync(path);
    },
    after() {
      const names = readdirSync(path);
      const whole = names.filter((name) => statSync(join(path, name)).size === size);
      if (names.length !== count || whole.length !== count) {
        throw new Error(`${whole.length} of ${count} transcripts came whole, ${names.length} files`);
      }
      clear();
    },
  };
}
