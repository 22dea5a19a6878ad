import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { freshFolder } from '../support/files.ts';
import { complete, eventsOf, FORM, form, Listener, send } from '../support/listener.ts';
import { User } from '../support/steno.ts';
import { keptIn, lockLedger, waitingIn } from '../support/waiting.ts';

const EVENTS = 10_000;
const CONNECTIONS = 64;
const canMount = process.platform === 'linux' && process.getuid?.() === 0;
if (!canMount) console.warn('a full disk is not tested: only root can mount one');

describe('what was answered', () => {
  it('is there after kill -9, three times in 10,000 deliveries over 64 connections', async () => {
    const user = new User();
    let listener = await Listener.start(user, ['--quiet']);
    const { port } = listener;
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const answered: number[] = [];
    const refused: number[] = [];
    /** How often each was sent: one whose connection broke is sent again. */
    const sent = new Map<number, number>();
    let next = 0;
    let back: Promise<void> = Promise.resolve();

    /** Resolves with the status, or with nothing if the connection broke. */
    const deliver = (id: number): Promise<number | undefined> =>
      new Promise((done) => {
        sent.set(id, (sent.get(id) ?? 0) + 1);
        const options = { port, method: 'POST', agent, headers: { 'content-type': FORM } };
        const call = request(options, (response) => {
          response.resume().on('end', () => done(response.statusCode));
        });
        call.on('error', () => done(undefined)).end(complete(String(id)));
      });
    const deliverUntilAnswered = async (id: number): Promise<void> => {
      for (let status: number | undefined; status !== 200; ) {
        status = await deliver(id);
        if (status === undefined) await back;
        else if (status !== 200) refused.push(status);
      }
      answered.push(id);
    };
    const sender = async (): Promise<void> => {
      while (next < EVENTS) await deliverUntilAnswered(next++);
    };
    const killer = async (): Promise<void> => {
      for (const share of [0.2, 0.5, 0.8]) {
        while (answered.length < EVENTS * share) await sleep(1);
        back = (async () => {
          await listener.stop('SIGKILL');
          listener = await Listener.start(user, ['--quiet', '--port', String(port)]);
        })();
        await back;
      }
    };
    await Promise.all([killer(), ...Array.from({ length: CONNECTIONS }, sender)]);
    agent.destroy();
    expect(refused).toEqual([]);
    expect(answered).toHaveLength(EVENTS);
    await listener.stop('SIGKILL');
    const listed = new Set((await eventsOf(user)).map(({ audiofile }) => audiofile));
    expect(answered.filter((id) => !listed.has(String(id)))).toEqual([]);
    const last = await Listener.start(user, ['--quiet']);
    await last.until(() => waitingIn(user).length === 0);
    await last.stop();
    expect(waitingIn(user)).toEqual([]);
    const rows = new Map<string, number>();
    for (const id of keptIn(user)) rows.set(id, (rows.get(id) ?? 0) + 1);
    expect(answered.filter((id) => !rows.has(String(id)))).toEqual([]);
    expect([...rows].filter(([id, count]) => count > (sent.get(Number(id)) ?? 0))).toEqual([]);
  }, 60_000);

  it('is kept while the ledger is locked for long, and is in it once when that is over', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    const lock = lockLedger(user);
    const answers = await Promise.all(['1', '2'].map((id) => listener.post(complete(id))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await eventsOf(user)).map(({ n }) => n)).toEqual([null, null]);
    await listener.until(() => /until the ledger is available: .*locked/.test(listener.stderr));
    expect((await listener.post(complete('3'))).status).toBe(200);
    const health = await send(`http://127.0.0.1:${listener.port}/healthz`, '', { method: 'GET' });
    expect(health.status).toBe(200);
    lock.release();
    await listener.until(() => /the ledger is available again/.test(listener.stderr));
    await listener.until(() => keptIn(user).length === 3);
    expect(keptIn(user).sort()).toEqual(['1', '2', '3']);
    expect(listener.stderr.match(/until the ledger is available/g)).toHaveLength(1);
    expect((await eventsOf(user)).map(({ n }) => n)).toEqual([3, 2, 1]);
    await listener.until(() => listener.lines.length === 3);
    await listener.stop();
    expect(waitingIn(user)).toEqual([]);
  });

  it('is kept, without a crash, where the ledger is damaged while a test event is awaited', async () => {
    const { user, service } = await account();
    service.on('*', { body: '{"webhook":""}' });
    const listener = await Listener.start(user, [
      '--register',
      '--public-url',
      'https://events.example.com/',
    ]);
    for (const name of ['ledger.db', 'ledger.db-wal']) {
      const path = join(user.home, 'state', name);
      writeFileSync(path, Buffer.alloc(statSync(path).size, 'Z'), { flag: 'r+' });
    }
    const event = form({ event: 'DIFFICULT_AUDIO', audiofile: '7', order: 'o7' });
    expect((await listener.post(event)).status).toBe(200);
    await listener.until(() => /until the ledger is available: .* is damaged/.test(listener.stderr));
    expect((await send(`${new URL(listener.url).origin}/healthz`, '', { method: 'GET' })).status).toBe(200);
    expect((await listener.post(complete('8'))).status).toBe(200);
    await listener.stop('SIGKILL');
    expect(waitingIn(user)).toEqual([event, complete('8')]);
  });

  it.skipIf(process.platform !== 'linux')(
    'is 503 where neither the ledger nor waiting.db can be written',
    async () => {
      const user = new User();
      const listener = await Listener.start(user);
      await listener.post(complete('1'));
      // A limit on the size of files: a write fails in its middle, as on a full disk.
      execFileSync('prlimit', ['--pid', String(listener.child.pid), '--fsize=500000:500000']);
      const large = form({ event: 'TRANSCRIPT_COMPLETE', audiofile: '2', filler: 'a'.repeat(900_000) });
      expect((await listener.post(large)).status).toBe(503);
      await listener.until(() => /not saved: TRANSCRIPT_COMPLETE 2/.test(listener.stderr));
      expect(listener.stderr).toMatch(/could not be saved and was answered with 503: .*waiting\.db/);
      expect((await listener.post(complete('3'))).status).toBe(200);
      expect((await eventsOf(user)).map(({ audiofile }) => audiofile)).toEqual(['3', '1']);
    },
  );

  it.skipIf(!canMount)('is 503 while the disk is full, and all the rest is there (needs root)', async () => {
    const folder = freshFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder]);
    try {
      const user = new User({ STENO_STATE_DIR: join(folder, 'state') });
      const listener = await Listener.start(user);
      const answered: string[] = [];
      let refused = 0;
      for (let n = 1; n <= 12; n += 1) {
        const body = form({
          event: 'TRANSCRIPT_COMPLETE',
          audiofile: String(n),
          filler: 'a'.repeat(400_000),
        });
        const { status } = await listener.post(body);
        if (status === 200) answered.push(String(n));
        else refused += 1;
      }
      expect([answered.length > 1, refused > 1]).toEqual([true, true]);
      await listener.until(
        () => listener.stderr.split('not saved: TRANSCRIPT_COMPLETE').length === refused + 1,
      );
      expect(listener.stderr).toMatch(/answered with 503: can't write .*waiting\.db: the disk is full/);
      await listener.stop();
      execFileSync('mount', ['-o', 'remount,size=50m', folder]);
      const next = await Listener.start(user);
      await next.until(() => keptIn(user).length === answered.length);
      expect(keptIn(user)).toEqual(answered);
      await next.stop();
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });
});
