/** `ledger`: a copy to keep, a move to another machine, and a way to get rid of old events. */
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { listing, modeOf } from '../support/files.ts';
import { audio, fill, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, form, Listener } from '../support/listener.ts';
import { finished, KEY, type Result, User } from '../support/steno.ts';
import { isShared } from '../support/store.ts';
import { until } from '../support/until.ts';

type Counts = Record<string, { new: number; updated: number; known: number }>;

const countsOf = ({ stdout }: Result): Counts =>
  Object.fromEntries(
    (JSON.parse(stdout) as Array<{ table: string } & Counts[string]>).map(({ table, ...counts }) => [
      table,
      counts,
    ]),
  );

const added = (result: Result): number =>
  Object.values(countsOf(result)).reduce((sum, counts) => sum + counts.new + counts.updated, 0);

const exportOf = async (user: User, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await user.run(['ledger', 'export', ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

const importTo = (user: User, text: string): Promise<Result> =>
  user.run(['ledger', 'import', '-', '--json'], { stdin: text });

/** A ledger with something in every table. */
async function fullLedger(): Promise<Awaited<ReturnType<typeof orderingAccount>>> {
  const account = await orderingAccount();
  const { user, order, service } = account;
  await order(audio('a'), audio('b'), '--notes', `the key is ${KEY}`);
  await order(audio('test'), '--test');
  service.on('POST /order_url', { status: 500, body: {} });
  expect((await order(audio('unclear'))).code).toBe(11);
  await user.run(['sync', '--download', 'd', '--format', 'txt,docx']);
  const listener = await Listener.start(user, ['--exec', 'true', '--quiet']);
  await listener.post(complete('1'));
  await listener.post(form({ event: 'ORDER_ON_HOLD', order: 'o1', audiofiles: '1,2', hold: 'billing' }));
  await listener.post(Buffer.from([...Buffer.from('event=X&y='), 0xff, 0xfe, 0x80]));
  await until(
    () => queryLedger(user, "SELECT 1 FROM actions WHERE status = 'done'").length === 3,
    'three commands',
  );
  await listener.stop();
  return account;
}

/** An export of a local ledger with that many orders. */
async function bigExport(orders: number): Promise<{ readonly user: User; readonly file: string }> {
  const { user, order } = await orderingAccount({ STENO_LEDGER: undefined });
  await order(audio('a'));
  fill(user, orders);
  const file = join(user.home, 'big.jsonl');
  expect((await user.run(['ledger', 'export', '-o', file])).code).toBe(0);
  return { user, file };
}

describe('export and import', () => {
  it('move everything to another machine: the same lines, and nothing is bought twice there', async () => {
    const { user, service } = await fullLedger();
    const lines = await exportOf(user);
    const tables = new Set(lines.split('\n').flatMap((line) => /^\{"table":"(\w+)"/.exec(line)?.[1] ?? []));
    expect([...tables].sort()).toEqual([
      ...['downloads', 'event_files', 'events', 'files', 'item_names', 'purchase_items', 'purchases'],
    ]);
    expect(lines).not.toContain(KEY);
    expect(lines).toContain('"body_base64":"');
    const other = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
    const first = await importTo(other, lines);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(await exportOf(other)).toBe(lines);
    const again = await importTo(other, lines);
    expect([again.code, added(again)]).toEqual([0, 0]);
    expect(await exportOf(other)).toBe(lines);
    expect((await other.run(['files', '--quiet'])).stdout).toBe(
      (await user.run(['files', '--quiet'])).stdout,
    );
    const before = service.got.length;
    for (const name of ['a', 'unclear'])
      expect((await other.run(['order', audio(name), '--sku', 'TRANS14'])).code).toBe(9);
    expect(service.got).toHaveLength(before);
    expect((await other.run(['order', audio('test'), '--sku', 'TRANS14', '--dry-run'])).code).toBe(0);
  });

  it('keep what was learned later, on either side', async () => {
    const { user, order, states } = await orderingAccount();
    states.set('1', ['Transcribing']);
    await order(audio('a'));
    await user.run(['files', '--refresh']);
    const old = await exportOf(user);
    states.set('1', ['Delivered']);
    await user.run(['sync', '--download', 'd']);
    await user.run(['order', audio('b'), '--sku', 'TRANS14']);
    const late = await exportOf(user);
    expect(added(await importTo(user, old))).toBe(0);
    expect(await exportOf(user)).toBe(late);
    const other = new User();
    await importTo(other, old);
    const update = countsOf(await importTo(other, late));
    expect([update.files, update.downloads]).toMatchObject([{ new: 1, updated: 1 }, { new: 1 }]);
    expect(await exportOf(other)).toBe(late);
  });

  it('settle an attempt that was unclear, and an older export does not open it again', async () => {
    const { user, order, service } = await orderingAccount();
    service.on('POST /order_url', { status: 500, body: {} });
    expect((await order(audio('a'))).code).toBe(11);
    const unclear = await exportOf(user);
    expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    const settled = await exportOf(user);
    const other = new User();
    await importTo(other, unclear);
    expect(countsOf(await importTo(other, settled)).settlements).toMatchObject({ new: 1 });
    expect(added(await importTo(other, unclear))).toBe(0);
    expect(queryLedger(other, 'SELECT name FROM item_names WHERE holds = 1')).toEqual([]);
  });

  it('never undo what was reopened or settled since: the cost stays, and nothing is bought again', async () => {
    const { user, order, service } = await orderingAccount();
    const totals: Record<string, string> = { 3: '8.60', 9: '50.00' };
    for (const [id, total] of Object.entries(totals))
      service.allow(`GET /audiofile/${id}`, {
        body: { audiofile: { id: Number(id), statename: 'Delivered', title: 't', total } },
      });
    service.on('POST /order_url', { status: 500, body: {} });
    expect((await order(audio('a'))).code).toBe(11);
    const settle = async (file: string): Promise<void> => {
      const args = ['settle', '1', '--placed', `o${file}`, '--file', file];
      const { code, stderr } = await user.run(['attempts', ...args]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      await user.run(['file', file]);
    };
    const spent = async (): Promise<unknown> =>
      (JSON.parse((await user.run(['report', '--json'])).stdout) as { totals: unknown }).totals;
    await settle('9');
    const mistaken = await exportOf(user);
    expect((await user.run(['attempts', 'settle', '1', '--reopen'])).code).toBe(0);
    const reopened = await exportOf(user);
    await importTo(user, mistaken);
    expect((await order(audio('a'))).code).toBe(9);
    expect(await exportOf(user)).toBe(reopened);
    await settle('3');
    const [before, lines] = [await spent(), await exportOf(user)];
    expect(JSON.stringify(before)).toContain('"spent":8.6,');
    for (const older of [mistaken, reopened, mistaken]) {
      expect((await importTo(user, older)).code).toBe(0);
      expect(await spent()).toEqual(before);
    }
    expect(await exportOf(user)).toBe(lines);
    expect((await order(audio('a'))).code).toBe(9);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('take in the rows of another ledger beside those that are there, under new numbers', async () => {
    const [one, two] = [await orderingAccount(), await orderingAccount()];
    await one.order(audio('a'));
    for (const name of ['x', 'y'])
      await two.user.run(['--profile', 'default', 'order', audio(name), '--sku', 'TRANS14']);
    const listener = await Listener.start(two.user, ['--quiet']);
    await listener.post(complete('1'));
    await listener.stop();
    const lines = await exportOf(two.user);
    expect((await importTo(one.user, lines)).code).toBe(0);
    const rows = queryLedger<{ url: string }>(one.user, 'SELECT url FROM purchase_items ORDER BY url');
    expect(rows.map(({ url }) => url)).toEqual([audio('a'), audio('x'), audio('y')]);
    for (const name of ['a', 'x', 'y'])
      expect((await one.user.run(['order', audio(name), '--sku', 'TRANS14'])).code).toBe(9);
    expect(await eventsOf(one.user)).toHaveLength(1);
  });

  // It locks the file of a local ledger.
  it.skipIf(isShared)('have the events that a killed listener left on their way', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--quiet']);
    const lock = new DatabaseSync(ledgerOf(user));
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    expect((await listener.post(complete('left'))).status).toBe(200);
    await listener.stop('SIGKILL');
    lock.exec('ROLLBACK');
    lock.close();
    expect((await exportOf(user)).match(/"audiofile":"left"/g)).toHaveLength(1);
    expect(await eventsOf(user)).toHaveLength(1);
  });

  it('are of one profile unless all are asked for', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    // In a shared ledger there are accounts in place of profiles, and never the sandbox.
    const other = isShared ? { env: { STENO_ACCOUNT: 'other', STENO_API_KEY: `${KEY}2` } } : {};
    const flag = isShared ? [] : ['--sandbox'];
    expect((await user.run([...flag, 'order', audio('s'), '--sku', 'TRANS14'], other)).code).toBe(0);
    const theirs = `"profile":"${isShared ? 'other' : 'sandbox'}"`;
    expect(await exportOf(user)).not.toContain(theirs);
    const all = await exportOf(user, '--all-profiles');
    expect(all).toContain(theirs);
    expect(all).toContain('"profile":"default"');
  });

  it('take rows in as those of another profile or account where that is asked for, and say whose they are', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const lines = await exportOf(user);
    const [other, third] = [new User(), new User()];
    const as = await other.run(['ledger', 'import', '-', '--as', 'acme'], { stdin: lines });
    expect([as.code, as.stderr]).toEqual([0, expect.stringContaining("the rows belong to 'acme'")]);
    expect(queryLedger(other, 'SELECT DISTINCT profile FROM files')).toEqual([{ profile: 'acme' }]);
    expect(queryLedger(other, 'SELECT DISTINCT profile FROM item_names WHERE holds = 1')).toEqual([
      { profile: 'acme' },
    ]);
    expect((await exportOf(other)).split('\n')).toHaveLength(3);
    const back = await third.run(['ledger', 'import', '-', '--as', 'default'], {
      stdin: await exportOf(other, '--all-profiles').then((text) =>
        text.replace('"profile":null', '"profile":"acme"'),
      ),
    });
    expect([back.code, back.stderr]).toEqual([0, '']);
    expect(await exportOf(third)).toBe(lines);
    for (const [name, text] of [
      ['acme', lines.replace('"profile":"default"', '"profile":null')],
      ['no name', lines],
    ] as const)
      expect((await third.run(['ledger', 'import', '-', '--as', name], { stdin: text })).code).toBe(2);
  });

  it('write to a file that only its owner reads, and that is never half of one', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    writeFileSync(join(user.home, 'copy.jsonl'), 'older', { mode: 0o644 });
    const { code, stdout, stderr } = await user.run(['ledger', 'export', '-o', 'copy.jsonl', '--force']);
    expect([code, stdout, stderr]).toEqual([0, '', 'written to copy.jsonl\n']);
    const quiet = await user.run(['ledger', 'export', '-o', 'copy.jsonl', '--force', '--quiet']);
    expect([quiet.code, quiet.stdout, quiet.stderr]).toEqual([0, 'copy.jsonl\n', '']);
    expect(readFileSync(join(user.home, 'copy.jsonl'), 'utf8')).toBe(await exportOf(user));
    expect(modeOf(join(user.home, 'copy.jsonl'))).toBe('600');
    expect(listing(user.home).filter((name) => name.startsWith('copy'))).toEqual(['copy.jsonl']);
    const nowhere = await user.run(['ledger', 'export', '-o', 'copy.jsonl/x']);
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringMatching(/^steno: can't /)]);
  });

  it('replace no existing file and no link that leads nowhere, unless --force', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const [rescued, link] = [join(user.home, 'rescued.jsonl'), join(user.home, 'link.jsonl')];
    writeFileSync(rescued, 'all that is left');
    symlinkSync(join(user.home, 'nowhere'), link);
    for (const path of [rescued, link]) {
      const { code, stdout, stderr } = await user.run(['ledger', 'export', '-o', path]);
      const said = `steno: ${path} already exists\nhint: replace it with --force\n`;
      expect([code, stdout, stderr]).toEqual([1, '', said]);
    }
    expect(readFileSync(rescued, 'utf8')).toBe('all that is left');
    expect(listing(user.home).filter((name) => /jsonl|nowhere/.test(name))).toEqual([
      'link.jsonl',
      'rescued.jsonl',
    ]);
    expect((await user.run(['ledger', 'export', '-o', rescued, '--force'])).code).toBe(0);
    expect(readFileSync(rescued, 'utf8')).toBe(await exportOf(user));
  });

  it('refuse a line that is wrong by its number, and then nothing is imported', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'), audio('b'));
    const lines = (await exportOf(user)).split('\n');
    const other = new User();
    const without = (at: number): string => lines.filter((_, n) => n !== at).join('\n');
    const instead = (at: number, line: string): string => lines.with(at, line).join('\n');
    const wrong: ReadonlyArray<readonly [string, RegExp]> = [
      ['', /^steno: line 1: the file is empty/],
      ['hello\n', /^steno: this is not an export of a ledger$/m],
      [instead(0, '{"steno_ledger":2,"profile":null}'), /^steno: line 1: .* format 2, .* only format 1$/m],
      [instead(0, '{"steno_ledger":0,"profile":null}'), /^steno: line 1: .* format 0, .* only format 1$/m],
      [instead(2, '{"table":"purchases"'), /^steno: line 3: this is not a row/],
      [
        instead(2, '{"table":"secrets","id":1}'),
        /^steno: line 3: this steno does not know the table 'secrets'/,
      ],
      [
        instead(1, '{"table":"purchases","colour":1}'),
        /^steno: line 2: this steno does not know the column 'colour'/,
      ],
      [
        instead(1, '{"table":"purchases","id":7}'),
        /^steno: line 2: 'id' has a value that its column can't hold$/m,
      ],
      [instead(1, '{"table":"purchases","id":"7"}'), /^steno: line 2: the ledger can't store this row/],
      [
        without(1).replace(/"rows":\d+/, `"rows":${lines.length - 4}`),
        /^steno: line 2: the ledger can't store this row/,
      ],
      [without(3), /^steno: line \d+: 1 rows before it are missing/],
      [lines.slice(0, -2).join('\n'), /^steno: line \d+: the export is cut off here/],
      [[...lines.slice(0, -1), lines[1]].join('\n'), /^steno: line \d+: it follows the end/],
    ];
    for (const [text, message] of wrong) {
      const { code, stdout, stderr } = await other.run(['ledger', 'import', '-'], { stdin: text });
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
      expect(stderr).toContain('nothing was imported');
    }
    expect(await exportOf(other)).toBe('{"steno_ledger":1,"profile":"default"}\n{"rows":0}\n');
    const missing = await other.run(['ledger', 'import', 'nowhere.jsonl']);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("can't read nowhere.jsonl")]);
  });
});

/** Interrupts an import after so long; `tookMs`: from then to its end. */
async function interruptImport(file: string, afterMs: number) {
  const user = new User();
  await user.run(['files']);
  const child = user.start(['ledger', 'import', file]);
  const result = finished(child);
  await sleep(afterMs);
  child.kill('SIGINT');
  const killed = Date.now();
  return { user, ...(await result), tookMs: Date.now() - killed };
}

describe('an import that is interrupted', () => {
  it('ends with 130 at once, and nothing is imported', async () => {
    // A shared ledger takes them three times as slowly.
    const { file } = await bigExport(isShared ? 4_000 : 12_000);
    const whole = async (): Promise<number> => {
      const started = Date.now();
      expect((await new User().run(['ledger', 'import', file])).code).toBe(0);
      return Date.now() - started;
    };
    let wholeMs = Math.min(await whole(), await whole());
    for (const share of [0.25, 0.5, 0.6]) {
      let found = await interruptImport(file, share * wholeMs);
      // Where other work on the machine has ended since it was measured, it is over before the signal.
      for (let again = 0; found.code === 0 && again < 5; again += 1) {
        wholeMs *= 0.8;
        found = await interruptImport(file, share * wholeMs);
      }
      expect([found.code, found.stdout]).toEqual([130, '']);
      expect(found.stderr).toMatch(
        /^steno: interrupted: nothing was imported\nhint: try again with[^:\n]*: steno ledger import [^\n]+\n$/,
      );
      expect(found.tookMs).toBeLessThan(Math.max(1_000, 0.25 * wholeMs));
      expect(queryLedger(found.user, 'SELECT count(*) AS n FROM purchases')).toEqual([{ n: 0 }]);
    }
  }, 120_000);

  it('also while it waits for more from a pipe', async () => {
    const user = new User();
    const child = user.start(['ledger', 'import', '-']);
    const result = finished(child);
    child.stdin.write('{"steno_ledger":1,"profile":"default"}\n');
    if (!isShared) await until(() => existsSync(ledgerOf(user)), 'the ledger');
    await sleep(isShared ? 3_000 : 300);
    child.kill('SIGINT');
    expect(await result).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/^steno: interrupted: nothing was imported\nhint: try again with/),
    });
  });
});

describe('prune', () => {
  const at = (day: string): string => `${day}T00:00:00.000Z`;

  /** A shared ledger may skip numbers. */
  const eventIds = (user: User): [number, number, number] =>
    queryLedger<{ id: number }>(user, 'SELECT id FROM events ORDER BY id').map(({ id }) => id) as [
      number,
      number,
      number,
    ];

  /** Events of three days; the second one has something to be done. */
  async function withEvents(): Promise<User> {
    const { user } = await fullLedger();
    const [first, second] = eventIds(user);
    queryLedger(user, 'UPDATE events SET received_at = ? WHERE id = ?', at('2026-01-01'), first);
    queryLedger(user, 'UPDATE events SET received_at = ? WHERE id = ?', at('2026-01-02'), second);
    queryLedger(user, "UPDATE actions SET status = 'pending' WHERE event = ?", second);
    return user;
  }

  it('removes old events and what was done about them; what is to be done, and all orders, stay', async () => {
    const user = await withEvents();
    const [, second, third] = eventIds(user);
    const before = (await exportOf(user))
      .split('\n')
      .filter((line) => !/"table":"(events|actions|event_files|runs)"|"rows"/.test(line));
    const dry = await user.run(['ledger', 'prune', '--before', '2026-06-01', '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout)).toEqual({ events: 1, actions: 1, runs: 0, kept: 1 });
    expect(await eventsOf(user)).toHaveLength(3);
    const asks = await user.run(['ledger', 'prune', '--before', '2026-06-01']);
    expect([asks.code, asks.stderr]).toEqual([2, expect.stringContaining('requires --yes')]);
    const done = await user.run(['ledger', 'prune', '--before', '2026-06-01', '--yes', '--json']);
    expect(JSON.parse(done.stdout)).toEqual({ events: 1, actions: 1, runs: 0, kept: 1 });
    expect((await eventsOf(user)).map(({ n }) => n)).toEqual([third, second]);
    const after = (await exportOf(user))
      .split('\n')
      .filter((line) => !/"table":"(events|actions|event_files|runs)"|"rows"/.test(line));
    expect(after).toEqual(before);
    if (!isShared) expect(queryLedger(user, 'PRAGMA foreign_key_check')).toEqual([]);
  });

  it('removes the listeners that nothing refers to any more, and none that runs', async () => {
    const user = await withEvents();
    queryLedger(user, "UPDATE actions SET status = 'done'");
    queryLedger(user, 'UPDATE events SET received_at = ?', at('2026-01-01'));
    const ended = at('2026-01-03');
    // What it looked after for all listeners goes with it.
    queryLedger(user, "INSERT INTO leader_tasks (name, run) SELECT 'some task', id FROM runs");
    queryLedger(user, 'UPDATE runs SET ended_at = ?, seen_at = ?', ended, ended);
    const { stdout } = await user.run(['ledger', 'prune', '--before', '30d', '--yes', '--json']);
    expect(JSON.parse(stdout)).toEqual({ events: 3, actions: 3, runs: 1, kept: 0 });
    expect(queryLedger(user, 'SELECT id FROM runs')).toEqual([]);
    expect(queryLedger(user, 'SELECT 1 FROM leader_tasks')).toEqual([]);
  });

  it.skipIf(isShared)('gives the room back to the disk, also beside a listener, which goes on', async () => {
    const { user } = await fullLedger();
    queryLedger(
      user,
      `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
      SELECT i, 'default', 'received', '2026-01-01T00:00:00.000Z', '', '', zeroblob(2000), 'X', '1', '', '' FROM n`,
    );
    const listener = await Listener.start(user, ['--quiet']);
    const size = (): number =>
      statSync(ledgerOf(user)).size +
      (statSync(`${ledgerOf(user)}-wal`, { throwIfNoEntry: false })?.size ?? 0);
    const large = size();
    const { stdout } = await user.run(['ledger', 'prune', '--before', '30d', '--yes', '--quiet']);
    expect(stdout).toBe('4901\n');
    expect((await listener.post(complete('2'))).status).toBe(200);
    await listener.stop();
    expect(size()).toBeLessThan(large / 5);
    expect(queryLedger(user, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  it('asks on a terminal', async () => {
    const user = await withEvents();
    const no = await user.onTerminal('steno ledger prune --before 2026-06-01', { stdin: 'n\n' });
    expect(no.stdout).toMatch(/Remove 1 events from before 2026-06-01T00:00:00\.000Z for good\?/);
    expect([no.code, (await eventsOf(user)).length]).toEqual([1, 3]);
    const yes = await user.onTerminal('steno ledger prune --before 2026-06-01', { stdin: 'y\n' });
    expect([yes.code, (await eventsOf(user)).length]).toEqual([0, 2]);
  });

  it('requires a time that is one', async () => {
    const user = new User();
    for (const args of [[], ['--before', 'tomorrow']]) {
      const { code } = await user.run(['ledger', 'prune', '--yes', ...args]);
      expect(code).toBe(2);
    }
  });
});
