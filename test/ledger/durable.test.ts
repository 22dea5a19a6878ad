/** What a power cut must not undo is synced in time, as the kernel sees it; what may be done again is not. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { audio, ledgerOf, orderingAccount } from '../support/ledger.ts';
import { BIN, finished, type User } from '../support/steno.ts';

const hasStrace = spawnSync('strace', ['-V']).status === 0;
if (!hasStrace) console.warn('strace is not installed: what is synced before an order is sent is not tested');

const CALLS = 'fsync,fdatasync,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg';

interface Call {
  readonly name: string;
  /** The first argument: a descriptor and what it leads to. */
  readonly target: string;
  readonly text: string;
  /** Line numbers of the trace. */
  readonly begun: number;
  ended: number;
}

/** Runs the program and gives its system calls, in the order in which they began. */
async function trace(user: User, args: readonly string[]): Promise<{ calls: Call[]; code: number | null }> {
  const log = join(user.home, 'trace');
  const child = spawn(
    'strace',
    ['-f', '-yy', '-o', log, '-e', `trace=${CALLS}`, process.execPath, BIN, ...args],
    {
      cwd: user.home,
      env: user.env,
    },
  );
  child.stdin.end();
  const { code } = await finished(child);
  return { calls: parse(readFileSync(log, 'utf8')), code };
}

function parse(log: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Call>();
  log.split('\n').forEach((line, at) => {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const begun = /^(\w+)\((\d+<.*?>)([,)].*| <unfinished.*)$/.exec(rest);
    if (begun) {
      const [, name = '', target = '', text = ''] = begun;
      const call = { name, target, text, begun: at, ended: at };
      calls.push(call);
      if (rest.endsWith('<unfinished ...>')) open.set(thread, call);
    } else if (rest.startsWith('<... ')) {
      const call = open.get(thread);
      if (call) call.ended = at;
    }
  });
  return calls;
}

const isLog = ({ target }: Call): boolean => target.endsWith('ledger.db-wal>');
const isSync = ({ name }: Call): boolean => name === 'fsync' || name === 'fdatasync';
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
  db.prepare('SELECT count(*) FROM attempts').get();
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
      const last = other.prepare('SELECT status FROM attempts ORDER BY id DESC').get();
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
    const other = keepOpen(user);
    const address = ['--port', '0', '--public-url', 'https://events.example.com/'];
    const { calls } = await trace(user, ['listen', '--register', ...address]);
    other.close();
    const post = calls.find(isPost) as Call;
    expect(onDisk(calls, -1, post.begun)).toBe(true);
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
