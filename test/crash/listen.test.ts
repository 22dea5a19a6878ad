/** `listen` killed at each step: every event that was answered is kept, once, and is acted on. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { audio } from '../support/ledger.ts';
import { complete, FORM, Listener } from '../support/listener.ts';
import { longOnly } from '../support/slices.ts';
import { until } from '../support/until.ts';
import { contentOf, filesBelow, type Place, run, STORE, transcriptText } from './place.ts';
import { type Crash, sweep, TIME_LIMIT_MS } from './sweep.ts';
import { canTrace } from './traced.ts';

const IDS = ['1', '2', '3'];
/** Its event comes to the listener after the one that was killed. */
const NEXT = '4';

/** Each command is one line of a file: what it was told. */
const OPTIONS = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> "$HOME/done"', '--download', 'out', '--quiet'];
const listen = ['listen', '--port', '0', ...OPTIONS];

/** The files that commands were run for, with repeats. */
function done({ user }: Place): string[] {
  const path = join(user.home, 'done');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

const transcripts = ({ user }: Place): string[] =>
  existsSync(join(user.home, 'out')) ? filesBelow(join(user.home, 'out')) : [];

const isAllDone = (place: Place): boolean =>
  new Set(done(place)).size === IDS.length && IDS.every((id) => transcripts(place).includes(`${id}.txt`));

/** Gives whether it was answered with 200. */
const deliver = (url: string, id: string): Promise<boolean> =>
  new Promise((answered) => {
    const headers = { 'content-type': FORM };
    const call = request(url, { method: 'POST', agent: false, headers }, (response) => {
      answered(response.statusCode === 200);
      response.resume().on('error', () => {});
    });
    call.on('error', () => answered(false)).end(complete(id));
  });

/** The events of the last run that were answered. */
let answered: string[] = [];

/** Sends an event alone and two at once, waits until all is done about them, and ends the listener. */
async function sendEvents(child: ChildProcessWithoutNullStreams, place: Place): Promise<void> {
  answered = [];
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await until(
    () => isOver() || /^listening on /m.test(stderr),
    () => stderr,
  );
  const url = /^listening on (\S+)$/m.exec(stderr)?.[1];
  if (url === undefined) return;
  const send = async (id: string): Promise<void> => {
    if (await deliver(url, id)) answered.push(id);
  };
  const [first = '', ...others] = IDS;
  await send(first);
  await Promise.all(others.map(send));
  await until(
    () => isOver() || isAllDone(place),
    () => stderr,
  );
  child.kill('SIGINT');
}

/**
 * After the listener was killed and another one was started with the same options, which got one more event: every
 * event that was answered is in the ledger once, and none is there that was not sent. Its command has run, and its
 * transcript is there, whole. A command runs a second time only where the crash left its end unknown, so no event has
 * more than two. When the second listener has ended, nothing waits.
 */
async function checkEvents({ place }: Crash): Promise<void> {
  place.endLeases();
  const kept = (): string[] =>
    place
      .rows<{ audiofile: string }>('SELECT audiofile FROM events')
      .map(({ audiofile }) => audiofile)
      .sort();
  const listener = await Listener.start(place.user, OPTIONS);
  expect(await deliver(listener.url, NEXT)).toBe(true);
  await listener.until(() => [...answered, NEXT].every((id) => kept().includes(id)));
  const pending = "SELECT 1 FROM actions WHERE status = 'pending'";
  await listener.until(() => place.rows(pending).length === 0 && place.waiting() === 0);
  await listener.until(() => !transcripts(place).some((path) => path.endsWith('.steno-part')));
  await listener.stop();
  expect(kept()).toEqual([...new Set(kept())]);
  for (const id of kept()) {
    expect([...IDS, NEXT]).toContain(id);
    expect([1, 2]).toContain(done(place).filter((each) => each === id).length);
    expect(contentOf(place.user.home, 'out', `${id}.txt`) === transcriptText(id, 'txt')).toBe(true);
  }
  expect(transcripts(place)).toEqual(kept().map((id) => `${id}.txt`));
  expect(place.waiting()).toBe(0);
  expect(place.stateFiles()).toEqual([]);
}

describe.skipIf(!canTrace)(`listen, killed at each step, with ${STORE}`, () => {
  longOnly('keeps every event that it answered', { timeout: TIME_LIMIT_MS }, () =>
    sweep('listen', {
      args: listen,
      prepare: (place) => run(place, ['order', ...[...IDS, NEXT].map(audio), '--sku', 'TRANS14'], [0]),
      during: sendEvents,
      check: checkEvents,
    }),
  );
});
