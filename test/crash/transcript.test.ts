/** `transcript` and `sync` killed at each step: a transcript is whole or not there, and known once it is there. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio } from '../support/ledger.ts';
import { longOnly } from '../support/slices.ts';
import { contentOf, filesBelow, type Place, run, STORE, transcriptText } from './place.ts';
import { type Crash, sweep, TIME_LIMIT_MS } from './sweep.ts';
import { canTrace, type Step } from './traced.ts';

interface Wanted {
  readonly id: string;
  readonly ext: string;
  /** Below the home. */
  readonly path: string;
}

const wantedIn = (folder: string, ids: readonly string[], formats: readonly string[]): Wanted[] =>
  ids.flatMap((id) => formats.map((ext) => ({ id, ext, path: join(folder, `${id}.${ext}`) })));

/** The paths of the transcripts that the ledger calls downloaded. */
const noted = ({ user, rows }: Place): string[] =>
  rows<{ path: string }>('SELECT path FROM downloads')
    .map(({ path }) => path.slice(user.home.length + 1))
    .sort();

const isHidden = (path: string): boolean => path.includes('.steno-part');

/** Whatever has the name of a transcript is that transcript, whole. */
function checkWhole(place: Place, wanted: readonly Wanted[]): void {
  for (const { id, ext, path } of wanted) {
    if (!existsSync(join(place.user.home, path))) continue;
    expect(contentOf(place.user.home, path) === transcriptText(id, ext), `${path} is whole`).toBe(true);
  }
}

/**
 * After it was killed: what has its final name is whole, and what is noted is there. The same work once more ends well,
 * without a word about files that it does not know. After that all are there, whole and noted, nothing hidden is left,
 * and a third run fetches nothing.
 */
async function checkDownloads(
  wanted: readonly Wanted[],
  again: readonly string[],
  { place, service }: Crash,
): Promise<void> {
  const paths = wanted.map(({ path }) => path).sort();
  checkWhole(place, wanted);
  for (const path of noted(place)) expect(filesBelow(place.user.home)).toContain(path);
  const { stderr } = await run(place, again, [0]);
  expect(stderr).not.toMatch(/already exists/);
  checkWhole(place, wanted);
  const found = filesBelow(place.user.home).filter((path) => paths.includes(path) || isHidden(path));
  expect(found).toEqual(paths);
  expect(noted(place)).toEqual(paths);
  service.begin();
  await run(place, again, [0]);
  expect(service.service.got.filter(({ path }) => path.includes('transcript'))).toEqual([]);
}

/** Orders audios, whose files get the ids 1, 2 and so on. */
const orderFiles = (place: Place, names: readonly string[]): Promise<unknown> =>
  run(place, ['order', ...names.map(audio), '--sku', 'TRANS14'], [0]);

/** The same, and learns that they are delivered. */
async function deliveredFiles(place: Place, names: readonly string[]): Promise<void> {
  await orderFiles(place, names);
  await run(place, ['files', '--refresh'], [0]);
}

/** The steps from the sync of the transcript to its note in the ledger. */
function aroundNaming(steps: readonly Step[]): number[] {
  const named = steps.findIndex(({ call }) => /^link/.test(call));
  return [named, named + 1, named + 2].map((at) => at + 1);
}

describe.skipIf(!canTrace)(`downloads, killed at each step, with ${STORE}`, () => {
  it('transcript of one file', { timeout: TIME_LIMIT_MS }, () => {
    const wanted = [{ id: '1', ext: 'txt', path: 'one.txt' }];
    const line = ['transcript', '1', '-o', 'one.txt', '--quiet'];
    return sweep('transcript', {
      args: line,
      prepare: (place) => deliveredFiles(place, ['a']),
      check: (crash) => checkDownloads(wanted, [...line, '--skip-existing'], crash),
      slice: aroundNaming,
    });
  });

  longOnly('transcript of several files in two formats', { timeout: TIME_LIMIT_MS }, () => {
    const line = ['transcript', '1', '2', '--format', 'txt,docx', '-o', 'out/', '--quiet'];
    return sweep('transcript of several', {
      args: line,
      prepare: (place) => deliveredFiles(place, ['a', 'b']),
      check: (crash) =>
        checkDownloads(wantedIn('out', ['1', '2'], ['txt', 'docx']), [...line, '--skip-existing'], crash),
    });
  });

  longOnly('sync of several files in two formats', { timeout: TIME_LIMIT_MS }, () => {
    const line = ['sync', '--download', 'out', '--format', 'txt,docx', '--quiet'];
    return sweep('sync', {
      args: line,
      prepare: (place) => orderFiles(place, ['a', 'b']),
      check: async (crash) => {
        await checkDownloads(wantedIn('out', ['1', '2'], ['txt', 'docx']), line, crash);
        const open = crash.place.rows("SELECT id FROM files WHERE ended IS DISTINCT FROM 'delivered'");
        expect(open, 'every file is known to be delivered').toEqual([]);
      },
    });
  });
});
