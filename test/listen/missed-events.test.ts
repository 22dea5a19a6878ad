import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../support/account.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, FORM, form, Listener, Target } from '../support/listener.ts';

/** An account with one file on order, whose state a test sets. */
async function ordered(tickMs = 100): Promise<Account & { state: (name: string) => void }> {
  const made = await account({ STENO_TEST_TICK_MS: String(tickMs) });
  const { service, user } = made;
  service.on('POST /order_url', { body: { order: '4nX', audiofiles: [7], message: 'ok' } });
  service.allow('POST /audiofile/7/transcript.txt', { body: 'hello' });
  const state = (statename: string): void =>
    void service.allow('GET /audiofile/7', { body: { audiofile: { id: 7, statename, title: 'Talk' } } });
  state('Transcribing');
  const { code, stderr } = await user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14']);
  if (code !== 0) throw new Error(stderr);
  return { ...made, state };
}

const fileOf = async ({ user }: Account): Promise<Record<string, unknown>> =>
  JSON.parse((await user.run(['files', '--json'])).stdout)[0];

describe('an event that never came', () => {
  it('is found: its file turns out to be delivered, and its actions are done', async () => {
    const made = await ordered();
    const { user, state } = made;
    state('Delivered');
    const args = ['--download', '.', '--exec', 'cat > found.json', '--json', '--count', '1'];
    const listener = await Listener.start(user, args);
    const { code } = await listener.ended;
    expect(code).toBe(0);
    expect(listener.json).toMatchObject([{ event: 'TRANSCRIPT_COMPLETE', audiofile: '7', source: 'found' }]);
    expect(readFileSync(join(user.home, '7.txt'), 'utf8')).toBe('hello');
    expect(JSON.parse(readFileSync(join(user.home, 'found.json'), 'utf8'))).toMatchObject({
      source: 'found',
      order: '4nX',
    });
    expect(await eventsOf(user)).toEqual([]);
    expect(await eventsOf(user, '--found')).toMatchObject([{ n: 1, audiofile: '7' }]);
    expect(await fileOf(made)).toMatchObject({ ended: 'delivered' });
    const { stderr, code: no } = await user.run(['events', 'replay', '1', '--to', 'http://127.0.0.1:9/']);
    expect([no, stderr]).toEqual([2, expect.stringMatching(/was found by asking the service/)]);
    const again = await Listener.start(user, ['--exec', 'touch twice', '--timeout', '1s']);
    expect((await again.ended).code).toBe(6);
    expect(existsSync(join(user.home, 'twice'))).toBe(false);
  });

  it('is forwarded as a form made by us, with retries', async () => {
    const { user, state } = await ordered();
    const target = await Target.start();
    target.status = (call) => (call < 3 ? 503 : 200);
    state('Delivered');
    const args = ['--forward-to', target.url, '--count', '1', '--json'];
    const first = await Listener.start(user, args, { env: { STENO_TEST_TICK_MS: '100' } });
    expect((await first.ended).code).toBe(0);
    expect(target.got).toHaveLength(3);
    for (const { headers, body } of target.got) {
      expect(headers).toMatchObject({ 'steno-found': 'true', 'content-type': FORM, 'steno-event': '1' });
      expect(Object.fromEntries(new URLSearchParams(String(body)))).toEqual({
        ...{ event: 'TRANSCRIPT_COMPLETE', audiofile: '7', order: '4nX' },
        originallink: 'https://example.com/a.mp3',
      });
    }
  });

  it('is not found when it comes after all', async () => {
    // The event must come before a tick has passed, on a slow machine too.
    const { user, state } = await ordered(1_500);
    state('Delivered');
    const listener = await Listener.start(user, ['--json', '--timeout', '4s']);
    await listener.post(complete('7', '4nX'));
    await listener.ended;
    expect(listener.json).toMatchObject([{ source: 'received' }]);
  });

  it('is found by another process too: what `sync` saw still leads to its action', async () => {
    const { user, state } = await ordered();
    const first = await Listener.start(user, []);
    await sleep(500);
    await first.stop('SIGKILL');
    state('Delivered');
    expect((await user.run(['sync'])).code).toBe(0);
    const next = await Listener.start(user, ['--exec', 'touch ran', '--count', '1']);
    expect((await next.ended).code).toBe(0);
    expect(existsSync(join(user.home, 'ran'))).toBe(true);
  });
});

it('a service that does not answer keeps no listener from saying that it is running', async () => {
  const { user, service } = await ordered();
  let asked = 0;
  service.on('GET /audiofile/7', () => {
    asked += 1;
  });
  const listener = await Listener.start(user, [], { env: { STENO_TEST_TICK_MS: '50' } });
  await listener.until(() => asked === 1);
  const heartbeat = (): string =>
    queryLedger<{ seen_at: string }>(user, 'SELECT seen_at FROM runs')[0]?.seen_at ?? '';
  const before = heartbeat();
  await listener.until(() => heartbeat() > before);
  expect(asked).toBe(1);
  await listener.stop();
});

describe('the rows of files and orders', () => {
  it('show what events say as a remark; the state is what the service said last', async () => {
    const made = await ordered();
    const { user } = made;
    await user.run(['files', '--refresh']);
    const env = { STENO_API_KEY: undefined, STENO_BASE_URL: undefined };
    const listener = await Listener.start(user, [], { env });
    const sent = async (body: string): Promise<Record<string, unknown>> => {
      expect((await listener.post(body)).status).toBe(200);
      return fileOf(made);
    };
    const about = { audiofile: '7', order: '4nX' };
    const hold = { event: 'ORDER_ON_HOLD', order: '4nX', audiofiles: '7', hold: 'billing', skus: 'TRANS14' };
    const said = { state: 'Transcribing', ended: null };
    expect(await sent(form(hold))).toMatchObject({ ...said, remark: 'said to be on hold', hold: 'billing' });
    expect(await sent(form({ event: 'DIFFICULT_AUDIO', ...about }))).toMatchObject({
      remark: 'said to be on hold; difficult audio',
    });
    const duplicate = { event: 'DUPLICATE_FILE', ...about, original_audiofile: '3' };
    expect(await sent(form(duplicate))).toMatchObject({ remark: 'said to be on hold; duplicate of 3' });
    expect(await sent(form({ event: 'CC_AUTH_FAILURE', order: '4nX' }))).toMatchObject({
      remark: 'said to be on hold; card refused',
    });
    expect(await sent(complete('7', '4nX'))).toMatchObject({
      ...said,
      remark: 'said to be complete; card refused',
    });
    expect(await sent(form({ event: 'REFUND_ISSUED', amount: '1.00', ...about }))).toMatchObject({
      ...said,
      remark: 'said to be refunded; card refused',
    });
    await listener.stop();
    await user.run(['files', '--refresh']);
    expect(await fileOf(made)).toMatchObject({ ...said, remark: 'card refused', hold: null });
  });

  it('wake a `wait` at once', async () => {
    const { user, state, service } = await ordered();
    const listener = await Listener.start(user, [], {
      env: { STENO_API_KEY: undefined, STENO_BASE_URL: undefined },
    });
    const waiting = user.run(['wait', '7', '--interval', '1h', '--timeout', '20s']);
    await listener.until(() => service.calls('GET /audiofile/7').length > 0);
    state('Delivered');
    await sleep(300);
    await listener.post(complete('7', '4nX'));
    const started = Date.now();
    expect((await waiting).code).toBe(0);
    expect(Date.now() - started).toBeLessThan(5000);
  });
});

describe('an event about a file that has ended', () => {
  const refund = form({ event: 'REFUND_ISSUED', amount: '1.00', audiofile: '7', order: '4nX' });
  const delivered = { state: 'Delivered', ended: 'delivered' };
  const noAccount = { env: { STENO_API_KEY: undefined, STENO_BASE_URL: undefined } };

  /** The service has said that file 7 is delivered, and an event says something else. */
  async function contradicted(event: string): Promise<Awaited<ReturnType<typeof ordered>>> {
    const made = await ordered();
    made.state('Delivered');
    await made.user.run(['sync']);
    const listener = await Listener.start(made.user, [], noAccount);
    await listener.post(event);
    await listener.stop();
    return made;
  }

  it.each([
    ['a refund', refund],
    ['a hold', form({ event: 'ORDER_ON_HOLD', order: '4nX', audiofiles: '7', hold: 'billing' })],
    ['an unknown event', form({ event: 'ORDER_CANCELLED', audiofile: '7', order: '4nX' })],
  ])('changes nothing that the service said: %s', async (_, event) => {
    const made = await contradicted(event);
    expect(await fileOf(made)).toMatchObject(delivered);
  });

  it.each([
    ['sync', ['sync']],
    ['files --refresh', ['files', '--refresh']],
  ])('has it asked about once by %s, and the answer decides', async (_, command) => {
    const forged = await contradicted(refund);
    const asked = (): number => forged.service.calls('GET /audiofile/7').length;
    const before = asked();
    expect(await fileOf(forged)).toMatchObject({ ...delivered, remark: 'said to be refunded' });
    for (let n = 0; n < 2; n += 1) expect((await forged.user.run([...command])).code).toBe(0);
    expect(asked()).toBe(before + 1);
    expect(await fileOf(forged)).toMatchObject({ ...delivered, remark: null });
    const real = await contradicted(refund);
    real.state('Refunded');
    await real.user.run([...command]);
    expect(await fileOf(real)).toMatchObject({ state: 'Refunded', ended: 'unfinished', remark: null });
  });

  it('has it asked about by a listener', async () => {
    const made = await contradicted(refund);
    made.state('Refunded');
    const listener = await Listener.start(made.user);
    await listener.until(async () => (await fileOf(made)).state === 'Refunded');
    expect(await fileOf(made)).toMatchObject({ ended: 'unfinished' });
    await listener.stop();
  });

  it('is news also where it comes while the service is being asked', async () => {
    const made = await ordered(30_000);
    const { user, service } = made;
    let answer: (() => void) | undefined;
    service.on('GET /audiofile/7', (_, response) => {
      const body = { audiofile: { id: 7, statename: 'Transcribing', title: 'Talk' } };
      answer = () => response.end(JSON.stringify(body));
    });
    const listener = await Listener.start(user, [], noAccount);
    const asking = user.run(['file', '7']);
    await listener.until(() => answer !== undefined);
    await listener.post(complete('7', '4nX'));
    answer?.();
    await asking;
    expect(await fileOf(made)).toMatchObject({ state: 'Transcribing', remark: 'said to be complete' });
    await listener.stop();
  });
});

it('a file that the service can not tell about keeps no other from being asked about', async () => {
  const { service, user } = await account({ STENO_TEST_TICK_MS: '50' });
  service.on('POST /order_url', { body: { order: '4nX', audiofiles: [7, 8], message: 'ok' } });
  service.on('GET /prepay_balance', { body: { balance: '1.00' } });
  service.on('GET /audiofile/7', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"audiofile"', () => response.destroy());
  });
  service.on('GET /audiofile/8', { body: { audiofile: { id: 8, statename: 'Delivered', title: '' } } });
  const urls = ['https://example.com/a.mp3', 'https://example.com/b.mp3'];
  await user.run(['order', ...urls, '--sku', 'TRANS14']);
  const listener = await Listener.start(user, ['--json']);
  await listener.until(() => listener.json.some(({ audiofile }) => audiofile === '8'));
  expect(listener.stderr).not.toMatch(/can't look for missed events/);
  await listener.stop();
});
