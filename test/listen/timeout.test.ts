/** Against a service that accepts every call and never answers: a session ends when its own time is over. */
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../support/account.ts';
import { complete, Listener } from '../support/listener.ts';
import type { Answer, Service } from '../support/server.ts';
import { User } from '../support/steno.ts';

const REGISTER = ['--register', '--public-url', 'https://events.example.com/'];
const never: Answer = () => {};
/** A call of its own would be given up after 30 s. */
const WELL_BEFORE_MS = 15_000;

function neverAnswers(service: Service): void {
  for (const route of ['*', 'GET /webhook', 'POST /webhook', 'GET /audiofile/7']) service.allow(route, never);
}

/** Answers about the webhook as a service does that has one. */
function withWebhook(service: Service): Service {
  let webhook = 'https://former.example.com/hook';
  service.allow('GET /webhook', (_, response) => void response.end(JSON.stringify({ webhook })));
  return service.allow('POST /webhook', ({ body }, response) => {
    webhook = String(body?.webhook);
    response.end(JSON.stringify({ webhook }));
  });
}

/** Waits for the end, and says how long that took. */
async function timed<T>(work: Promise<T>): Promise<{ result: T; tookMs: number }> {
  const started = performance.now();
  const result = await work;
  return { result, tookMs: performance.now() - started };
}

/** An account with file 7 on order. */
async function withOrder(): Promise<Account> {
  const made = await account();
  made.service.on('POST /order_url', { body: { order: '4nX', audiofiles: [7], message: 'ok' } });
  const { code, stderr } = await made.user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14']);
  if (code !== 0) throw new Error(stderr);
  return made;
}

describe('--timeout ends a session that waits for the service', () => {
  const listenFor = (user: User, ...args: string[]): ReturnType<User['run']> =>
    user.run(['listen', '--port', '0', '--timeout', '1s', ...args]);

  it('to tell the webhook', async () => {
    const { service, user } = await account();
    neverAnswers(service);
    const { result, tookMs } = await timed(listenFor(user, ...REGISTER, '--count', '2'));
    expect([result.code, result.stderr]).toEqual([
      6,
      'steno: 0 of 2 events arrived within 1s\nsteno: the webhook is not registered: the service did not answer\n',
    ]);
    expect(tookMs).toBeLessThan(WELL_BEFORE_MS);
    expect(service.calls('GET /webhook')).toHaveLength(1);
  });

  it('to be up again, and says why it does not register', async () => {
    const { service, user } = await account();
    service.allow('GET /webhook', { status: 503, body: { message: 'down for maintenance' } });
    const { result } = await timed(listenFor(user, ...REGISTER));
    expect(result.code).toBe(6);
    expect(result.stderr).toMatch(/webhook is not registered: .*503: down for maintenance/);
  });

  it('to set the webhook, and says that it may have to be put back', async () => {
    const { service, user } = await account();
    neverAnswers(service);
    service.on('GET /webhook', { body: { webhook: '' } }, never);
    const { result, tookMs } = await timed(listenFor(user, ...REGISTER));
    expect(result.code).toBe(6);
    expect(result.stderr).toMatch(
      /warning: the previous webhook can't be restored: no answer within 5s\nhint: the next/,
    );
    expect(result.stderr).toMatch(/^steno: time ran out after 1s$/m);
    expect(tookMs).toBeLessThan(WELL_BEFORE_MS);
  });

  it('to set the webhook in place of one that a crashed listener left, and names the one before that', async () => {
    const { service, user } = await account();
    withWebhook(service);
    await (await Listener.start(user, REGISTER)).stop('SIGKILL');
    service.on('POST /webhook', never, never);
    const { result, tookMs } = await timed(listenFor(user, ...REGISTER));
    expect([result.code, result.stderr]).toEqual([
      6,
      expect.stringMatching(/^steno: time ran out after 1s$/m),
    ]);
    expect(result.stderr).toMatch(/steno webhook set https:\/\/former\.example\.com\/hook$/m);
    expect(tookMs).toBeLessThan(WELL_BEFORE_MS);
  });

  it('to tell the state of a file', async () => {
    const { service, user } = await withOrder();
    neverAnswers(service);
    const { result, tookMs } = await timed(listenFor(user));
    expect(service.calls('GET /audiofile/7')).toHaveLength(1);
    expect(result.code).toBe(6);
    expect(tookMs).toBeLessThan(WELL_BEFORE_MS);
  });

  it('to send a transcript', async () => {
    const { service, user } = await account();
    neverAnswers(service);
    const listener = await Listener.start(user, ['--download', '.', '--timeout', '2s']);
    await listener.post(complete('7'));
    await listener.until(() => service.got.some(({ path }) => path.startsWith('/audiofile/7')));
    const { result, tookMs } = await timed(listener.ended);
    expect(result.code).toBe(6);
    expect(result.stderr).toMatch(/1 download left for the next listen: /);
    expect(tookMs).toBeLessThan(WELL_BEFORE_MS);
  });

  it('to send a test event', async () => {
    const { service, user } = await account();
    withWebhook(service).on('POST /webhook/test/DIFFICULT_AUDIO', never);
    const { result, tookMs } = await timed(listenFor(user, ...REGISTER));
    expect(result.code).toBe(6);
    expect(result.stderr).toMatch(/the webhook is https:\/\/former\.example\.com\/hook again/);
    expect(tookMs).toBeLessThan(WELL_BEFORE_MS);
  });
});

describe('at the end', () => {
  it('the webhook is given back within a limit of its own, and a failure is said plainly', async () => {
    const { service, user } = await account();
    withWebhook(service);
    const listener = await Listener.start(user, REGISTER);
    neverAnswers(service);
    const { result, tookMs } = await timed(listener.stop());
    expect(result.code).toBe(130);
    expect(result.stderr).toMatch(
      /warning: the previous webhook can't be restored: no answer within 5s\nhint: .* steno webhook set https:\/\/former/,
    );
    expect(tookMs).toBeLessThan(9_000);
  });

  it('the events that came are counted', async () => {
    const listener = await Listener.start(new User(), ['--count', '3', '--timeout', '3s']);
    await listener.post(complete('1'));
    await listener.post(complete('2'));
    const { code, stderr } = await listener.ended;
    expect([code, stderr]).toEqual([6, expect.stringMatching(/^steno: 2 of 3 events arrived within 3s$/m)]);
  });
});
