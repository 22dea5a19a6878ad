import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { complete, eventsOf, form, Listener, Target } from '../../support/listener.ts';
import { freePort } from '../../support/postgres.ts';
import { finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';
import type { NodeUnderTest, NodeUser } from '../node-user.ts';

export function events(node: NodeUnderTest): void {
  let user: NodeUser;

  beforeAll(() => {
    user = node.newUser();
  });

  it('keeps an event before it answers, shows and lists it', async () => {
    const listener = await Listener.start(user);
    expect(listener.stderr).toBe(`listening on ${listener.url}\n`);
    expect((await listener.post(complete('1001', '4nX'))).status).toBe(200);
    await listener.until(() => listener.lines.length === 1);
    expect((await listener.stop()).code).toBe(130);
    expect(await eventsOf(user)).toMatchObject([{ n: 1, event: 'TRANSCRIPT_COMPLETE', audiofile: '1001' }]);
  });

  it('shows an event whole, and forwards it once more', async () => {
    const target = await Target.start();
    const shown = await user.json<{ body_base64: string }>('events show 1');
    expect(Buffer.from(shown.body_base64, 'base64').toString()).toBe(complete('1001', '4nX'));
    await user.ok(`events replay 1 --to ${target.url}`);
    expect(target.got[0]?.body.toString()).toBe(complete('1001', '4nX'));
  });

  it('keeps an answered event through kill -9', async () => {
    const listener = await Listener.start(user);
    expect((await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: '77' }))).status).toBe(200);
    await listener.stop('SIGKILL');
    expect(await eventsOf(user, '--event', 'DIFFICULT_AUDIO')).toMatchObject([{ audiofile: '77' }]);
  });

  it('refuses what is no event, and goes on', async () => {
    const listener = await Listener.start(user, ['--json']);
    expect((await listener.post('{}', { type: 'application/json' })).status).toBe(415);
    expect((await listener.post('', { method: 'GET' })).status).toBe(405);
    expect((await listener.post(form({ event: 'NEW_ONE', x: 'ü' }))).status).toBe(200);
    // It may also show the event of the one that was killed.
    const shown = (): unknown[] => listener.json.filter(({ event }) => event === 'NEW_ONE');
    await listener.until(() => shown().length > 0);
    expect(shown()).toMatchObject([{ event: 'NEW_ONE', fields: { x: 'ü' } }]);
    await listener.stop('SIGTERM');
  });

  it('runs a command for each event', async () => {
    const listener = await Listener.start(user, ['--exec', 'printf %s "$STENO_EVENT_AUDIOFILE" > "ran"']);
    await listener.post(complete('2002'));
    await listener.until(() => existsSync(join(user.home, 'ran')));
    await until(() => readFileSync(join(user.home, 'ran'), 'utf8') === '2002', 'the id of the event');
    await listener.stop();
  });

  it('forwards events as they came', async () => {
    const target = await Target.start();
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    const body = `${complete('3003')}&text=%C3%BC+%zz`;
    await listener.post(body);
    await listener.until(() => target.got.length === 1);
    expect(target.got[0]?.body.toString()).toBe(body);
    await listener.stop();
  });

  it('registers itself, downloads what is complete, and puts the webhook back', async () => {
    const former = 'http://127.0.0.1:9/former';
    await user.ok(`webhook set ${former}`);
    const port = String(await freePort());
    const flags = [
      '--port',
      port,
      '--register',
      '--public-url',
      `http://127.0.0.1:${port}/`,
      '--download',
      'got',
    ];
    const listener = await Listener.start(user, flags);
    const id = await node.order('by-event', user);
    await listener.until(() => existsSync(join(user.home, 'got', `${id}.txt`)));
    await listener.stop();
    expect((await user.ok('webhook get')).stdout).toBe(`${former}\n`);
  });

  it('ends after --until, after --count, and with exit 6 when its time is over', async () => {
    const first = await Listener.start(user, ['--until', 'REFUND_ISSUED']);
    await first.post(form({ event: 'REFUND_ISSUED', audiofile: '5' }));
    expect((await first.ended).code).toBe(0);
    const second = await Listener.start(user, ['--count', '1']);
    await second.post(complete('6'));
    expect((await second.ended).code).toBe(0);
    await user.exits(6, 'listen --port 0 --timeout 100ms');
  });

  it('follows events that another process receives', async () => {
    const following = user.start([
      'events',
      '--follow',
      '--quiet',
      '--limit',
      '1',
      '--event',
      'CC_AUTH_FAILURE',
    ]);
    const listener = await Listener.start(user);
    const ended = finished(following);
    let seen = '';
    following.stdout.on('data', (chunk) => {
      seen += chunk;
    });
    await until(async () => {
      await listener.post(form({ event: 'CC_AUTH_FAILURE', order: 'a1' }));
      return /^\d+\n/.test(seen);
    }, 'the number of an event');
    following.kill('SIGINT');
    expect((await ended).code).toBe(130);
    await listener.stop();
  });
}
