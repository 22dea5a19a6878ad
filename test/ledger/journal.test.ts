/** What is read back from a journal, whatever a crash or a bad disk has made of it. */
import fs, { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalsOf, Journal, type KeptBatch } from '../../src/ledger/journal/journal.ts';
import { JournalFile } from '../../src/ledger/journal/journal-file.ts';
import { JournalFolder } from '../../src/ledger/journal/journal-folder.ts';
import {
  type Arrival,
  encodeHead,
  encodeArrivals as encodePieces,
  scan,
} from '../../src/ledger/journal/record.ts';
import { thisProcess } from '../../src/lib/processes.ts';
import { freshFolder } from '../support/files.ts';
import { runs } from '../support/runs.ts';

const marker = Buffer.from('5c0ffee1deadbeef', 'hex');
const head = { profile: 'default', owner: thisProcess(), actions: [], only: [] };

const arrival = (id: string, body: Uint8Array): Arrival => ({
  id,
  profile: 'default',
  receivedAt: '2026-11-15T00:00:00.000Z',
  remote: '127.0.0.1',
  contentType: 'text/plain; x="\u00e9\\"',
  mayBeTest: false,
  hops: '',
  body: Buffer.from(body),
});

const arrivals = fc
  .array(fc.uint8Array({ maxLength: 60 }), { minLength: 1, maxLength: 5 })
  .map((bodies) => bodies.map((body, at) => arrival(`j-${at}`, body)));

const encodeArrivals = (list: readonly Arrival[], mark: Buffer): Buffer =>
  Buffer.concat(encodePieces(list, mark));

const journalOf = (list: readonly Arrival[]): Buffer =>
  Buffer.concat([encodeHead(head, marker), encodeArrivals(list, marker)]);

const readBack = (bytes: Buffer, end = true): Arrival[] =>
  [...scan(bytes, marker, end)].flatMap((record) => (record.kind === 'arrival' ? [record.arrival] : []));

/** Where each record begins, and where the last one ends. */
function bounds(list: readonly Arrival[]): number[] {
  const starts = [encodeHead(head, marker).length];
  for (const each of list) starts.push((starts.at(-1) ?? 0) + encodeArrivals([each], marker).length);
  return starts;
}

describe('a journal', () => {
  it('gives back what was written, to the byte', () => {
    fc.assert(fc.property(arrivals, (list) => void expect(readBack(journalOf(list))).toEqual(list)));
  });

  it('that is cut off at any byte gives back every record before that, and no other', () => {
    fc.assert(
      fc.property(arrivals, (list) => {
        const bytes = journalOf(list);
        const ends = bounds(list).slice(1);
        for (let size = 0; size <= bytes.length; size += 1) {
          const whole = ends.filter((end) => end <= size).length;
          expect(readBack(bytes.subarray(0, size))).toEqual(list.slice(0, whole));
          const zeros = Buffer.concat([bytes.subarray(0, size), Buffer.alloc(40)]);
          expect(readBack(zeros).slice(0, whole)).toEqual(list.slice(0, whole));
        }
      }),
      { numRuns: runs(20) },
    );
  });

  it('loses only the record in which a byte was changed', () => {
    const damage = fc.tuple(
      arrivals,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(damage, ([list, where, change]) => {
        const bytes = journalOf(list);
        const at = Math.floor(where * bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ change;
        const starts = bounds(list);
        const expected = list.filter((_, n) => !((starts[n] ?? 0) <= at && at < (starts[n + 1] ?? 0)));
        expect(readBack(bytes)).toEqual(expected);
      }),
      { numRuns: runs(300) },
    );
  });

  it('is read in time that grows with its length, whatever a sender has put into it', () => {
    // Every byte of the body begins something that looks like a record of another journal, and the last one is torn.
    const time = (size: number): number => {
      const fake = encodeArrivals([arrival('x', new Uint8Array(10))], Buffer.alloc(8, 1));
      const body = Buffer.concat(Array.from({ length: Math.ceil(size / fake.length) }, () => fake));
      const bytes = journalOf([arrival('j-1', body)]);
      const started = performance.now();
      expect(readBack(bytes.subarray(0, bytes.length - 1))).toEqual([]);
      return performance.now() - started;
    };
    time(100_000);
    const [short, long] = [time(100_000), time(1_000_000)];
    expect(long).toBeLessThan(100 * short + 50);
  });

  it('of many megabytes is read in parts, with each record whole', () => {
    const folder = freshFolder();
    const list = Array.from({ length: 30 }, (_, at) => arrival(`j-${at}`, Buffer.alloc(300_000 + at, at)));
    writeFileSync(join(folder, `default-${marker.toString('hex')}.log`), journalOf(list));
    expect([...new JournalFolder(folder, 'default').arrivals()].map(({ id }) => id)).toEqual(
      list.map(({ id }) => id),
    );
  });
});

describe('the folder of journals', () => {
  const name = `default-${marker.toString('hex')}.log`;

  /** A folder with the journal of a process, last written so long ago. */
  function folderWith(
    owner: { host: string; pid: number; start: string },
    secondsAgo: number,
  ): JournalFolder {
    const folder = freshFolder();
    const bytes = Buffer.concat([
      encodeHead({ ...head, owner }, marker),
      encodeArrivals([arrival('j-1', Buffer.from('x'))], marker),
    ]);
    writeFileSync(join(folder, name), bytes);
    const at = new Date(Date.now() - secondsAgo * 1000);
    utimesSync(join(folder, name), at, at);
    return new JournalFolder(folder, 'default');
  }

  it.each([
    ['of a process that runs', thisProcess(), 0, false],
    ['of a process that runs and was silent for long', thisProcess(), 600, true],
    ['of a process that is gone', { ...thisProcess(), pid: 2 ** 22 + 1 }, 0, true],
    [
      'of another process with the same number',
      { ...thisProcess(), start: '1' },
      0,
      process.platform === 'linux',
    ],
    ['of another machine that is there', { host: 'elsewhere', pid: 1, start: '' }, 5, false],
    ['of another machine that was silent for long', { host: 'elsewhere', pid: 1, start: '' }, 60, true],
  ])('gives the journal %s to the next listener only if its own is gone', (_, owner, secondsAgo, isTaken) => {
    const journals = folderWith(owner, secondsAgo);
    expect(journals.takeOver()).toHaveLength(isTaken ? 1 : 0);
    expect(readdirSync(journals.path)).toEqual([isTaken ? name.replace('.log', '.left.log') : name]);
    // A second one that comes at the same time finds it under its new name.
    expect(journals.takeOver()).toHaveLength(isTaken ? 1 : 0);
    expect([...journals.arrivals()]).toHaveLength(1);
  });

  it.each([
    [15, true],
    [5, false],
  ])(
    'gives one whose beginning is damaged to a listener after two ticks: %s s, %s',
    (secondsAgo, isTaken) => {
      const journals = folderWith(thisProcess(), secondsAgo);
      const path = join(journals.path, name);
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill('Z', 0, 20));
      const at = new Date(Date.now() - secondsAgo * 1000);
      utimesSync(path, at, at);
      expect(journals.takeOver()).toHaveLength(isTaken ? 1 : 0);
      expect([...journals.arrivals()]).toHaveLength(1);
    },
  );

  it('is read as empty where it is not there', () => {
    const journals = new JournalFolder(join(freshFolder(), 'none'), 'default');
    expect([journals.takeOver(), [...journals.arrivals()]]).toEqual([[], []]);
  });
});

describe('a journal that is written', () => {
  it('is filled with zeros ahead of its records, and cut back when they are in the ledger', async () => {
    const folder = join(freshFolder(), 'journal');
    const batches: KeptBatch[] = [];
    const journal = new Journal({ folder, head, onKept: (batch) => batches.push(batch) });
    const size = (): number => statSync(join(folder, readdirSync(folder)[0] ?? '')).size;
    const empty = size();
    const delivery = { contentType: '', receivedAt: '2026-11-15T00:00:00.000Z', remote: '' };
    const keep = (n: number): Promise<unknown> =>
      new Promise((done) => journal.append({ ...delivery, body: Buffer.alloc(500, n) }, false, done));
    // One that comes alone makes room for no other.
    expect(await keep(0)).toBeUndefined();
    expect(size()).toBe(empty + (batches.at(-1)?.length ?? 0));
    const sizes = new Set<number>();
    for (let n = 1; n <= 200; n += 1) {
      expect(await keep(n)).toBeUndefined();
      sizes.add(size());
    }
    expect(sizes.size).toBeLessThan(10);
    const kept = [...new JournalFolder(folder, 'default').arrivals()];
    expect(kept.map(({ body }) => body[0])).toEqual(Array.from({ length: 201 }, (_, n) => n));
    expect(batches.flatMap(arrivalsOf)).toEqual(kept);
    for (const { file, count } of batches) journal.markMoved(file, count);
    expect(size()).toBe(empty);
    expect(await keep(0)).toBeUndefined();
    expect(size()).toBe(empty + (batches.at(-1)?.length ?? 0));
  });

  it('goes on in a new file when one has grown large, and keeps every file that is needed', async () => {
    const folder = join(freshFolder(), 'journal');
    const batches: Array<{ file: { path: string }; count: number }> = [];
    const journal = new Journal({ folder, head, onKept: (batch) => batches.push(batch) });
    const body = Buffer.alloc(1_000_000, 'a');
    const delivery = { body, contentType: '', receivedAt: '2026-11-15T00:00:00.000Z', remote: '' };
    const errors: unknown[] = [];
    for (let n = 0; n < 40; n += 1)
      await new Promise<void>((done) => {
        journal.append(delivery, false, (error) => {
          if (error !== undefined) errors.push(error);
          done();
        });
      });
    expect(errors).toEqual([]);
    expect(readdirSync(folder).length).toBeGreaterThan(2);
    expect([...new JournalFolder(folder, 'default').arrivals()]).toHaveLength(40);
    const [first] = batches;
    for (const { file, count } of batches) if (file === first?.file) journal.markMoved(file as never, count);
    expect(readdirSync(folder)).not.toContain(first?.file.path.split('/').at(-1));
    const left = journal.close();
    expect(left.length).toBe(readdirSync(folder).length);
  });

  it('writes again what it has not answered when its file is taken over', async () => {
    const folder = join(freshFolder(), 'journal');
    const journal = new Journal({ folder, head, onKept: () => {} });
    const keep = (text: string): Promise<unknown> =>
      new Promise((done) => {
        const delivery = { body: Buffer.from(text), contentType: '', receivedAt: '', remote: '' };
        journal.append(delivery, false, done);
      });
    await keep('first');
    const at = new Date(0);
    utimesSync(join(folder, readdirSync(folder)[0] ?? ''), at, at);
    const [left] = new JournalFolder(folder, 'default').takeOver();
    expect(await keep('second')).toBeUndefined();
    const own = readdirSync(folder).filter((each) => !each.endsWith('.left.log'));
    expect(own).toHaveLength(1);
    expect(readFileSync(join(folder, own[0] ?? ''), 'latin1')).toContain('second');
    expect(readFileSync(left?.path ?? '', 'latin1')).toContain('first');
    journal.close();
  });

  it('can not be opened where its folder is a file', () => {
    const folder = freshFolder();
    mkdirSync(join(folder, 'state'));
    writeFileSync(join(folder, 'state', 'journal'), '');
    const open = (): Journal =>
      new Journal({ folder: join(folder, 'state', 'journal'), head, onKept: () => {} });
    expect(open).toThrow(/can't make the folder .*journal/);
  });
});

describe('zeros that are written ahead', () => {
  it('are tried once where the disk has no room for them, and again when the file was emptied', () => {
    const { writeSync } = fs;
    const journal = new JournalFile(freshFolder(), head);
    let tries = 0;
    const refusing = (file: number, bytes: Buffer, ...rest: number[]): number => {
      if (bytes.some((byte) => byte !== 0)) return writeSync(file, bytes, ...rest);
      tries += 1;
      throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
    };
    const append = (count: number): void => {
      for (let n = 0; n < count; n += 1) journal.append([Buffer.alloc(100, 1)]);
    };
    try {
      Object.assign(fs, { writeSync: refusing });
      syncBuiltinESMExports();
      append(5);
      expect(tries).toBe(1);
      journal.empty();
      append(5);
      expect(tries).toBe(2);
    } finally {
      Object.assign(fs, { writeSync });
      syncBuiltinESMExports();
      journal.remove();
    }
  });
});
