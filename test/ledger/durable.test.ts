/** What a power cut must not undo is synced in time, as the kernel sees it; what may be done again is not. */
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { audio, ledgerOf, orderingAccount } from '../support/ledger.ts';
import type { User } from '../support/steno.ts';
import { type Call, hasStrace, isSync, trace as traceCalls } from '../support/strace.ts';

if (!hasStrace) console.warn('strace is not installed: what is synced before an order is sent is not tested');

const CALLS = 'fsync,fdatasync,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg';

const trace = (user: User, args: readonly string[]): ReturnType<typeof traceCalls> =>
  traceCalls(user, args, CALLS);

const isLog = ({ target }: Call): boolean => target.endsWith('ledger.db-wal>');
const isPost = ({ target, text }: Call): boolean => target.includes('<TCP') && text.includes('"POST ');
const isOutput = ({ target }: Call): boolean => /^[12]</.test(target);

/** Whether all that was written to the log between two moments was on disk at the second one. */
function onDisk(calls: readonly Call[], from: number, until: number): boolean {
  const between = calls.filter((call) => isLog(call) && call.begun > from && call.ended < until);
  const written = between.filter((call) => !isSync(call)).at(-1);
  if (!written) throw new Error('nothing was written');
  return between.some((call) => isSync(call) && call.begun > written.ended);
}

/** Another user of the ledger, so that the program does not end with a checkpoint, which syncs everything. */
function keepOpen(user: User): InstanceType<typeof DatabaseSync> {
  const db = new DatabaseSync(ledgerOf(user));
  db.prepare('SELECT count(*) FROM purchases').get();
  return db;
}

describe.skipIf(!hasStrace)('on disk', () => {
  const outcomes = [
    { outcome: 'placed', status: 200, code: 0 },
    { outcome: 'refused', status: 400, code: 1 },
    { outcome: 'uncertain', status: 500, code: 11 },
  ];
  it.each(outcomes)(
    'is an order before it is sent, and that it was $outcome before that is told',
    async ({ outcome, status, code: expected }) => {
      const { service, user, order } = await orderingAccount();
      await order(audio('before'));
      service.on('POST /order_url', { status, body: { order: 'x1', audiofiles: [7], message: 'hm' } });
      const other = keepOpen(user);
      const { calls, code } = await trace(user, ['order', audio('a'), '--sku', 'TRANS14']);
      const last = other.prepare('SELECT status FROM purchases ORDER BY number DESC').get();
      other.close();
      expect([code, last]).toEqual([expected, { status: outcome }]);
      const sent = calls.filter(isPost);
      expect(sent).toHaveLength(1);
      const [post] = sent as [Call];
      const told = calls.find((call) => isOutput(call) && call.begun > post.ended) as Call;
      const begun = onDisk(calls, -1, post.begun);
      const ended = onDisk(calls, post.ended, told.begun);
      expect({ begun, ended }).toEqual({ begun: true, ended: true });
    },
  );

  it('is the webhook that listen replaces, before it is replaced', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('before'));
    service.on('GET /webhook', { body: { webhook: 'https://other.example.com/' } });
    service.on('POST /webhook', { status: 400 });
    const address = ['--port', '0', '--public-url', 'https://events.example.com/'];
    const { calls } = await trace(user, ['listen', '--register', ...address]);
    const post = calls.find(isPost) as Call;
    const notes = calls.filter(({ target }) => target.includes('/webhooks/'));
    const written = notes.filter((call) => !isSync(call)).at(-1) as Call;
    const synced = notes.find((call) => isSync(call) && call.begun > written.ended) as Call;
    expect(synced.ended).toBeLessThan(post.begun);
  });

  it('is not each state that sync asks for: it can be asked for again', async () => {
    const { user, order, states } = await orderingAccount();
    const ids = Array.from({ length: 40 }, (_, n) => String(n + 1));
    for (const id of ids) states.set(id, ['In Process']);
    await order(...ids.map(audio));
    const other = keepOpen(user);
    const { calls, code } = await trace(user, ['sync']);
    other.close();
    expect(code).toBe(0);
    const log = calls.filter(isLog);
    expect(log.filter((call) => !isSync(call)).length).toBeGreaterThan(ids.length);
    expect(log.filter(isSync).length).toBeLessThan(ids.length / 4);
  });
});
