/** Deliveries that listeners forward to each other end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { complete, eventsOf, Listener, Target } from '../support/listener.ts';
import { User } from '../support/steno.ts';

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const target = await Target.start();
  const { port } = target;
  await target.close();
  return port;
}

/** Listeners that each forward to the next one, and the last one to the first. */
async function ring(users: readonly User[]): Promise<Listener[]> {
  const ports: number[] = [];
  for (const _ of users) ports.push(await freePort());
  const url = (at: number): string => `http://127.0.0.1:${ports[at % ports.length]}/`;
  return Promise.all(
    users.map((user, at) => Listener.start(user, ['--port', String(ports[at]), '--forward-to', url(at + 1)])),
  );
}

it.each([2, 3])('a delivery goes once round %i listeners, and is refused by the first', async (count) => {
  const users = Array.from({ length: count }, () => new User());
  const listeners = await ring(users);
  await listeners[0]?.post(complete('1'));
  const last = listeners.at(-1);
  await last?.until(() => /event 1: forward .* failed: HTTP 409/.test(last.stderr));
  await sleep(300);
  for (const user of users) expect(await eventsOf(user)).toHaveLength(1);
  await Promise.all(listeners.map((listener) => listener.stop()));
});

it('the chain is kept: what a listener that was killed had received is sent on with it', async () => {
  const [one, two, target] = [new User(), new User(), await Target.start()];
  target.status = () => 503;
  const first = await Listener.start(one, ['--forward-to', target.url]);
  const before = await Listener.start(two, ['--forward-to', first.url]);
  await before.post(complete('1'));
  await first.until(() => target.got.length > 0);
  await first.stop('SIGKILL');
  const sent = target.got.length;
  const next = await Listener.start(one, ['--forward-to', target.url]);
  await next.until(() => target.got.length > sent);
  const chains = target.got.map(({ headers }) => String(headers['steno-listener']).split(' '));
  expect(chains.at(-1)).toHaveLength(2);
  expect(chains.at(-1)?.[0]).toBe(chains[0]?.[0]);
  await Promise.all([next.stop(), before.stop()]);
});

it('a delivery that has passed many listeners is refused, and any other header is none', async () => {
  const listener = await Listener.start(new User());
  const marker = (at: number): string => at.toString(16).padStart(16, '0');
  const markers = Array.from({ length: 8 }, (_, at) => marker(at)).join(' ');
  const post = async (header: string): Promise<number> =>
    (await listener.post(complete('1'), { headers: { 'steno-listener': header } })).status;
  expect(await post(markers)).toBe(409);
  expect(await post(markers.slice(0, 7 * 17))).toBe(200);
  expect(await post('x'.repeat(8_000))).toBe(200);
  expect(await post(`${'a'.repeat(15)} ${'b'.repeat(17)}`)).toBe(200);
  await listener.stop();
});
