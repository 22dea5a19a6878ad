/** The ledger of this machine can't be written to when the answer comes: it is kept beside it, and handed over. */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { audio, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';
import { KEY } from '../support/steno.ts';
import { outcomesOf, waitingOf } from '../support/waiting.ts';

const ORDER = ['order', audio('a'), '--sku', 'TRANS14', '--quiet'];
const placed = { order: 'x1', audiofiles: [1], message: 'ok' };

/** Orders something, and locks the ledger for good when the service is about to answer. */
async function lockedAt(status: number, body: object) {
  const { service, user } = await orderingAccount({ STENO_LEDGER: undefined });
  await user.run(['order', audio('before'), '--sku', 'TRANS14']);
  const lock = new DatabaseSync(ledgerOf(user));
  service.on('POST /order_url', (_, response) => {
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    response.writeHead(status).end(JSON.stringify(body));
  });
  const ended = await user.run([...ORDER, '--notes', `with ${KEY}`]);
  lock.exec('ROLLBACK');
  lock.close();
  service.allow('POST /order_url', { body: { ...placed, order: 'x2', audiofiles: [2] } });
  return { service, user, ended };
}

describe('an answer that the local ledger can not take', () => {
  it('because it is locked is kept, told with its ids, and known to the next command', async () => {
    const { service, user, ended } = await lockedAt(200, placed);
    expect([ended.code, ended.stdout]).toEqual([0, '1\n']);
    expect(ended.stderr).toMatch(
      /^warning: the ledger could not record [^\n]*the next steno command on this machine[^\n]*\n$/,
    );
    expect(outcomesOf(user)).toHaveLength(1);
    const doctor = await user.run(['doctor', '--offline']);
    expect(doctor.stdout + doctor.stderr).toContain('1 outcome on this machine not yet in the ledger');
    expect(JSON.parse((await user.run(['ledger', 'status', '--json'])).stdout).outcomes_waiting).toBe(1);
    const again = await user.run(ORDER);
    expect([again.code, again.stderr]).toEqual([9, expect.stringContaining('order x1')]);
    expect([outcomesOf(user), service.calls('POST /order_url').length]).toEqual([[], 2]);
    expect((await user.run(['files', '--quiet'])).stdout).toContain('1\n');
  }, 60_000);

  it('is unknown, and keeps nobody from the ledger, where it waits in a file that is damaged', async () => {
    const { service, user } = await lockedAt(200, placed);
    const db = new DatabaseSync(waitingOf(user));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const { page_count: pages } = db.prepare('PRAGMA page_count').get() as { page_count: number };
    const { page_size: size } = db.prepare('PRAGMA page_size').get() as { page_size: number };
    db.close();
    const file = openSync(waitingOf(user), 'r+');
    // The first page says that it is a database.
    writeSync(file, Buffer.alloc((pages - 1) * size, 0xff), 0, (pages - 1) * size, size);
    closeSync(file);
    const files = await user.run(['files']);
    expect([files.code, files.stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: .*waiting\.db is damaged/),
    ]);
    expect((await user.run(ORDER)).code).toBe(9);
    expect(service.calls('POST /order_url')).toHaveLength(2);
  }, 60_000);

  it.each([
    { said: 'refused', status: 400, code: 1, next: 0 },
    { said: 'without a clear answer', status: 500, code: 11, next: 9 },
  ])(
    'though it was $said counts when the ledger is free',
    async ({ status, code, next }) => {
      const { user, ended } = await lockedAt(status, { message: 'no' });
      expect([ended.code, outcomesOf(user).length]).toEqual([code, 1]);
      expect((await user.run(ORDER)).code).toBe(next);
      expect(outcomesOf(user)).toEqual([]);
    },
    60_000,
  );

  it('of another profile stays until that one is used', async () => {
    const { user } = await lockedAt(200, placed);
    await user.run(['--sandbox', 'files']);
    expect(outcomesOf(user)).toHaveLength(1);
    await user.run(['files']);
    expect(outcomesOf(user)).toEqual([]);
  }, 60_000);

  it('leaves nothing behind where all went well', async () => {
    const { user, order } = await orderingAccount({ STENO_LEDGER: undefined });
    expect((await order(audio('a'))).code).toBe(0);
    expect((await order(audio('a'))).code).toBe(9);
    const left = readdirSync(dirname(waitingOf(user))).filter((name) => name.startsWith('waiting'));
    expect(left).toEqual([]);
  });

  it.skipIf(!canMount)(
    'because its disk is full is kept in room that was taken before',
    async (context) => {
      const { service, user } = await orderingAccount({ STENO_LEDGER: undefined });
      await user.run(['order', audio('before'), '--sku', 'TRANS14']);
      const disk = SmallDisk.mount(user, 4);
      if (!disk) return context.skip('no disk can be mounted here');
      // A log that has room would take the answer.
      const reader = new DatabaseSync(ledgerOf(user));
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM purchases').get();
      service.on('POST /order_url', (_, response) => {
        disk.fill();
        response.end(JSON.stringify(placed));
      });
      const ended = await user.run(ORDER);
      reader.close();
      expect([ended.code, ended.stdout]).toEqual([0, '1\n']);
      expect([ended.stderr, outcomesOf(user).length]).toEqual([
        expect.stringContaining('the next steno command on this machine'),
        1,
      ]);
      disk.free();
      const again = await user.run(ORDER);
      expect([again.code, again.stderr]).toEqual([9, expect.stringContaining('order x1')]);
      expect(service.calls('POST /order_url')).toHaveLength(2);
    },
    60_000,
  );

  it('nor be kept is told in full, with the line that records it, and is not bought again', async () => {
    const { service, user } = await orderingAccount({ STENO_LEDGER: undefined });
    await user.run(['order', audio('before'), '--sku', 'TRANS14']);
    const lock = new DatabaseSync(ledgerOf(user));
    service.on('POST /order_url', (_, response) => {
      lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
      mkdirSync(waitingOf(user));
      response.end(JSON.stringify({ ...placed, audiofiles: [7] }));
    });
    const ended = await user.run(ORDER);
    lock.exec('ROLLBACK');
    lock.close();
    rmSync(waitingOf(user), { recursive: true });
    expect([ended.code, ended.stdout]).toEqual([0, '7\n']);
    const [, line = ''] = /run: steno (attempts settle 2 --placed x1 --file 7)\n/.exec(ended.stderr) ?? [];
    expect(ended.stderr).toContain('it could not be saved on this machine, either');
    expect((await user.run(ORDER)).code).toBe(9);
    expect((await user.run(line.split(' '))).code).toBe(0);
    expect(queryLedger(user, 'SELECT status, order_id FROM purchases WHERE number = 2')).toEqual([
      { status: 'placed', order_id: 'x1' },
    ]);
    expect(service.calls('POST /order_url')).toHaveLength(2);
  }, 60_000);
});
