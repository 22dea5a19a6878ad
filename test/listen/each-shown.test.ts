/**
 * Sessions that end by --until and --count, one after the other, while deliveries come and files are found to be
 * delivered: every event is shown once, in the order of the numbers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { orderingAccount } from '../support/ledger.ts';
import { eventsOf, form, Listener } from '../support/listener.ts';
import { isLong } from '../support/slices.ts';
import { isShared } from '../support/store.ts';

const SESSIONS = isLong ? 200 : 16;
const SENDERS = 12;
const FILES_EACH = 4;
const random = (below: number): number => Math.floor(Math.random() * below);

const ENDS: ReadonlyArray<readonly string[]> = [
  ['--until', 'TRANSCRIPT_COMPLETE'],
  ['--count', '7'],
  ['--until', 'TRANSCRIPT_COMPLETE'],
  ['--count', '1'],
];

it(
  `each event is shown once and in its order, with ${isShared ? 'a shared' : 'a local'} ledger`,
  async () => {
    const { user, states } = await orderingAccount({ STENO_TEST_TICK_MS: '50' });
    const ids = Array.from({ length: SESSIONS * FILES_EACH }, (_, at) => String(at + 1));
    for (const id of ids) states.set(id, ['Transcribing']);
    for (let at = 0; at < ids.length; at += 100) {
      const urls = ids.slice(at, at + 100).map((id) => `https://example.com/${id}.mp3`);
      expect((await user.run(['order', ...urls, '--sku', 'TRANS14'])).code).toBe(0);
    }
    const shown: number[] = [];
    let answered = 0;
    const sender = async (listener: Listener, files: string[]): Promise<void> => {
      while (listener.child.exitCode === null) {
        // The file that it names turns out to be delivered.
        const body = form({ event: 'DIFFICULT_AUDIO', audiofile: files.pop() ?? 'none', order: 'o1' });
        const answer = await listener.post(body).catch(() => undefined);
        if (answer?.status === 200) answered += 1;
        await sleep(random(3));
      }
    };
    const show = async (args: readonly string[], files: string[]): Promise<number | null> => {
      for (const id of files) states.set(id, ['Delivered']);
      const listener = await Listener.start(user, ['--json', '--timeout', '20s', ...args]);
      const sending = Array.from({ length: SENDERS }, () => sender(listener, files));
      const { code } = await listener.ended;
      await Promise.all(sending);
      shown.push(...listener.json.map(({ n }) => Number(n)));
      return code;
    };
    for (let at = 0; at < SESSIONS; at += 1) {
      const files = ids.slice(at * FILES_EACH, (at + 1) * FILES_EACH);
      expect(await show(ENDS[at % ENDS.length] ?? [], files)).toBe(0);
    }
    const last = await user.run(['listen', '--port', '0', '--json', '--timeout', '2s']);
    const left = last.stdout.split('\n').filter(Boolean);
    shown.push(...left.map((line) => (JSON.parse(line) as { n: number }).n));
    const delivered = await eventsOf(user);
    const found = await eventsOf(user, '--found');
    const all = [...delivered, ...found].map(({ n }) => Number(n));
    expect(found.length).toBeGreaterThan(0);
    expect(delivered).toHaveLength(answered);
    expect(shown).toEqual(all.sort((a, b) => a - b));
  },
  SESSIONS * 15_000,
);
