/** An archive of recordings, by a script of six lines: nothing is skipped in silence, and one bad recording blocks no other. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parseCsv } from '../support/csv.ts';
import { freshFolder } from '../support/files.ts';
import { installedTools } from '../support/readme.ts';
import { sliceOf } from '../support/slices.ts';
import { finished, type Result, User } from '../support/steno.ts';

/** Where recordings lie; one in six is behind a link. */
const places = ['2024/talks', '2025/talks', '2025/panels', '.old/2019', 'with space/ünïcode'];

interface Archive {
  readonly folder: string;
  readonly good: number;
  readonly bad: readonly string[];
}

/** Of 25 recordings, the service cannot fetch one. */
function archiveOf(count: number): Archive {
  const folder = freshFolder();
  const elsewhere = freshFolder();
  symlinkSync(elsewhere, join(folder, 'linked'));
  const bad: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const isBad = n % 25 === 7;
    const place = places[n % (places.length + 1)] ?? 'linked';
    const name = `${isBad ? 'unfetchable' : 'talk'} ${n}.mp3`;
    const path = place === 'linked' ? join(elsewhere, name) : join(folder, place, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, randomBytes(2_000));
    if (isBad) bad.push(join(place, name));
  }
  return { folder, good: count - bad.length, bad };
}

/** The bucket: it keeps nothing, and names each object after its content. */
const UPLOAD = `#!/bin/sh
case $1 in *unfetchable*) word=unfetchable;; *) word=talk;; esac
echo "https://bucket.example/$word-$(cksum < "$1" | tr ' ' -).mp3?minutes=2"
`;

function archivist(): { user: User; run: (folder: string) => Promise<Result> } {
  const user = new User({ STENO_PROFILE: 'sandbox', STENO_LEDGER: undefined });
  user.env.PATH = [installedTools(), user.env.PATH].join(delimiter);
  copyFileSync('test/jobs/archive.sh', join(user.home, 'archive.sh'));
  writeFileSync(join(user.home, 'upload'), UPLOAD, { mode: 0o755 });
  const run = (folder: string): Promise<Result> =>
    finished(spawn('bash', ['archive.sh', folder], { cwd: user.home, env: user.env }));
  return { user, run };
}

it.each(sliceOf([150, 5_000], 2))('of %i recordings', { timeout: 600_000 }, async (count) => {
  const script = readFileSync('test/jobs/archive.sh', 'utf8').trim().split('\n');
  expect(script.length).toBeLessThanOrEqual(18);
  const { folder, good, bad } = archiveOf(count);
  const { user, run } = archivist();
  const balance = async (): Promise<number> => Number((await user.run(['balance'])).stdout);
  const before = await balance();
  await run(folder);
  const failed = readFileSync(join(user.home, 'failed.txt'), 'utf8');
  for (const path of bad) expect(failed).toContain(path);
  await user.run(['sandbox', 'advance', '--by', '7d']);
  const last = await run(folder);
  expect(last.code, last.stderr).toBe(0);
  const files = JSON.parse((await user.run(['files', '--json'])).stdout);
  expect(files).toHaveLength(good);
  expect(new Set(files.map(({ source }: { source: string }) => source)).size).toBe(good);
  const text = finished(spawn('sh', ['-c', 'find transcripts -type f | wc -l'], { cwd: user.home }));
  expect(Number((await text).stdout)).toBe(good);
  const [header = [], ...rows] = parseCsv(readFileSync(join(user.home, 'cost.csv'), 'utf8'));
  const costs = rows.map((row) => ['tag', 'spent', 'files'].map((name) => row[header.indexOf(name)]));
  expect(costs).toEqual([['archive', (before - (await balance())).toFixed(2), String(good)]]);
});
