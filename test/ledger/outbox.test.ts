/** Outcomes that a ledger could not take, as they are kept on this machine. */
import fs, { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type KeptOutcome, Outbox } from '../../src/ledger/outbox.ts';
import { freshFolder, modeOf } from '../support/files.ts';

const owner = { account: 'default', ledger: 'here' };
let folder: string;
beforeEach(() => {
  folder = freshFolder();
});
const outbox = (): Outbox => new Outbox(folder, () => owner);
/** Keeps an outcome; gives what removes it again. */
const add = (kept: KeptOutcome, box = outbox()): (() => void) => {
  box.keep(kept);
  return () => box.remove(kept.begun.id);
};
const keptFiles = (): string[] => readdirSync(folder);

describe('what is kept of outcomes', () => {
  const begun = { id: 't1', attempt: 1, startedAt: 'then' };
  const sender = { user: 'me', host: 'here', pid: 1, start: '', job: '', actor: '' };
  const purchase = { audios: [], skus: [], names: [], test: false };
  const kept: KeptOutcome = {
    begun,
    at: 'now',
    sender,
    purchase,
    outcome: { kind: 'refused', detail: 'no' },
  };
  const seen = async (box: Outbox): Promise<unknown[]> => {
    const found: unknown[] = [];
    const troubles: unknown[] = [];
    await box.handOver(
      async (each) => void found.push(each.begun.id),
      async (text) => void troubles.push(text),
    );
    for (const text of troubles) expect(text).toMatch(/: (it is damaged|it is a folder)$/);
    return [found, troubles.length];
  };

  /** Calls of the file system, with others in their place while `work` runs. */
  function withCalls(calls: Partial<typeof fs>, work: () => void): void {
    const real = Object.fromEntries(Object.keys(calls).map((name) => [name, fs[name as keyof typeof fs]]));
    try {
      Object.assign(fs, calls);
      syncBuiltinESMExports();
      work();
    } finally {
      Object.assign(fs, real);
      syncBuiltinESMExports();
    }
  }

  it('is synced before it counts, and so is its folder', () => {
    const steps: string[] = [];
    const { openSync, writeSync, fsyncSync, closeSync, renameSync } = fs;
    const noting = Object.entries({ openSync, writeSync, fsyncSync, closeSync, renameSync }).map(
      ([name, real]) => [
        name,
        (...given: unknown[]): unknown => {
          steps.push(name.slice(0, -4));
          return Reflect.apply(real, fs, given);
        },
      ],
    );
    withCalls(Object.fromEntries(noting), () => add(kept));
    expect(steps.join(' ')).toBe('open write fsync close rename open fsync close');
  });

  const failing = (code: string) => ({
    fsyncSync: (): never => {
      throw Object.assign(new Error(code), { code });
    },
  });

  it.each(['EINVAL', 'ENOTSUP', 'ENOSYS'])(
    'is kept, and can be removed, where the file system says %s to a sync',
    async (code) => {
      let remove = (): void => {};
      withCalls(failing(code), () => {
        remove = add(kept);
      });
      expect(keptFiles()).toHaveLength(1);
      remove();
      expect(keptFiles()).toEqual([]);
    },
  );

  it('is no outcome where the disk fails to sync it', () => {
    withCalls(failing('EIO'), () => void expect(() => add(kept)).toThrow('EIO'));
    expect(keptFiles().filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('is whole where the disk takes a part of it at a time', async () => {
    const { writeSync } = fs;
    const inParts = (file: number, text: string | Uint8Array, at = 0): number =>
      writeSync(file, Buffer.from(text).subarray(at, at + 7), 0, undefined, at);
    withCalls({ writeSync: inParts as typeof writeSync }, () => void add(kept));
    expect(await seen(outbox())).toEqual([['t1'], 0]);
  });

  it('in part, by a process that is gone, is removed', async () => {
    for (const name of [`a.${process.pid}.new`, 'b.4194303.new', 'c.4194303.new.json'])
      writeFileSync(join(folder, name), name.endsWith('json') ? JSON.stringify({ ...owner, ...kept }) : '');
    expect(await seen(outbox())).toEqual([['t1'], 0]);
    expect(keptFiles()).toEqual([`a.${process.pid}.new`]);
  });

  it('that can not be read is told, and stays', async () => {
    mkdirSync(join(folder, 'x.json'));
    expect(await seen(outbox())).toEqual([[], 1]);
  });

  it('is handed over to its own account and its own ledger alone', async () => {
    const remove = add(kept);
    expect(await seen(new Outbox(folder, () => ({ ...owner, account: 'other' })))).toEqual([[], 0]);
    expect(await seen(new Outbox(folder, () => ({ ...owner, ledger: 'there' })))).toEqual([[], 0]);
    expect(keptFiles()).toHaveLength(1);
    expect(await seen(outbox())).toEqual([['t1'], 0]);
    expect(keptFiles()).toEqual([]);
    remove();
    add(kept)();
    expect(keptFiles()).toEqual([]);
  });

  it('may go while it is handed over, because another process was faster', async () => {
    for (const id of ['t1', 't2']) add({ ...kept, begun: { ...begun, id } });
    const taken: string[] = [];
    const take = async (each: KeptOutcome): Promise<void> => {
      taken.push(each.begun.id);
      // Another process has taken both meanwhile.
      for (const name of keptFiles()) rmSync(join(folder, name));
    };
    const troubles: string[] = [];
    await outbox().handOver(take, async (text) => void troubles.push(text));
    expect([taken.length, troubles, keptFiles()]).toEqual([1, [], []]);
  });

  it('stays where it could not be taken', async () => {
    add(kept);
    const troubles: string[] = [];
    const take = (): Promise<void> => Promise.reject(new Error('the ledger is gone'));
    await outbox().handOver(take, async (text) => void troubles.push(text));
    expect([keptFiles().length, troubles.length]).toEqual([1, 1]);
    expect(troubles[0]).toContain('the ledger is gone');
  });

  const damaged = (change: object): string => JSON.stringify({ ...owner, ...kept, ...change });
  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['an outcome without a kind', damaged({ outcome: { detail: 'no' } })],
    ['one of a kind that is not known', damaged({ outcome: { kind: 'lost' } })],
    ['a refusal without its detail', damaged({ outcome: { kind: 'refused' } })],
    ['an unclear one without its detail', damaged({ outcome: { kind: 'uncertain' } })],
    ['one without a purchase', damaged({ begun: undefined })],
    ['one without the id of its purchase', damaged({ begun: { ...begun, id: undefined } })],
    ['one without a beginning', damaged({ begun: { ...begun, startedAt: undefined } })],
    ['one without a time', damaged({ at: undefined })],
    ['one without a sender', damaged({ sender: undefined })],
    ['one without an account', damaged({ account: undefined })],
    ['one without a ledger', damaged({ ledger: undefined })],
    ['one without audios', damaged({ purchase: {} })],
    ['an order without its files', damaged({ outcome: { kind: 'placed', placed: { id: 'o' } } })],
  ])('and is %s is said to be damaged, and stays', async (_, text) => {
    writeFileSync(join(folder, 'x.json'), text);
    add(kept);
    expect(await seen(outbox())).toEqual([['t1'], 1]);
    expect(keptFiles()).toEqual(['x.json']);
  });

  it.each([
    ['of an order without an id', { kind: 'placed', placed: { id: '', audiofiles: ['1'] } }],
    ['of an upgrade that was done', { kind: 'done' }],
  ] as const)('%s is whole', async (_, outcome) => {
    add({ ...kept, outcome: outcome as KeptOutcome['outcome'] });
    expect(await seen(outbox())).toEqual([['t1'], 0]);
  });

  it('has room before it comes, which goes back where it does not', async () => {
    const box = outbox();
    box.reserve({ ...purchase, notes: 'n'.repeat(1000) }, 't1');
    expect(keptFiles().map((name) => statSync(join(folder, name)).size >= 5096)).toEqual([true]);
    expect(await seen(outbox())).toEqual([[], 0]);
    box.keep(kept);
    box.release('t1');
    expect(await seen(outbox())).toEqual([['t1'], 0]);
    box.reserve(purchase, 't2');
    box.release('t2');
    expect(keptFiles()).toEqual([]);
  });

  it('takes no room of its own where it was taken before', () => {
    const box = outbox();
    box.reserve(purchase, 't1');
    const { writeSync } = fs;
    const sizes: number[] = [];
    const [name = ''] = keptFiles();
    const before = statSync(join(folder, name)).size;
    const noting = (...given: Parameters<typeof writeSync>): number => {
      const written = Reflect.apply(writeSync, fs, given) as number;
      sizes.push(statSync(join(folder, name)).size);
      return written;
    };
    withCalls({ writeSync: noting as typeof writeSync }, () => box.keep(kept));
    expect(sizes).toEqual([before]);
  });

  it('is in files that only the user can read, and what is no outcome is left alone', async () => {
    const inner = join(folder, 'inner');
    add(kept, new Outbox(inner, () => owner));
    expect([modeOf(inner), modeOf(join(inner, readdirSync(inner)[0] ?? ''))]).toEqual(['700', '600']);
    rmSync(inner, { recursive: true });
    writeFileSync(join(folder, 'x.new'), 'half');
    add(kept);
    expect(await seen(outbox())).toEqual([['t1'], 0]);
    expect(keptFiles()).toEqual(['x.new']);
    expect(await seen(new Outbox(join(folder, 'none'), () => owner))).toEqual([[], 0]);
  });
});
