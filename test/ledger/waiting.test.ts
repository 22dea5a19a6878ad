/** The file in which deliveries and outcomes wait for the ledger. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arrival, type KeptOutcome, Waiting, type WaitingOwner } from '../../src/ledger/waiting.ts';
import { freshFolder, modeOf } from '../support/files.ts';

const owner = (id: string): WaitingOwner => ({ id, rules: { actions: [], only: [] } });
const OWN = owner('own');

const arrival = (id: string, body: Uint8Array | string = id, more: Partial<Arrival> = {}): Arrival => ({
  ...{ id, receivedAt: '2026-01-01T00:00:00.000Z', remote: '127.0.0.1', contentType: 'text/plain' },
  ...{ mayBeTest: false, via: '', body: Buffer.from(body) },
  ...more,
});

const freshPath = (): string => join(freshFolder(), 'waiting.db');
const freshWaiting = (path = freshPath(), profile = 'default'): Waiting => new Waiting(path, profile);
const idsOf = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ id }) => id);

/** All deliveries of a listener, slice by slice. */
async function slicesOf(waiting: Waiting): Promise<Arrival[][]> {
  const slices: Arrival[][] = [];
  for (let after = 0; ; ) {
    const { arrivals, last } = await waiting.eventsOf(OWN, after);
    if (arrivals.length === 0) return slices;
    slices.push([...arrivals]);
    after = last;
  }
}

describe('deliveries that wait', () => {
  it('gives back what was put into it, to the byte and in its order', async () => {
    const text = fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', ''));
    const made = fc.record({ body: fc.uint8Array({ maxLength: 300 }), remote: text, contentType: text });
    await fc.assert(
      fc.asyncProperty(fc.array(made, { maxLength: 20 }), async (all) => {
        const waiting = freshWaiting();
        const arrivals = all.map(({ body, ...more }, at) => arrival(`a${at}`, body, more));
        await waiting.addEvents(OWN, arrivals);
        expect((await slicesOf(waiting)).flat()).toEqual(arrivals);
        waiting.close();
      }),
      { numRuns: 20 },
    );
  });

  it('is read in slices of bounded size, however large the bodies are', async () => {
    const waiting = freshWaiting();
    const large = randomBytes(900_000);
    await waiting.addEvents(
      OWN,
      [...Array(5).keys()].map((at) => arrival(`large${at}`, large)),
    );
    await waiting.addEvents(
      OWN,
      [...Array(1_200).keys()].map((at) => arrival(`small${at}`)),
    );
    const slices = await slicesOf(waiting);
    expect(slices.flat()).toHaveLength(1_205);
    for (const slice of slices) {
      expect(slice.length).toBeLessThanOrEqual(500);
      const bytes = slice.reduce((sum, { body }) => sum + body.length, 0);
      expect(slice.length === 1 || bytes <= 2 * 1024 * 1024).toBe(true);
    }
    waiting.close();
  });

  it('has what was not removed, after it was opened anew, and each delivery once', async () => {
    const path = freshPath();
    const waiting = freshWaiting(path);
    const all = ['1', '2', '3'].map((id) => arrival(id));
    await waiting.addEvents(OWN, all);
    await waiting.addEvents(OWN, all.slice(1));
    await waiting.remove(['2']);
    waiting.close();
    const again = freshWaiting(path);
    expect([idsOf(await again.events()), await again.count('event', OWN)]).toEqual([['1', '3'], 2]);
    again.close();
  });

  it('becomes small again when it is empty', async () => {
    const waiting = freshWaiting();
    const all = [...Array(24).keys()].map((at) => arrival(String(at), randomBytes(1_000_000)));
    for (const each of all) await waiting.addEvents(OWN, [each]);
    await waiting.remove(idsOf(all));
    waiting.close();
    expect(statSync(waiting.path).size).toBeLessThan(1_000_000);
  });

  it('is not made by looking', async () => {
    const waiting = freshWaiting();
    expect([
      await waiting.events(),
      await waiting.gone(),
      await waiting.count('event', OWN),
      existsSync(waiting.path),
    ]).toEqual([...[[], [], 0], false]);
  });

  it('keeps profiles apart, and leaves alone what a listener has that runs', async () => {
    const path = freshPath();
    const [one, other] = [freshWaiting(path), freshWaiting(path, 'other')];
    await one.addEvents(OWN, [arrival('1')]);
    await other.addEvents(owner('theirs'), [arrival('2')]);
    expect([idsOf(await one.events()), idsOf(await other.events())]).toEqual([['1'], ['2']]);
    expect([await one.gone(), await other.gone()]).toEqual([[], []]);
    one.close();
    other.close();
  });

  it('gives what a listener left that is gone, with what it was asked for', async () => {
    const waiting = freshWaiting();
    const rules = { actions: [{ kind: 'exec', target: 'x', sources: ['received' as const] }], only: ['E'] };
    await waiting.addEvents({ id: 'gone', rules }, [arrival('1')]);
    await waiting.addEvents(OWN, [arrival('2')]);
    const db = new DatabaseSync(waiting.path);
    db.exec("UPDATE waiting SET pid = 4194305, start = '1' WHERE owner = 'gone'");
    db.close();
    expect(await waiting.gone()).toEqual([{ id: 'gone', rules }]);
    await waiting.removeGone();
    expect([await waiting.gone(), idsOf(await waiting.events())]).toEqual([[], ['2']]);
    waiting.close();
  });

  it('whose file was deleted are written anew; one that is damaged is put aside', async () => {
    const waiting = freshWaiting();
    await waiting.addEvents(OWN, [arrival('1')]);
    for (const end of ['', '-wal', '-shm']) rmSync(waiting.path + end, { force: true });
    expect(await waiting.gone()).toEqual([]);
    await waiting.addEvents(OWN, [arrival('2')]);
    expect(idsOf(await waiting.events())).toEqual(['1', '2']);
    waiting.close();
    writeFileSync(waiting.path, Buffer.alloc(8_192, 'Z'));
    const told: string[] = [];
    const again = new Waiting(waiting.path, 'default', (text) => void told.push(text));
    await again.addEvents(OWN, [arrival('3')]);
    expect([idsOf(await again.events()), told]).toEqual([
      ['3'],
      [expect.stringMatching(/is damaged.*saved as .*waiting\.db\.damaged-/)],
    ]);
    again.close();
  });
});

describe('outcomes of purchases', () => {
  const begun = { id: 't1', attempt: 1, startedAt: 'then' };
  const sender = { user: 'me', host: 'here', pid: 1, start: '', job: '', actor: '' };
  const purchase = { audios: [], skus: [], names: [], test: false };
  const kept: KeptOutcome = {
    ...{ begun, sender, purchase, at: 'now' },
    outcome: { kind: 'refused', detail: 'no' },
  };
  const taken = async (waiting: Waiting): Promise<string[]> => {
    const ids: string[] = [];
    await waiting.handOver(async ({ begun: { id } }) => void ids.push(id));
    return ids;
  };

  it('are handed over once, to their own account and their own ledger alone', async () => {
    const path = freshPath();
    const of = (account: string, ledger: string): Waiting =>
      new Waiting(path, account, undefined, () => ledger);
    const waiting = of('default', 'here');
    await waiting.keepOutcome(kept);
    expect(await waiting.count('outcome')).toBe(1);
    expect([await taken(of('other', 'here')), await taken(of('default', 'there'))]).toEqual([[], []]);
    expect([await taken(waiting), await taken(waiting)]).toEqual([['t1'], []]);
    expect(modeOf(path)).toBe('600');
  });

  it('stay where they could not be taken, which is told', async () => {
    const told: string[] = [];
    const waiting = new Waiting(freshPath(), 'default', (text) => void told.push(text));
    await waiting.keepOutcome(kept);
    await waiting.handOver(() => Promise.reject(new Error('the ledger is gone')));
    expect(told).toEqual([expect.stringMatching(/could not be written to the ledger: the ledger is gone/)]);
    expect(await taken(waiting)).toEqual(['t1']);
  });

  it('have room before they come, which goes back, also that of a process that was killed', async () => {
    const waiting = freshWaiting();
    const folder = dirname(waiting.path);
    const room = (): string[] => readdirSync(folder).filter((name) => name.includes('.room-'));
    waiting.reserve({ ...purchase, notes: 'n'.repeat(1_000) }, 't1');
    expect(room().map((name) => statSync(join(folder, name)).size >= 262_144 + 2_000)).toEqual([true]);
    await waiting.keepOutcome(kept);
    expect(room()).toEqual([]);
    waiting.reserve(purchase, 't2');
    writeFileSync(`${waiting.path}.room-4194303-t3`, '');
    expect([await taken(waiting), room().length]).toEqual([['t1'], 1]);
    waiting.release('t2');
    expect(room()).toEqual([]);
  });
});
