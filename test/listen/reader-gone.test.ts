/** The reader of stdout leaves (head, a pipe that is closed): said once, and not counted as shown. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { complete, Listener, Target } from '../support/listener.ts';
import { User } from '../support/steno.ts';

const GONE = /stdout was closed/g;

async function withoutReader(user: User, args: readonly string[]): Promise<Listener> {
  const listener = await Listener.start(user, args);
  await listener.post(complete('1'));
  await listener.until(() => listener.lines.length >= 1);
  listener.child.stdout.destroy();
  return listener;
}

const shownByNext = async (user: User): Promise<string> =>
  (await user.run(['listen', '--port', '0', '--quiet', '--timeout', '1s'])).stdout;

it.each([[[]], [['--json']], [['--csv']], [['--quiet']]])(
  'ends a listener that does nothing else, and leaves the rest to the next one: %s',
  async (form) => {
    const user = new User();
    const listener = await withoutReader(user, form);
    expect((await listener.post(complete('2'))).status).toBe(200);
    const { code, stderr } = await listener.ended;
    expect([code, stderr.match(GONE)?.length]).toEqual([0, 1]);
    expect(stderr).toMatch(/1 event left for the next listen to show/);
    expect(await shownByNext(user)).toBe('2\n');
  },
);

it('is said once by a listener that has other work, which goes on', async () => {
  const user = new User();
  const target = await Target.start();
  const exec = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> ran', '--forward-to', target.url];
  const listener = await withoutReader(user, exec);
  for (const id of ['2', '3', '4']) expect((await listener.post(complete(id))).status).toBe(200);
  const ran = (): string => readFileSync(join(user.home, 'ran'), 'utf8');
  await listener.until(() => existsSync(join(user.home, 'ran')) && ran().split('\n').length === 5);
  await listener.until(() => target.got.length === 4);
  const { code, stderr } = await listener.stop();
  expect([code, stderr.match(GONE)?.length]).toEqual([130, 1]);
  expect(stderr).toMatch(/3 events left for the next listen to show/);
  expect(await shownByNext(user)).toBe('2\n3\n4\n');
});

it('does not matter to a reader that closes its end after the last event', async () => {
  const user = new User();
  const listener = await withoutReader(user, ['--json']);
  const { code, stderr } = await listener.stop();
  expect([code, stderr.match(GONE)]).toEqual([130, null]);
  expect(await shownByNext(user)).toBe('');
});
