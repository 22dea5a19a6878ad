import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { complete, eventsOf, FORM, form, Listener, send } from '../support/listener.ts';
import { User } from '../support/steno.ts';

const EVENTS = 10_000;
const CONNECTIONS = 64;

describe('what was answered', () => {
  it('is there after kill -9, three times in 10,000 deliveries over 64 connections', async () => {
    const user = new User();
    let listener = await Listener.start(user, ['--quiet']);
    const { port } = listener;
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const answered: number[] = [];
    const refused: number[] = [];
    let next = 0;
    let back: Promise<void> = Promise.resolve();

    /** Resolves with the status, or with nothing if the connection broke. */
    const deliver = (id: number): Promise<number | undefined> =>
      new Promise((done) => {
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
    const kept = new Set((await eventsOf(user)).map(({ audiofile }) => audiofile));
    expect(answered.filter((id) => !kept.has(String(id)))).toEqual([]);
  }, 60_000);

  it('is 503 with the reason on stderr while the ledger is locked, and 200 again after', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    const lock = new DatabaseSync(join(user.home, 'state', 'ledger.db'));
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    const waiting = [listener.post(complete('1')), listener.post(complete('2'))];
    const health = await send(`http://127.0.0.1:${listener.port}/healthz`, '', { method: 'GET' });
    expect(health.status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([503, 503]);
    await listener.until(() => /warning: an event could not be kept .* 503: .*locked/.test(listener.stderr));
    expect(listener.stderr.match(/could not be kept/g)).toHaveLength(1);
    const late = listener.post(complete('3'));
    await sleep(300);
    lock.exec('ROLLBACK');
    lock.close();
    expect((await late).status).toBe(200);
    expect((await eventsOf(user)).map(({ audiofile }) => audiofile)).toEqual(['3']);
  });

  it('is 503, and no crash, where the ledger is damaged while a test event is awaited', async () => {
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
    expect((await listener.post(event)).status).toBe(503);
    expect((await send(`${new URL(listener.url).origin}/healthz`, '', { method: 'GET' })).status).toBe(200);
    expect(listener.stderr).toMatch(/could not be kept and was answered with 503: .* is damaged/);
    listener.child.kill('SIGKILL');
  });

  it.skipIf(process.platform !== 'linux')('is 503 while the disk is full', async () => {
    const user = new User();
    const listener = await Listener.start(user);
    await listener.post(complete('1'));
    // A limit on the size of files is what a full disk is to SQLite: a write fails, and the file stays whole.
    const body = Buffer.alloc(900_000, 97);
    execFileSync('prlimit', ['--pid', String(listener.child.pid), '--fsize=2000000:2000000']);
    const answers = [];
    for (let n = 0; n < 4; n += 1)
      answers.push((await listener.post(body).catch(() => ({ status: 0 }))).status);
    expect(answers.at(-1)).toBe(503);
    expect(listener.stderr).toMatch(/could not be kept and was answered with 503/);
    const kept = await eventsOf(user);
    expect(kept).toHaveLength(1 + answers.filter((status) => status === 200).length);
  });
});
