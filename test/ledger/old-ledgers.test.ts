/** Ledgers of earlier versions are brought along: their audios get names, and no byte of a signature is left. */
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { migrations } from '../../src/ledger/schema.ts';
import { type Cost, costReporter, reportedCost } from '../support/cost.ts';
import { audio, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { addAttempt, addEvent, addFile, addOrder, makeOldLedger, RELEASED } from '../support/old-ledger.ts';
import { expectNoSecretIn, SECRET, signed, signers } from '../support/signed.ts';
import { longOnly, sliceOf } from '../support/slices.ts';
import { BIN, finished, type User } from '../support/steno.ts';

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();

const versions: ReadonlyArray<readonly [string, number]> = [
  ['0.1.0', RELEASED],
  ['the version before claims', 4],
];

describe.concurrent.each(sliceOf(versions, 2))('a ledger of %s', (_, count) => {
  it('knows each audio under every link, and says so', async () => {
    const { service, user, order } = await orderingAccount();
    makeOldLedger(user, count, (db) => {
      signers.forEach((by, n) => {
        addAttempt(db, { urls: [signed(audio(by), 1, by)], status: 'placed', order: `o${n}` });
      });
      addAttempt(db, { urls: [audio('two'), audio('three')], status: 'placed', order: 'both' });
    });
    for (const by of signers) {
      const { code, stderr } = await order(signed(audio(by), 2, by));
      expect([code, stderr.includes('(differs only in its signature)')], stderr).toEqual([9, true]);
    }
    expect((await order(audio('three'))).stderr).toContain('order both');
    expect(service.got).toEqual([]);
    expectNoSecretIn(user);
  });

  it('keeps who holds an audio: a placed order before one that is unclear, and neither refused ones nor tests', async () => {
    const { service, user, order } = await orderingAccount();
    makeOldLedger(user, count, (db) => {
      addAttempt(db, { urls: [audio('a')], status: 'placed', order: 'first' });
      addAttempt(db, { urls: [audio('a')], status: 'placed', order: 'second' });
      addAttempt(db, { urls: [audio('a')], status: 'uncertain' });
      addAttempt(db, { urls: [audio('b'), audio('c')], status: 'refused' });
      addAttempt(db, { urls: [audio('d')], status: 'placed', order: 't', test: true });
      addAttempt(db, {
        urls: [audio('e'), audio('f')],
        status: 'uncertain',
        detail: `no ${signed(audio('e'))}`,
      });
      addAttempt(db, { urls: [audio('g')], status: 'sending' });
    });
    expect((await order(audio('a'))).stderr).toContain('order second');
    expect((await order(audio('b'), audio('c'), audio('d'))).code).toBe(0);
    const open = JSON.parse((await user.run(['attempts', '--json'])).stdout);
    expect(open).toMatchObject([
      { attempt: 7, status: 'unclear', urls: [audio('g')], by: { user: null, host: null, pid: null } },
      { attempt: 6, status: 'unclear', urls: [audio('e'), audio('f')], detail: `no ${audio('e')}` },
      { attempt: 3, status: 'unclear', urls: [audio('a')] },
    ]);
    expect((await order(audio('f'))).stderr).toMatch(
      /had no clear answer[^\n]*\nhint: [^\n]*settle 6 --placed/,
    );
    expect(service.got).toHaveLength(1);
    expectNoSecretIn(user);
  });

  it('loses every signature: of links, answers, events, details, notes, and of what was deleted before', async () => {
    const { user } = await orderingAccount();
    const link = signed(audio('a'));
    const plain = Buffer.from('event=X&raw=\xff\xfe%zz&a=+%20?&b=%3f', 'latin1');
    const bodies = [
      Buffer.concat([plain, Buffer.from(`&${form({ originallink: link })}&z=%41`)]),
      Buffer.from(form({ event: 'X', note: `see ${link} there`, json: JSON.stringify({ url: link }) })),
      Buffer.from(`originallink=${link}&order=o1`),
      plain,
    ];
    makeOldLedger(user, count, (db) => {
      addAttempt(db, { urls: [link], status: 'placed', order: 'o1' });
      addAttempt(db, { urls: [audio('b')], status: 'uncertain', detail: `can't fetch ${link}` });
      addOrder(db, 'o1', `as in ${link} there`);
      addFile(db, '1', 'o1', link, { audiofile: { id: 1, originallink: link, other: [link], n: 1.0 } });
      addFile(db, '2', 'o1', audio('c'), { audiofile: { id: 2, title: 'what? a@b' } });
      for (const body of bodies) addEvent(db, body);
      for (let n = 0; n < 300; n += 1) addFile(db, `gone${n}`, 'o1', link, { x: link.repeat(20) });
      db.exec("DELETE FROM files WHERE id LIKE 'gone%'");
    });
    expect(readFileSync(ledgerOf(user)).includes(SECRET)).toBe(true);
    expect((await user.run(['files', '--json'])).code).toBe(0);
    expectNoSecretIn(user);
    const rows = queryLedger<{ url: string; answer: string }>(
      user,
      'SELECT url, answer FROM files ORDER BY seq',
    );
    expect(rows.map(({ url }) => url)).toEqual([audio('a'), audio('c')]);
    expect(JSON.parse(rows[0]?.answer ?? '').audiofile).toMatchObject({
      originallink: audio('a'),
      other: [audio('a')],
    });
    expect(rows[1]?.answer).toBe('{"audiofile":{"id":2,"title":"what? a@b"}}');
    expect(queryLedger(user, 'SELECT notes FROM orders')).toEqual([{ notes: `as in ${audio('a')} there` }]);
    const kept = queryLedger<{ body: Uint8Array }>(user, 'SELECT body FROM events ORDER BY id').map(
      ({ body }) => Buffer.from(body),
    );
    expect(
      kept[0]?.equals(Buffer.concat([plain, Buffer.from(`&${form({ originallink: audio('a') })}&z=%41`)])),
    ).toBe(true);
    expect(kept[1]?.toString()).toBe(
      form({ event: 'X', note: `see ${audio('a')} there`, json: JSON.stringify({ url: audio('a') }) }),
    );
    // Not encoded, as a link must be in a form: what follows it can't be told from its parameters.
    expect(kept[2]?.toString()).toBe(`originallink=${audio('a')}?order=o1`);
    expect(kept[3]?.equals(plain)).toBe(true);
  });
});

describe.concurrent.each([
  ['0.1.0', RELEASED],
  ['the version before costs', migrations.findIndex(({ name }) => name === '016-cost')],
])('a ledger of %s', (_, count) => {
  it('has minutes, totals and a report, and keeps the invoices that it fetches', async () => {
    const { service, user } = await orderingAccount();
    const invoice = { id: 501, state: 'PAID', createtime: '2026-08-03', total: '8.60', items: [] };
    service.on('POST /invoice/501', { body: { invoice } });
    makeOldLedger(user, count, (db) => {
      addAttempt(db, { urls: [audio('a')], status: 'placed', order: 'o1' });
      addOrder(db, 'o1');
      addFile(db, '1', 'o1', audio('a'), { audiofile: { id: 1, duration: 10, total: 8.6 } });
      db.exec("UPDATE files SET state = 'Delivered', ended = 'delivered', invoices = '501'");
    });
    const [file] = JSON.parse((await user.run(['files', '--json'])).stdout);
    expect(file).toMatchObject({ audiofile: '1', minutes: 10, total: 8.6 });
    for (let n = 0; n < 2; n += 1) expect((await user.run(['report', '--quiet'])).stdout).toBe('8.60\n');
    expect(service.got).toHaveLength(1);
    const { code, stderr } = await user.run([
      'transcript',
      '1',
      '--name-as',
      '{date}-{guid}.{ext}',
      '--quiet',
    ]);
    expect([code, stderr]).toEqual([0, '']);
  });
});

/** Orders and files of which every tenth link has a signature. */
function fillMany(user: User, many: number): void {
  makeOldLedger(user, RELEASED, (db) => {
    for (let n = 0; n < many; n += 1) {
      const link = n % 10 ? audio(`n${n}`) : signed(audio(`n${n}`), n);
      addAttempt(db, { urls: [link], status: 'placed', order: `o${n}` });
      addOrder(db, `o${n}`);
      addFile(db, `f${n}`, `o${n}`, link, {
        audiofile: { id: n, originallink: link, text: 'x'.repeat(300) },
      });
    }
  });
}

async function costOf(user: User, ...args: string[]): Promise<Cost> {
  const child = spawn(process.execPath, ['--require', costReporter(user), BIN, ...args], {
    env: user.env,
    cwd: user.home,
  });
  const { code, stderr } = await finished(child);
  expect(code, stderr).toBe(0);
  return reportedCost(stderr);
}

describe('a large ledger of 0.1.0', () => {
  longOnly(
    'is brought along in flat memory, and in time that grows with its size',
    async () => {
      const [small, large] = [(await orderingAccount()).user, (await orderingAccount()).user];
      fillMany(small, 3_000);
      fillMany(large, 30_000);
      const few = await costOf(small, 'files', '--limit', '1');
      const many = await costOf(large, 'files', '--limit', '1');
      expectNoSecretIn(large);
      expect(few.megabytes).toBeGreaterThan(10);
      expect(many.megabytes).toBeLessThan(few.megabytes + 40);
      expect(many.milliseconds).toBeLessThan(few.milliseconds * 20);
      expect(queryLedger(large, 'SELECT count(*) AS n FROM claims')).toEqual([{ n: 30_000 }]);
    },
    120_000,
  );

  longOnly(
    'is whole after kill -9 at any point of it, and the next opening completes it',
    async () => {
      const { user, order } = await orderingAccount();
      fillMany(user, 8_000);
      const size = statSync(ledgerOf(user)).size;
      for (const ms of [150, 250, 350, 450, 600, 800]) {
        const child = user.start(['files', '--limit', '1']);
        const end = finished(child);
        await sleep(ms);
        child.kill('SIGKILL');
        await end;
      }
      expect(statSync(ledgerOf(user)).size).toBeGreaterThan(size / 4);
      expect((await order(audio('n4001'))).code).toBe(9);
      expect((await order(signed(audio('n4000'), 3))).code).toBe(9);
      expectNoSecretIn(user);
      const [counts] = queryLedger(
        user,
        `SELECT (SELECT count(*) FROM claims) AS claims, (SELECT count(*) FROM attempt_names) AS names,
         (SELECT count(*) FROM files) AS files, (SELECT count(*) FROM migrations) AS migrations`,
      );
      expect(counts).toEqual({ claims: 8_000, names: 8_000, files: 8_000, migrations: migrations.length });
    },
    120_000,
  );

  it('is brought along once, whoever opens it at the same moment', async () => {
    const { service, user, order } = await orderingAccount();
    fillMany(user, 4_000);
    const ends = await Promise.all([
      ...Array.from({ length: 3 }, (_, n) => order(signed(audio(`n${n * 10}`), 5))),
      ...Array.from({ length: 3 }, (_, n) => order(audio(`new${n}`))),
    ]);
    expect(
      ends.map(({ code }) => code),
      ends.map(({ stderr }) => stderr).join(''),
    ).toEqual([9, 9, 9, 0, 0, 0]);
    expect(service.got).toHaveLength(3);
    expect(queryLedger(user, 'SELECT count(*) AS n FROM claims')).toEqual([{ n: 4_003 }]);
    expectNoSecretIn(user);
  }, 120_000);
});
