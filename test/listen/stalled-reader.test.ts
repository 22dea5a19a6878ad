/** What `listen` prints is not read, by a pipe or a terminal: it goes on receiving, and ends when it is told to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { complete, eventsOf, form, isGone, Listener, send } from '../support/listener.ts';
import { peakMemoryOf, tellsMemory } from '../support/memory.ts';
import { User } from '../support/steno.ts';
import { Terminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const KILOBYTE = 1024;
const MEGABYTE = KILOBYTE * KILOBYTE;

/** More than all buffers between the program and a reader that stalls. */
const large = (id: number): string => `${complete(String(id))}&text=${'x'.repeat(200 * KILOBYTE)}`;

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n + 1));

/** Several at once, so that a busy machine needs no minute for them. */
async function sendMany(url: string, count: number, body = large, atOnce = 8): Promise<void> {
  for (let id = 1; id <= count; id += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - id + 1) }, (_, n) => send(url, body(id + n)));
    for (const { status } of await Promise.all(batch)) expect(status).toBe(200);
  }
}

/** Its end, within seconds: its code, or null where it had to be killed. */
async function endOf(listener: Listener): Promise<number | null> {
  const timer = setTimeout(() => listener.child.kill('SIGKILL'), 8_000);
  const code = await new Promise<number | null>((done) => void listener.child.once('exit', done));
  clearTimeout(timer);
  return code;
}

describe('a pipe that is not read', () => {
  it.runIf(tellsMemory)(
    'gets every line later, in order and once, and no memory is filled meanwhile',
    async () => {
      const listener = await Listener.start(new User(), ['--json']);
      await sendMany(listener.url, 1, () => complete('0'));
      await listener.until(() => listener.lines.length === 1);
      // Counted as they come: to split a hundred megabytes again and again takes longer than the test.
      let lines = 1;
      listener.child.stdout.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', at + 1)) lines += 1;
      });
      listener.child.stdout.pause();
      await sendMany(listener.url, 30);
      const before = peakMemoryOf(listener.child.pid);
      await sendMany(listener.url, 500);
      // Less than what was sent since.
      expect(peakMemoryOf(listener.child.pid) - before).toBeLessThan(70 * MEGABYTE);
      listener.child.stdout.resume();
      await listener.until(() => lines === 531);
      expect(listener.json.map(({ n }) => String(n))).toEqual(ids(531));
      expect((await listener.stop()).code).toBe(130);
    },
  );

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('does not hold up the end by %s', async (signal, code) => {
    const user = new User();
    const listener = await Listener.start(user, ['--json']);
    listener.child.stdout.pause();
    await sendMany(listener.url, 20);
    const ended = new Promise((done) => void listener.child.once('exit', done));
    listener.child.kill(signal);
    expect(await Promise.race([ended, sleep(8_000, 'still running', { ref: false })])).toBe(code);
    listener.child.stdout.resume();
    expect((await listener.ended).stderr).toMatch(/20 events left for the next listen to show/);
    expect(await eventsOf(user)).toHaveLength(20);
  });

  it('gets all that came before --count ended it, however late it is read', async () => {
    const listener = await Listener.start(new User(), ['--json', '--count', '20']);
    listener.child.stdout.pause();
    await sendMany(listener.url, 20);
    await sleep(1_500);
    listener.child.stdout.resume();
    expect((await listener.ended).code).toBe(0);
    expect(listener.json.map(({ n }) => String(n))).toEqual(ids(20));
  });

  it('does not keep a listener that is over from being ended', async () => {
    const listener = await Listener.start(new User(), ['--json', '--count', '20']);
    listener.child.stdout.pause();
    await sendMany(listener.url, 20);
    await until(
      () =>
        send(listener.url, complete('late'))
          .then(() => false)
          .catch(() => true),
      'the end of receiving',
    );
    listener.child.kill('SIGTERM');
    expect(await endOf(listener)).toBe(143);
  });

  it('of messages leaves some of them out, and says so', async () => {
    const listener = await Listener.start(new User(), ['--quiet', '--exec', 'yes | head -c 300000']);
    listener.child.stderr.pause();
    for (let id = 1; id <= 8; id += 1) await listener.post(complete(String(id)));
    await sleep(1_500);
    listener.child.stderr.resume();
    await listener.until(async () => {
      await listener.post(complete('more'));
      await sleep(200);
      return /messages? left out here/.test(listener.stderr);
    });
    expect((await listener.stop()).code).toBe(130);
  });
});

describe('a terminal that is stopped', () => {
  const line = (id: number): string => form({ event: 'NOTE', audiofile: `id-${id}.`, text: 'y'.repeat(150) });

  async function stalled(
    user: User,
    count: number,
    atOnce = 8,
  ): Promise<{ terminal: Terminal; pid: number }> {
    const terminal = new Terminal(user, 'listen --port 0');
    await terminal.until('listening on ');
    await terminal.until(() => /listening on (http\S+)\s/.test(terminal.screen));
    const url = /listening on (http\S+)\s/.exec(terminal.screen)?.[1] ?? '';
    terminal.stall();
    await sendMany(url, count, line, atOnce);
    return { terminal, pid: terminal.pid };
  }

  it('shows what came meanwhile when it goes on', async () => {
    const { terminal, pid } = await stalled(new User(), 700, 1);
    terminal.goOn();
    await terminal.until('id-700.');
    const seen = [...terminal.screen.matchAll(/id-(\d+)\./g)].map(([, id]) => id);
    expect(seen).toEqual(ids(700));
    process.kill(pid, 'SIGINT');
    expect((await terminal.end()).code).toBe(130);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('does not hold up the end by %s', async (signal, code) => {
    const user = new User();
    const { terminal, pid } = await stalled(user, 1_000);
    process.kill(pid, signal);
    await until(() => isGone(pid), 'the end of the listener', 8_000).finally(() => {
      if (!isGone(pid)) process.kill(pid, 'SIGKILL');
    });
    terminal.goOn();
    expect(await terminal.end()).toMatchObject({ code, restored: true });
    expect(await eventsOf(user)).toHaveLength(1_000);
  });
});
