/** The file in which deliveries wait for the ledger. */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arrival, Spool, type SpoolOwner } from '../../src/ledger/spool.ts';
import { freshFolder } from '../support/files.ts';

const owner = (id: string): SpoolOwner => ({ id, rules: { actions: [], only: [] } });
const OWN = owner('own');

const arrival = (id: string, body: Uint8Array | string = id, more: Partial<Arrival> = {}): Arrival => ({
  ...{ id, receivedAt: '2026-01-01T00:00:00.000Z', remote: '127.0.0.1', contentType: 'text/plain' },
  ...{ mayBeTest: false, via: '', body: Buffer.from(body) },
  ...more,
});

const freshPath = (): string => join(freshFolder(), 'spool.db');
const freshSpool = (path = freshPath(), profile = 'default'): Spool => new Spool(path, profile);
const idsOf = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ id }) => id);

/** All deliveries of a listener, slice by slice. */
async function slicesOf(spool: Spool): Promise<Arrival[][]> {
  const slices: Arrival[][] = [];
  for (let after = 0; ; ) {
    const { arrivals, last } = await spool.next(OWN, after);
    if (arrivals.length === 0) return slices;
    slices.push([...arrivals]);
    after = last;
  }
}

describe('a spool', () => {
  it('gives back what was put into it, to the byte and in its order', async () => {
    const text = fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', ''));
    const made = fc.record({ body: fc.uint8Array({ maxLength: 300 }), remote: text, contentType: text });
    await fc.assert(
      fc.asyncProperty(fc.array(made, { maxLength: 20 }), async (all) => {
        const spool = freshSpool();
        const arrivals = all.map(({ body, ...more }, at) => arrival(`a${at}`, body, more));
        await spool.append(OWN, arrivals);
        expect((await slicesOf(spool)).flat()).toEqual(arrivals);
        spool.close();
      }),
      { numRuns: 20 },
    );
  });

  it('is read in slices of bounded size, however large the bodies are', async () => {
    const spool = freshSpool();
    const large = randomBytes(900_000);
    await spool.append(
      OWN,
      [...Array(5).keys()].map((at) => arrival(`large${at}`, large)),
    );
    await spool.append(
      OWN,
      [...Array(1_200).keys()].map((at) => arrival(`small${at}`)),
    );
    const slices = await slicesOf(spool);
    expect(slices.flat()).toHaveLength(1_205);
    for (const slice of slices) {
      expect(slice.length).toBeLessThanOrEqual(500);
      const bytes = slice.reduce((sum, { body }) => sum + body.length, 0);
      expect(slice.length === 1 || bytes <= 2 * 1024 * 1024).toBe(true);
    }
    spool.close();
  });

  it('has what was not removed, after it was opened anew, and each delivery once', async () => {
    const path = freshPath();
    const spool = freshSpool(path);
    const all = ['1', '2', '3'].map((id) => arrival(id));
    await spool.append(OWN, all);
    await spool.append(OWN, all.slice(1));
    await spool.remove(all.slice(1, 2));
    spool.close();
    const again = freshSpool(path);
    expect([idsOf(await again.arrivals()), await again.count(OWN)]).toEqual([['1', '3'], 2]);
    again.close();
  });

  it('becomes small again when it is empty', async () => {
    const spool = freshSpool();
    const all = [...Array(24).keys()].map((at) => arrival(String(at), randomBytes(1_000_000)));
    for (const each of all) await spool.append(OWN, [each]);
    await spool.remove(all);
    spool.close();
    expect(statSync(spool.path).size).toBeLessThan(1_000_000);
  });

  it('is not made by looking', async () => {
    const spool = freshSpool();
    expect([
      await spool.arrivals(),
      await spool.left(),
      await spool.count(OWN),
      existsSync(spool.path),
    ]).toEqual([...[[], [], 0], false]);
  });

  it('keeps profiles apart, and leaves alone what a listener has that runs', async () => {
    const path = freshPath();
    const [one, other] = [freshSpool(path), freshSpool(path, 'other')];
    await one.append(OWN, [arrival('1')]);
    await other.append(owner('theirs'), [arrival('2')]);
    expect([idsOf(await one.arrivals()), idsOf(await other.arrivals())]).toEqual([['1'], ['2']]);
    expect([await one.left(), await other.left()]).toEqual([[], []]);
    one.close();
    other.close();
  });

  it('gives what a listener left that is gone, with what it was asked for', async () => {
    const spool = freshSpool();
    const rules = { actions: [{ kind: 'exec', target: 'x', sources: ['received' as const] }], only: ['E'] };
    await spool.append({ id: 'gone', rules }, [arrival('1')]);
    await spool.append(OWN, [arrival('2')]);
    const db = new DatabaseSync(spool.path);
    db.exec("UPDATE listeners SET pid = 4194305, start = '1' WHERE id = 'gone'");
    db.close();
    expect(await spool.left()).toEqual([{ id: 'gone', rules }]);
    await spool.removeLeft();
    expect([await spool.left(), idsOf(await spool.arrivals())]).toEqual([[], ['2']]);
    spool.close();
  });

  it('that was deleted is made anew with all that its listener has in it', async () => {
    const spool = freshSpool();
    await spool.append(OWN, [arrival('1')]);
    for (const end of ['', '-wal', '-shm']) rmSync(spool.path + end, { force: true });
    expect(await spool.left()).toEqual([]);
    await spool.append(OWN, [arrival('2')]);
    expect(idsOf(await spool.arrivals())).toEqual(['1', '2']);
    spool.close();
  });
});
