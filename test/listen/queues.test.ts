/** One delivery holds up no other: what fails for one file or target is tried later, and the rest goes on. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, Listener, send, Target } from '../support/listener.ts';
import type { Answer } from '../support/server.ts';
import { User } from '../support/steno.ts';

interface ActionJson {
  readonly status: string;
  readonly tries: number;
  readonly outcome: string;
  readonly next_try_at: string | null;
}

const actionsOf = async (user: User, n: number): Promise<ActionJson[]> =>
  JSON.parse((await user.run(['events', 'show', String(n), '--json'])).stdout).actions;

const isPutOff = async (user: User, n: number): Promise<boolean> =>
  typeof (await actionsOf(user, n))[0]?.next_try_at === 'string';

/** An account with the files 7 and 8 on order, both delivered; all others are unknown to the service. */
async function ordered(env: Record<string, string> = {}): Promise<Account> {
  const made = await account(env);
  const { service, user } = made;
  service.on('POST /order_url', { body: { order: '4nX', audiofiles: [7, 8], message: 'ok' } });
  service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
  for (const id of [7, 8]) {
    service.allow(`GET /audiofile/${id}`, { body: { audiofile: { id, statename: 'Delivered', title: '' } } });
    service.allow(`POST /audiofile/${id}/transcript.txt`, { body: `transcript ${id}` });
  }
  const urls = ['https://example.com/a.mp3', 'https://example.com/b.mp3'];
  const { code, stderr } = await user.run(['order', ...urls, '--sku', 'TRANS14']);
  if (code !== 0) throw new Error(stderr);
  return made;
}

const hasTranscript = ({ home }: User, id: number): boolean => existsSync(join(home, 'd', `${id}.txt`));

const DOWNLOAD = ['--download', 'd'];

describe('--download', () => {
  it('leaves files that the account may not see for later, restarts included, and fetches the others', async () => {
    const { service, user } = await ordered();
    for (const id of [91, 92, 93, 94])
      service.on(`GET /audiofile/${id}`, { status: 403, body: { message: 'not yours' } });
    const first = await Listener.start(user, DOWNLOAD);
    for (const id of ['91', '92', '93', '94']) await first.post(complete(id));
    await first.until(() => isPutOff(user, 4));
    await first.post(complete('7', '4nX'));
    await first.until(() => hasTranscript(user, 7));
    expect(await actionsOf(user, 1)).toMatchObject([
      { status: 'pending', outcome: 'the service refuses this file (HTTP 403)' },
    ]);
    await first.stop('SIGKILL');
    const [{ next_try_at: due, tries } = { next_try_at: null, tries: 0 }] = await actionsOf(user, 1);
    const next = await Listener.start(user, DOWNLOAD);
    await next.post(complete('8', '4nX'));
    await next.until(() => hasTranscript(user, 8));
    const [after] = await actionsOf(user, 1);
    expect(after?.status).toBe('pending');
    expect([after?.next_try_at, after?.tries] < [due, tries]).toBe(false);
    for (const { stderr } of [first, next]) expect(stderr).not.toMatch(/the key|does not work/);
    await next.stop();
  });

  it('fetches a file of the ledger before a hundred that no one knows', async () => {
    const { service, user } = await ordered();
    const listener = await Listener.start(user, DOWNLOAD);
    for (let id = 1000; id < 1100; id += 1) await listener.post(complete(String(id)));
    await listener.post(complete('7', '4nX'));
    await listener.until(() => hasTranscript(user, 7));
    await listener.until(() => service.calls('GET /audiofile/1099').length > 0);
    expect(listener.stderr).not.toMatch(/does not work/);
    await listener.stop();
  });

  it('fetches it after a few calls, though thousands of made-up files wait', async () => {
    const { service, user } = await ordered();
    // About a file that it does not know this service takes its time.
    service.on('*', async (_, response) => {
      await sleep(50);
      response.writeHead(404).end();
    });
    const listener = await Listener.start(user, [...DOWNLOAD, '--quiet']);
    const many = Array.from({ length: 2_000 }, (_, n) => String(10_000 + n));
    await Promise.all(
      Array.from({ length: 20 }, async (_, lane) => {
        for (const id of many.filter((_each, at) => at % 20 === lane)) await send(listener.url, complete(id));
      }),
    );
    const asked = (): number => service.got.filter(({ path }) => /\/1\d{4}$/.test(path)).length;
    const before = asked();
    expect(before).toBeLessThan(1_000);
    await listener.post(complete('7', '4nX'));
    await listener.until(() => hasTranscript(user, 7));
    expect(asked() - before).toBeLessThan(100);
    await listener.stop();
  });

  it('fetches it though the service answers nothing about made-up files', async () => {
    const { service, user } = await ordered();
    service.on('*', () => {});
    const listener = await Listener.start(user, DOWNLOAD);
    for (const id of ['91', '92', '93', '94', '95']) await listener.post(complete(id));
    // All jobs are taken: four by four of them.
    await listener.until(() => service.got.filter(({ path }) => /\/9\d$/.test(path)).length === 4);
    await listener.post(complete('7', '4nX'));
    await listener.until(() => hasTranscript(user, 7));
    await listener.stop();
  });

  it('takes an answer that is cut off for the trouble of that file alone', async () => {
    const { service, user } = await ordered();
    service.on('GET /audiofile/7', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"audiofile"', () => response.destroy());
    });
    const listener = await Listener.start(user, DOWNLOAD);
    await listener.post(complete('7', '4nX'));
    await listener.until(() => service.calls('GET /audiofile/7').length >= 4);
    await listener.post(complete('8', '4nX'));
    await listener.until(() => hasTranscript(user, 8));
    await listener.until(() => isPutOff(user, 1));
    expect(listener.stderr).not.toMatch(/does not work/);
    expect(await actionsOf(user, 1)).toMatchObject([{ status: 'pending' }]);
    await listener.stop();
  });

  it('says that the key is not accepted where every call is refused, and goes on when it is', async () => {
    const { service, user } = await ordered({ STENO_TEST_TICK_MS: '500' });
    let isAccepted = false;
    const answer =
      (body: object): Answer =>
      (_, response) =>
        void response.writeHead(isAccepted ? 200 : 401).end(JSON.stringify(body));
    service.on('GET /prepay_balance', answer({ balance: '1.00' }));
    service.on('GET /audiofile/7', answer({ audiofile: { id: 7, statename: 'Delivered' } }));
    const listener = await Listener.start(user, DOWNLOAD);
    await listener.post(complete('7', '4nX'));
    await listener.until(() => /does not work: the service did not accept the key/.test(listener.stderr));
    isAccepted = true;
    await listener.until(() => hasTranscript(user, 7) && /works again/.test(listener.stderr));
    expect(listener.stderr.match(/download \S+ \S+ does not work/g)).toHaveLength(1);
    await listener.stop();
  });
});

/** Pauses take a hundredth of their time. */
const QUICK = { STENO_TEST_TICK_MS: '50' };

describe('--forward-to', () => {
  it('goes on for longer than six tries, and over a restart', async () => {
    const [user, target] = [new User(QUICK), await Target.start()];
    let works = false;
    target.status = () => (works ? 200 : 503);
    const first = await Listener.start(user, ['--forward-to', target.url]);
    await first.post(complete('1'));
    await first.until(() => target.got.length > 8);
    await first.stop('SIGKILL');
    const triesBefore = (await actionsOf(user, 1))[0]?.tries ?? 0;
    const next = await Listener.start(user, ['--forward-to', target.url]);
    const before = target.got.length;
    await next.until(() => target.got.length > before);
    works = true;
    await next.until(async () => (await actionsOf(user, 1))[0]?.status === 'done');
    expect((await actionsOf(user, 1))[0]?.tries).toBeGreaterThan(triesBefore);
    await next.stop();
  });

  it('says once that a target refuses everything, and once that it works again', async () => {
    const [user, target, other] = [new User(QUICK), await Target.start(), await Target.start()];
    let works = false;
    target.status = () => (works ? 200 : 500);
    const listener = await Listener.start(user, ['--forward-to', target.url, '--forward-to', other.url]);
    for (let id = 1; id <= 20; id += 1) await listener.post(complete(String(id)));
    await listener.until(() => other.got.length === 20 && /does not work: HTTP 500/.test(listener.stderr));
    const before = target.got.length;
    await listener.until(() => target.got.length > before + 5);
    works = true;
    const done = (): number =>
      queryLedger(user, "SELECT 1 FROM actions WHERE target = ? AND status = 'done'", target.url).length;
    await listener.until(() => done() === 20);
    expect(listener.stderr.match(/does not work/g)).toHaveLength(1);
    expect(listener.stderr.match(/works again/g)).toHaveLength(1);
    await listener.stop();
  });

  it('gets each new event at once, though it has refused all before', async () => {
    // With pauses as they are.
    const [user, target] = [new User(), await Target.start()];
    target.status = (call) => (/audiofile=7&/.test(String(target.got[call - 1]?.body)) ? 200 : 404);
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    for (let id = 100; id < 140; id += 1) await listener.post(complete(String(id)));
    const got = (): Set<string> => new Set(target.got.map(({ body }) => String(body)));
    await listener.until(() => got().size === 40);
    await listener.post(complete('7'));
    await listener.until(() => got().size === 41 && /works again/.test(listener.stderr));
    await listener.stop();
  });

  it('goes on with other events where a target fails at one of them', async () => {
    const [user, target] = [new User(QUICK), await Target.start()];
    const isBad = (call: number): boolean => /audiofile=13&/.test(String(target.got[call - 1]?.body));
    target.status = (call) => (isBad(call) ? 500 : 200);
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    for (let n = 0; n < 12; n += 1) await listener.post(complete('13'));
    for (let id = 20; id < 30; id += 1) await listener.post(complete(String(id)));
    const done = (): number => queryLedger(user, "SELECT 1 FROM actions WHERE status = 'done'").length;
    await listener.until(() => done() === 10);
    expect((await actionsOf(user, 1))[0]).toMatchObject({ status: 'pending', outcome: 'HTTP 500' });
    await listener.stop();
  });

  it('does not wait for a time that was set while the clock was wrong', async () => {
    const [user, target] = [new User(QUICK), await Target.start()];
    target.status = () => 503;
    const first = await Listener.start(user, ['--forward-to', target.url]);
    await first.post(complete('1'));
    await first.until(() => isPutOff(user, 1));
    await first.stop('SIGKILL');
    queryLedger(user, "UPDATE actions SET due_at = '2999-01-01T00:00:00.000Z'");
    target.status = () => 200;
    const next = await Listener.start(user, ['--forward-to', target.url]);
    await next.until(async () => (await actionsOf(user, 1))[0]?.status === 'done');
    await next.stop();
  });

  it.each([
    ['refuses', 'HTTP 503'],
    ['is down', 'the connection was refused'],
  ])('gives up after a day, and events says so: the target %s', async (_, reason) => {
    const [user, target] = [new User(QUICK), await Target.start()];
    const { url } = target;
    target.status = () => 503;
    if (reason !== 'HTTP 503') await target.close();
    const listener = await Listener.start(user, ['--forward-to', url]);
    await listener.post(complete('1'));
    await listener.post(complete('2'));
    await listener.until(async () => Number((await actionsOf(user, 1))[0]?.tries) > 0);
    queryLedger(user, "UPDATE actions SET since = '2020-01-01T00:00:00.000Z' WHERE event = 1");
    await listener.until(async () => (await actionsOf(user, 1))[0]?.status === 'failed');
    const [{ outcome } = { outcome: '' }] = await actionsOf(user, 1);
    expect(outcome).toMatch(/^given up after 1d: /);
    expect(outcome).toContain(reason);
    expect(listener.stderr).toMatch(/(event 1: .* failed: given up after 1d|gave up on .*: 1 event)/);
    expect((await actionsOf(user, 2))[0]?.status).toBe('pending');
    await listener.stop();
  });
});
