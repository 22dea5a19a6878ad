/** `order` killed at each of its steps: what it buys is bought once, and what is not known is said. */
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio } from '../support/ledger.ts';
import { setAll } from '../support/settings.ts';
import { longOnly } from '../support/slices.ts';
import { type CrashService, type Place, run, STORE } from './place.ts';
import { type Crash, sweep, TIME_LIMIT_MS } from './sweep.ts';
import { canTrace, type Step } from './traced.ts';

const orderOf = (...args: string[]): string[] => ['order', ...args, '--sku', 'TRANS14', '--quiet'];

const manifestOrder = orderOf('--from', 'manifest', '--per-order', '1', '--skip-ordered');

interface OpenAttempt {
  readonly attempt: number;
  readonly status: string;
  readonly urls: readonly string[];
}

const filesInLedger = (place: Place): string[] =>
  place.rows<{ id: string }>('SELECT id FROM files').map(({ id }) => id);

const hasOpenAttempts = (place: Place): boolean =>
  place.rows("SELECT 1 FROM purchases WHERE status IN ('sending', 'uncertain')").length > 0;

/** Every order without a known end is listed as unclear; tells the ledger what the service knows of it. */
async function settleAll(place: Place, service: CrashService): Promise<void> {
  const { stdout } = await run(place, ['attempts', '--json'], [0]);
  for (const { attempt, status, urls } of JSON.parse(stdout) as OpenAttempt[]) {
    expect(status).toBe('unclear');
    const [sold] = service.sold(urls[0] ?? '');
    const end = sold ? ['--placed', sold.order, '--file', sold.file] : ['--not-placed'];
    await run(place, ['attempts', 'settle', String(attempt), ...end], [0]);
  }
  expect(hasOpenAttempts(place)).toBe(false);
}

/** What only a run that was killed can have left: the end of the next one must find nothing. */
const leftFiles = (place: Place): string[] => [
  ...place.stateFiles(),
  ...readdirSync(join(place.user.home, 'state')).filter((name) => /^ledger\.db.*\.new/.test(name)),
];

/**
 * After an order was killed, the same line is run again. No audio is sold twice. What was printed is in the ledger.
 * What was sold is in the ledger, or is an attempt that is listed as unclear and holds up a second order of its audio
 * (9; in a manifest 10 where others were ordered) until it is settled. After that all are sold once, all are in the
 * ledger, and nothing of the run that was killed is left in the state folder.
 */
async function checkOrders(
  wanted: readonly string[],
  line: readonly string[],
  { service, place, printed }: Crash,
): Promise<void> {
  const sold = (): number[] => wanted.map((url) => service.sold(url).length);
  const before = sold();
  expect(Math.max(...before)).toBeLessThanOrEqual(1);
  for (const id of printed.stdout.split('\n').filter(Boolean)) expect(filesInLedger(place)).toContain(id);
  const isManifest = line.includes('--from');
  if (place.isShared && hasOpenAttempts(place)) {
    // Another machine can't know yet that the process is gone.
    if (!isManifest) await run(place, line, [9]);
    place.endLeases();
  }
  const again = await run(place, line, isManifest ? [0, 9, 10] : [0, 9]);
  if (hasOpenAttempts(place)) {
    expect([9, 10]).toContain(again.code);
    // What may have gone through was not sent again.
    expect(sold().every((count, at) => count <= Math.max(1, before[at] ?? 0))).toBe(true);
    await settleAll(place, service);
    await run(place, line, isManifest ? [0] : [0, 9]);
  } else if (again.code === 9) expect(before, 'only what was sold stops the next order').toEqual([1]);
  expect(sold()).toEqual(wanted.map(() => 1));
  for (const url of wanted) expect(filesInLedger(place)).toContain(service.sold(url)[0]?.file);
  expect(leftFiles(place)).toEqual([]);
}

/** The steps from the last write of the attempt to the answer on stdout. */
function aroundSending(steps: readonly Step[]): number[] {
  const sent = steps.findLastIndex(({ call, target }) => call === 'connect' && target.startsWith('tcp'));
  const told = steps.findIndex(({ target }) => target === 'stdout');
  return [sent - 1, sent, sent + 1, sent + 2, told].map((at) => at + 1);
}

const withLedger = (place: Place): Promise<unknown> => run(place, orderOf(audio('before')), [0]);

describe.skipIf(!canTrace)(`order, killed at each step, with ${STORE}`, () => {
  const url = audio('a');

  it('buys one audio once', { timeout: TIME_LIMIT_MS }, () =>
    sweep('order', {
      args: orderOf(url),
      prepare: withLedger,
      check: (crash) => checkOrders([url], orderOf(url), crash),
      slice: aroundSending,
    }),
  );

  longOnly('buys one audio once where there was no ledger', { timeout: TIME_LIMIT_MS }, () =>
    sweep('order, without a ledger', {
      args: orderOf(url),
      prepare: async () => {},
      check: (crash) => checkOrders([url], orderOf(url), crash),
    }),
  );

  longOnly(
    'buys each row of a manifest once, and not what was ordered before',
    { timeout: TIME_LIMIT_MS },
    () =>
      sweep('order --from --skip-ordered', {
        args: manifestOrder,
        prepare: async (place) => {
          await withLedger(place);
          const urls = ['before', 'a', 'b', 'c'].map(audio);
          writeFileSync(join(place.user.home, 'manifest'), urls.join('\n'));
        },
        check: async (crash) => {
          await checkOrders(['a', 'b', 'c'].map(audio), manifestOrder, crash);
          expect(crash.service.sold(audio('before'))).toEqual([]);
        },
      }),
  );

  longOnly(
    'buys a file of this machine once, and uploads it again at most once',
    {
      timeout: TIME_LIMIT_MS,
    },
    () => {
      const uploaded = 'https://up.example/talk.mp3';
      return sweep('order of a local file', {
        args: orderOf('talk.mp3'),
        prepare: async (place) => {
          await withLedger(place);
          const path = join(place.user.home, 'talk.mp3');
          writeFileSync(path, '\0\xffaudio');
          utimesSync(path, 1e9, 1e9);
          setAll(place.user, { 'upload-command': `echo "$1" >> "$HOME/uploads"; echo ${uploaded}` });
        },
        check: async (crash) => {
          await checkOrders([uploaded], orderOf('talk.mp3'), crash);
          const uploads = readFileSync(join(crash.place.user.home, 'uploads'), 'utf8').trim().split('\n');
          expect(uploads.length).toBeLessThanOrEqual(2);
        },
      });
    },
  );
});
