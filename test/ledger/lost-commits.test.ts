/** What becomes of an order where the ledger goes away: while it is begun, and while its outcome is written. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Claims } from '../../src/ledger/claims.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { type Attempt, OpenAttempts } from '../../src/ledger/open-attempts.ts';
import { type Begun, makeAudio, makeEpisode } from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { SqliteStore } from '../../src/ledger/stores/sqlite.ts';
import { CommitUnknown, type Store } from '../../src/ledger/stores/store.ts';
import { type KeptOutcome, Waiting } from '../../src/ledger/waiting.ts';
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

const waiting = (onTrouble?: (text: string) => void): Waiting =>
  new Waiting(join(folder, 'waiting.db'), 'default', onTrouble, () => 'here');
const purchasesWith = (kept: Waiting | undefined): Purchases =>
  new Purchases({ db: breaking(), profile: 'default', hide: hideSecret, waiting: kept });
/** What waits, without handing it over. */
async function kept(): Promise<KeptOutcome[]> {
  const found: KeptOutcome[] = [];
  await waiting().handOver((each) => {
    found.push(each);
    return Promise.reject(new Error('only looked at'));
  });
  return found;
}
const rows = (sql: string): Promise<Record<string, unknown>[]> => store.all(sql);
const handOver = async (): Promise<string[]> => {
  const troubles: string[] = [];
  await waiting((text) => void troubles.push(text)).handOver((each) => new Purchases(ledger).take(each));
  return troubles;
};

beforeEach(async () => {
  path = join(freshFolder(), 'ledger.db');
  folder = freshFolder();
  store = await SqliteStore.open(path);
  ledger = await openLedger(path, 'default', hideSecret);
  fates = [];
});
afterEach(async () => {
  await store.close();
  await ledger.close();
});

describe('a purchase whose COMMIT got no answer', () => {
  it('is sent as it is where it came through', async () => {
    fates = ['done, but no answer'];
    const purchases = purchasesWith(waiting());
    const begun = (await purchases.begin(newOrder('a'), [])) as Begun;
    expect(await rows('SELECT id, number, started_at, status FROM purchases')).toEqual([
      { id: begun.id, number: begun.attempt, started_at: begun.startedAt, status: 'sending' },
    ]);
    expect(await purchases.renew(begun, newOrder('a'))).toBe(true);
  });

  it('is begun anew where it did not, and the first can come no more', async () => {
    fates = ['not done, and no answer'];
    const begun = await purchasesWith(waiting()).begin(newOrder('a'), []);
    expect(await rows('SELECT number, status, detail FROM purchases ORDER BY number')).toEqual([
      { number: 1, status: 'refused', detail: 'not sent: the ledger became unavailable' },
      { number: begun?.attempt, status: 'sending', detail: '' },
    ]);
    expect((await new Claims(ledger).holders(audioOf('a').names)).size).toBe(1);
  });

  it('is begun three times at most, then nothing is sent', async () => {
    const lost: Fate = 'not done, and no answer';
    fates = [lost, 'works', lost, 'works'];
    expect(await purchasesWith(waiting()).begin(newOrder('x'), [])).toMatchObject({ attempt: 3 });
    fates = [lost, 'works', lost, 'works', lost, 'works', lost];
    await expect(purchasesWith(waiting()).begin(newOrder('a'), [])).rejects.toThrow(CommitUnknown);
    expect(fates).toHaveLength(1);
    expect(await rows("SELECT id FROM purchases WHERE status = 'refused'")).toHaveLength(2 + 3);
    expect((await new Claims(ledger).holders(audioOf('a').names)).size).toBe(0);
  });

  it('is never sent where the ledger can not be asked, and the next command frees its audio', async () => {
    fates = ['done, but no answer', 'refused'];
    await expect(purchasesWith(waiting()).begin(newOrder('a'), [])).rejects.toThrow(CommitUnknown);
    expect(await rows('SELECT status FROM purchases')).toEqual([{ status: 'sending' }]);
    expect(await kept()).toHaveLength(1);
    expect(await handOver()).toEqual([]);
    expect(await rows('SELECT status, detail FROM purchases')).toEqual([
      { status: 'refused', detail: 'not sent: the ledger became unavailable' },
    ]);
    expect([(await new Claims(ledger).holders(audioOf('a').names)).size, await kept()]).toEqual([0, []]);
  });

  it('that did not come through is kept from coming by the next command', async () => {
    fates = ['not done, and no answer', 'refused'];
    await expect(purchasesWith(waiting()).begin(newOrder('a'), [])).rejects.toThrow(CommitUnknown);
    expect(await rows('SELECT id FROM purchases')).toEqual([]);
    expect(await handOver()).toEqual([]);
    expect(await rows('SELECT status FROM purchases')).toEqual([{ status: 'refused' }]);
    expect((await new Claims(ledger).holders(audioOf('a').names)).size).toBe(0);
  });

  it('that fails for another reason says so at once', async () => {
    fates = ['refused'];
    await expect(purchasesWith(waiting()).begin(newOrder('a'), [])).rejects.toThrow('the disk is full');
    expect([await rows('SELECT id FROM purchases'), await kept()]).toEqual([[], []]);
  });
});

describe('an outcome', () => {
  const order = newOrder('a b');
  const begin = async (purchases: Purchases): Promise<Begun> => (await purchases.begin(order, [])) as Begun;
  /** The attempt of the first purchase, as people see it. */
  const first = async (): Promise<Attempt> => (await new OpenAttempts(ledger).get(1)) as Attempt;

  it.each(['done, but no answer', 'not done, and no answer'] as const)(
    'whose COMMIT was %s is written once more, and then nothing is kept here',
    async (fate) => {
      const purchases = purchasesWith(waiting());
      const begun = await begin(purchases);
      fates = [fate];
      const found = await purchases.markPlaced(begun, order, placedAs('o1', '1', '2'));
      expect(found.problem).toBeUndefined();
      expect(await rows('SELECT status, order_id FROM purchases')).toEqual([
        { status: 'placed', order_id: 'o1' },
      ]);
      expect(await rows('SELECT file AS id, url FROM purchase_items ORDER BY file')).toEqual([
        { id: '1', url: url('a') },
        { id: '2', url: url('b') },
      ]);
      expect(await kept()).toEqual([]);
    },
  );

  it('that the ledger does not take is kept here, told, and handed over once', async () => {
    const purchases = purchasesWith(waiting());
    const begun = await begin(purchases);
    fates = ['refused'];
    await expect(purchases.markPlaced(begun, order, placedAs('o1', '1', '2'))).rejects.toMatchObject({
      kind: 'failed',
      message:
        'the disk is full; the next steno command on this machine that can write to the ledger records it',
    });
    const [outcome] = await kept();
    // Another purchase has the number of the order, by somebody's mistake.
    const other = (await new Purchases(ledger).begin(newOrder('x'), [])) as Begun;
    const mistaken = (await new OpenAttempts(ledger).get(other.attempt)) as Attempt;
    await new OpenAttempts(ledger).settlePlaced(mistaken, 'o1', []);
    expect(await handOver()).toEqual([]);
    expect(await rows(`SELECT status, order_id FROM purchases WHERE id <> '${other.id}'`)).toEqual([
      { status: 'placed', order_id: 'o1' },
    ]);
    const before = await rows('SELECT id, ended_at FROM purchases');
    await waiting().keepOutcome(outcome as KeptOutcome);
    expect(await handOver()).toEqual([]);
    expect(await rows('SELECT id, ended_at FROM purchases')).toEqual(before);
    expect(await rows('SELECT id FROM files')).toHaveLength(2);
    expect(await kept()).toEqual([]);
  });

  it('that is kept holds no secret', async () => {
    const purchases = purchasesWith(waiting());
    const audio = makeEpisode(`${url('a')}?k=${SECRET}`, [`guid ${SECRET}`], { title: SECRET });
    const secret = newOrder('a', {
      ...{ audios: [audio, makeAudio(url('b'), SECRET)], names: [SECRET], notes: SECRET },
    });
    const begun = (await purchases.begin(secret, [])) as Begun;
    fates = ['refused'];
    const placed = { ...placedAs('o1', '1', '2'), hold: SECRET };
    await expect(purchases.markPlaced(begun, secret, placed)).rejects.toThrow(
      'that can write to the ledger records it',
    );
    const [outcome] = await kept();
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(outcome).toMatchObject({
      begun: { id: begun.id, startedAt: begun.startedAt },
      purchase: { notes: '****', names: ['****'], audios: [{ details: { title: '****' } }, { key: '****' }] },
      outcome: { placed: { id: 'o1', hold: '****' } },
    });
  });

  it('refused and unclear ones are handed over too', async () => {
    const purchases = purchasesWith(waiting());
    const refused = await begin(purchases);
    fates = ['refused'];
    await expect(purchases.markRefused(refused, order, `no ${SECRET}`)).rejects.toThrow(
      'that can write to the ledger records it',
    );
    expect(JSON.stringify(await kept())).not.toContain(SECRET);
    await handOver();
    expect(await rows('SELECT status, detail FROM purchases')).toEqual([
      { status: 'refused', detail: 'no ****' },
    ]);
    const unclear = await begin(purchases);
    fates = ['refused'];
    await expect(purchases.markUncertain(unclear, order, 'no answer')).rejects.toThrow(
      'that can write to the ledger records it',
    );
    expect((await kept())[0]?.outcome.kind).toBe('uncertain');
    await handOver();
    expect(await rows(`SELECT status, detail FROM purchases WHERE id = '${unclear.id}'`)).toEqual([
      { status: 'uncertain', detail: 'no answer' },
    ]);
    expect((await new Claims(ledger).holders(audioOf('b').names)).size).toBe(1);
  });

  it('of a purchase that a failover lost is written all the same', async () => {
    const purchases = purchasesWith(waiting());
    const begun = await begin(purchases);
    fates = ['refused'];
    await expect(purchases.markPlaced(begun, order, placedAs('o1', '1', '2'))).rejects.toThrow(
      'that can write to the ledger records it',
    );
    for (const table of ['item_names', 'purchase_items', 'purchases'])
      await store.run(`DELETE FROM ${table}`);
    for (const other of ['v', 'w', 'x', 'y', 'z']) await new Purchases(ledger).begin(newOrder(other), []);
    expect(await handOver()).toEqual([]);
    expect(await rows("SELECT id FROM purchases WHERE status = 'sending'")).toHaveLength(5);
    expect([...(await new Claims(ledger).holders(audioOf('b').names)).values()]).toMatchObject([
      { status: 'placed', order: 'o1', url: url('b') },
    ]);
    expect(await rows("SELECT id FROM files WHERE order_id = 'o1'")).toHaveLength(2);
  });

  it('of an order that somebody settled as another one is written as the service said', async () => {
    const purchases = purchasesWith(waiting());
    const begun = await begin(purchases);
    fates = ['refused'];
    await expect(purchases.markPlaced(begun, order, placedAs('o1', '1', '2'))).rejects.toThrow(
      'that can write to the ledger records it',
    );
    await new OpenAttempts(ledger).settlePlaced(await first(), 'o9', []);
    await handOver();
    expect(await rows('SELECT order_id FROM purchases')).toEqual([{ order_id: 'o1' }]);
  });

  it('that can be kept nowhere says both', async () => {
    folder = join(freshFolder(), 'state');
    const purchases = purchasesWith(waiting());
    const begun = await begin(purchases);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    fates = ['refused'];
    await expect(purchases.markUncertain(begun, order, 'no answer')).rejects.toThrow(
      /^the disk is full; it could not be saved on this machine, either: /,
    );
  });

  it('is the error itself where nothing can be kept', async () => {
    const purchases = purchasesWith(undefined);
    const begun = await begin(purchases);
    fates = ['refused'];
    await expect(purchases.markRefused(begun, order, 'no')).rejects.toThrow(/^the disk is full$/);
    fates = ['done, but no answer'];
    await purchases.markRefused(begun, order, 'no');
    expect(await rows('SELECT status FROM purchases')).toEqual([{ status: 'refused' }]);
  });
});
