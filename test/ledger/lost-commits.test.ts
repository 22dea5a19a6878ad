/** What becomes of an order where the ledger goes away: while it is begun, and while its outcome is written. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Attempts } from '../../src/ledger/attempts.ts';
import { makeAudio, makeEpisode } from '../../src/ledger/audio-names.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Outbox } from '../../src/ledger/outbox.ts';
import { SqliteStore } from '../../src/ledger/sqlite-store.ts';
import { CommitUnknown, type Store } from '../../src/ledger/store.ts';
import { audioOf, newOrder, placedAs, url } from '../support/attempts.ts';
import { freshFolder } from '../support/files.ts';
import { hideSecret, SECRET } from '../support/open-ledger.ts';

/** What happens to each next transaction; after the last of them all goes well. */
type Fate = 'works' | 'done, but no answer' | 'not done, and no answer' | 'refused';

let path: string;
let folder: string;
let store: SqliteStore;
let ledger: Ledger;
let fates: Fate[];

/** A store whose connection breaks at a COMMIT, as a database behind a network does. */
function breaking(): Store {
  const through = async <T>(work: () => Promise<T>): Promise<T> => {
    const fate = fates.shift() ?? 'works';
    if (fate === 'refused') throw new Error('the disk is full');
    if (fate === 'not done, and no answer') throw new CommitUnknown('network', 'the connection broke');
    const result = await work();
    if (fate === 'done, but no answer') throw new CommitUnknown('network', 'the connection broke');
    return result;
  };
  return new Proxy(store as Store, {
    get: (target, name) => {
      const found = Reflect.get(target, name) as unknown;
      if (typeof found !== 'function') return found;
      const call = (...given: unknown[]): unknown => Reflect.apply(found, target, given);
      if (name !== 'batch' && name !== 'durable') return call;
      return (...given: unknown[]) => through(async () => call(...given));
    },
  });
}

const owner = { account: 'default', ledger: 'here' };
const outbox = (): Outbox => new Outbox(folder, () => owner);
const attemptsWith = (kept: Outbox | undefined): Attempts =>
  new Attempts({ db: breaking(), profile: 'default', hide: hideSecret, outbox: kept });
const keptFiles = (): string[] => readdirSync(folder);
const rows = (sql: string): Promise<Record<string, unknown>[]> => store.all(sql);
const handOver = async (box = outbox()): Promise<string[]> => {
  const troubles: string[] = [];
  await box.handOver(
    (kept) => ledger.attempts.take(kept),
    async (text) => void troubles.push(text),
  );
  return troubles;
};

beforeEach(async () => {
  path = join(freshFolder(), 'ledger.db');
  folder = freshFolder();
  store = await SqliteStore.open(path);
  ledger = await Ledger.open(path, 'default', hideSecret);
  fates = [];
});
afterEach(async () => {
  await store.close();
  await ledger.close();
});

describe('an attempt whose COMMIT got no answer', () => {
  it('is sent as it is where it came through', async () => {
    fates = ['done, but no answer'];
    const attempts = attemptsWith(outbox());
    const attempt = Number(await attempts.begin(newOrder('a'), []));
    expect(await rows('SELECT id, status, test FROM attempts')).toEqual([
      { id: attempt, status: 'sending', test: 0 },
    ]);
    expect(await attempts.renew(attempt, newOrder('a'))).toBe(true);
  });

  it('is begun anew where it did not, and the first can come no more', async () => {
    fates = ['not done, and no answer'];
    const attempt = await attemptsWith(outbox()).begin(newOrder('a'), []);
    expect(await rows('SELECT id, status, test FROM attempts ORDER BY id')).toEqual([
      { id: 1, status: 'refused', test: 1 },
      { id: attempt, status: 'sending', test: 0 },
    ]);
    expect((await ledger.claims.holders(audioOf('a').names)).size).toBe(1);
  });

  it('is begun three times at most, then nothing is sent', async () => {
    const lost: Fate = 'not done, and no answer';
    fates = [lost, 'works', lost, 'works'];
    expect(await attemptsWith(outbox()).begin(newOrder('x'), [])).toBe(3);
    await store.run('DELETE FROM attempts WHERE test = 1');
    fates = [lost, 'works', lost, 'works', lost, 'works', lost];
    await expect(attemptsWith(outbox()).begin(newOrder('a'), [])).rejects.toThrow(CommitUnknown);
    expect(fates).toHaveLength(1);
    expect(await rows("SELECT id FROM attempts WHERE status = 'refused' AND test = 1")).toHaveLength(3);
    expect((await ledger.claims.holders(audioOf('a').names)).size).toBe(0);
  });

  it('is never sent where the ledger can not be asked, and the next command frees its audio', async () => {
    fates = ['done, but no answer', 'refused'];
    await expect(attemptsWith(outbox()).begin(newOrder('a'), [])).rejects.toThrow(CommitUnknown);
    expect([(await rows('SELECT status FROM attempts'))[0], keptFiles().length]).toEqual([
      { status: 'sending' },
      1,
    ]);
    expect(await handOver()).toEqual([]);
    expect(await rows('SELECT status, detail FROM attempts')).toEqual([
      { status: 'refused', detail: 'it was never sent: the ledger went away' },
    ]);
    expect([(await ledger.claims.holders(audioOf('a').names)).size, keptFiles()]).toEqual([0, []]);
  });

  it('that did not come through is kept from coming by the next command', async () => {
    fates = ['not done, and no answer', 'refused'];
    await expect(attemptsWith(outbox()).begin(newOrder('a'), [])).rejects.toThrow(CommitUnknown);
    expect(await rows('SELECT id FROM attempts')).toEqual([]);
    expect(await handOver()).toEqual([]);
    expect(await rows('SELECT status, test FROM attempts')).toEqual([{ status: 'refused', test: 1 }]);
  });

  it('that fails for another reason says so at once', async () => {
    fates = ['refused'];
    await expect(attemptsWith(outbox()).begin(newOrder('a'), [])).rejects.toThrow('the disk is full');
    expect([await rows('SELECT id FROM attempts'), keptFiles()]).toEqual([[], []]);
  });
});

describe('an outcome', () => {
  const begin = async (attempts: Attempts, more = {}): Promise<number> =>
    Number(await attempts.begin(newOrder('a b', more), []));

  it.each(['done, but no answer', 'not done, and no answer'] as const)(
    'whose COMMIT was %s is written once more, and then nothing is kept here',
    async (fate) => {
      const attempts = attemptsWith(outbox());
      const attempt = await begin(attempts);
      fates = [fate];
      const found = await attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1', '1', '2'));
      expect(found.problem).toBeUndefined();
      expect(await rows('SELECT status, order_id FROM attempts')).toEqual([
        { status: 'placed', order_id: 'o1' },
      ]);
      expect(await rows('SELECT id, url FROM files ORDER BY id')).toEqual([
        { id: '1', url: url('a') },
        { id: '2', url: url('b') },
      ]);
      expect(keptFiles()).toEqual([]);
    },
  );

  it('that the ledger does not take is kept here, told, and handed over once', async () => {
    const attempts = attemptsWith(outbox());
    const attempt = await begin(attempts);
    fates = ['refused'];
    await expect(
      attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1', '1', '2')),
    ).rejects.toMatchObject({
      kind: 'failed',
      message: 'the disk is full; the next steno here that reaches it is told',
    });
    expect(Outbox.count(folder, 'default')).toBe(1);
    expect(Outbox.count(folder, 'other')).toBe(0);
    const [name = ''] = keptFiles();
    const text = readFileSync(join(folder, name), 'utf8');
    // Another attempt has the number of the order, by somebody's mistake.
    const other = Number(await ledger.attempts.begin(newOrder('x'), []));
    await ledger.openAttempts.settlePlaced(other, 'o1', []);
    expect(await handOver()).toEqual([]);
    expect(await rows(`SELECT status, order_id FROM attempts WHERE id <> ${other}`)).toEqual([
      { status: 'placed', order_id: 'o1' },
    ]);
    const before = await rows('SELECT id, ended_at FROM attempts');
    writeFileSync(join(folder, name), text);
    expect(await handOver()).toEqual([]);
    expect(await rows('SELECT id, ended_at FROM attempts')).toEqual(before);
    expect(await rows('SELECT id FROM files')).toHaveLength(2);
    expect(keptFiles()).toEqual([]);
  });

  it('that is kept holds no secret', async () => {
    const attempts = attemptsWith(outbox());
    const audio = makeEpisode(`${url('a')}?k=${SECRET}`, [`guid ${SECRET}`], { title: SECRET });
    const order = newOrder('a', {
      ...{ audios: [audio, makeAudio(url('b'), SECRET)], names: [SECRET], notes: SECRET },
    });
    const attempt = Number(await attempts.begin(order, []));
    fates = ['refused'];
    const placed = { ...placedAs('o1', '1', '2'), hold: SECRET };
    await expect(attempts.markPlaced(attempt, order, placed)).rejects.toThrow('is told');
    const [name = ''] = keptFiles();
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text).not.toContain(SECRET);
    expect(JSON.parse(text)).toMatchObject({
      ...owner,
      outcome: {
        order: { notes: '****', names: ['****'], audios: [{ details: { title: '****' } }, { key: '****' }] },
        placed: { id: 'o1', hold: '****' },
      },
    });
  });

  it('refused and unclear ones are handed over too', async () => {
    const attempts = attemptsWith(outbox());
    const first = await begin(attempts);
    fates = ['refused'];
    await expect(attempts.markRefused(first, `no ${SECRET}`)).rejects.toThrow('is told');
    expect(readFileSync(join(folder, keptFiles()[0] ?? ''), 'utf8')).not.toContain(SECRET);
    await handOver();
    expect(await rows('SELECT status, detail FROM attempts')).toEqual([
      { status: 'refused', detail: 'no ****' },
    ]);
    const second = await begin(attempts);
    fates = ['refused'];
    await expect(attempts.markUncertain(second, 'no answer')).rejects.toThrow('is told');
    expect(JSON.parse(readFileSync(join(folder, keptFiles()[0] ?? ''), 'utf8')).outcome.kind).toBe(
      'uncertain',
    );
    await handOver();
    expect(await rows(`SELECT status, detail FROM attempts WHERE id = ${second}`)).toEqual([
      { status: 'uncertain', detail: 'no answer' },
    ]);
    expect((await ledger.claims.holders(audioOf('b').names)).size).toBe(1);
  });

  it('of an attempt that a failover lost is written all the same', async () => {
    const attempts = attemptsWith(outbox());
    const attempt = await begin(attempts);
    fates = ['refused'];
    await expect(attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1', '1', '2'))).rejects.toThrow(
      'told',
    );
    for (const table of ['claims', 'attempt_names', 'attempt_urls', 'attempts'])
      await store.run(`DELETE FROM ${table}`);
    for (const other of ['v', 'w', 'x', 'y', 'z']) await ledger.attempts.begin(newOrder(other), []);
    expect(await handOver()).toEqual([]);
    expect(await rows("SELECT id FROM attempts WHERE status = 'sending'")).toHaveLength(5);
    expect([...(await ledger.claims.holders(audioOf('b').names)).values()]).toMatchObject([
      { status: 'placed', order: 'o1', url: url('b') },
    ]);
    expect(await rows("SELECT id FROM files WHERE order_id = 'o1'")).toHaveLength(2);
  });

  it('of an order that somebody settled as another one is written as the service said', async () => {
    const attempts = attemptsWith(outbox());
    const attempt = await begin(attempts);
    fates = ['refused'];
    await expect(attempts.markPlaced(attempt, newOrder('a b'), placedAs('o1', '1', '2'))).rejects.toThrow(
      'told',
    );
    await ledger.openAttempts.settlePlaced(attempt, 'o9', []);
    await handOver();
    expect(await rows('SELECT order_id FROM attempts')).toEqual([{ order_id: 'o1' }]);
  });

  it('that can be kept nowhere says both', async () => {
    const file = join(freshFolder(), 'a file');
    writeFileSync(file, '');
    const attempts = attemptsWith(new Outbox(join(file, 'x'), () => owner));
    const attempt = await begin(attempts);
    fates = ['refused'];
    await expect(attempts.markUncertain(attempt, 'no answer')).rejects.toThrow(
      /^the disk is full; nor could it be kept here: /,
    );
  });

  it('is the error itself with a ledger in a file', async () => {
    const attempts = attemptsWith(undefined);
    const attempt = await begin(attempts);
    fates = ['refused'];
    await expect(attempts.markRefused(attempt, 'no')).rejects.toThrow(/^the disk is full$/);
    fates = ['done, but no answer'];
    await attempts.markRefused(attempt, 'no');
    expect(await rows('SELECT status FROM attempts')).toEqual([{ status: 'refused' }]);
  });
});
