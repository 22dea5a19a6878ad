/** Outcomes that a ledger could not take, as they are kept on this machine. */
import fs, { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
const keptFiles = (): string[] => readdirSync(folder);

describe('what is kept of outcomes', () => {
  const kept: KeptOutcome = { token: 't1', at: 'now', outcome: { kind: 'refused', detail: 'no' } };
  const seen = async (box: Outbox): Promise<unknown[]> => {
    const found: unknown[] = [];
    const troubles: unknown[] = [];
    await box.handOver(
      async (each) => void found.push(each.token),
      async (text) => void troubles.push(text),
    );
    for (const text of troubles) expect(text).toMatch(/: (it is damaged|EISDIR.*)$/);
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
    withCalls(Object.fromEntries(noting), () => outbox().add(kept));
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
        remove = outbox().add(kept);
      });
      expect(keptFiles()).toHaveLength(1);
      remove();
      expect(keptFiles()).toEqual([]);
    },
  );

  it('is no outcome where the disk fails to sync it', () => {
    withCalls(failing('EIO'), () => void expect(() => outbox().add(kept)).toThrow('EIO'));
    expect(keptFiles().filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('is whole where the disk takes a part of it at a time', async () => {
    const { writeSync } = fs;
    const inParts = (file: number, text: string | Uint8Array, at = 0): number =>
      writeSync(file, Buffer.from(text).subarray(at, at + 7));
    withCalls({ writeSync: inParts as typeof writeSync }, () => void outbox().add(kept));
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
    const remove = outbox().add(kept);
    expect(await seen(new Outbox(folder, () => ({ ...owner, account: 'other' })))).toEqual([[], 0]);
    expect(await seen(new Outbox(folder, () => ({ ...owner, ledger: 'there' })))).toEqual([[], 0]);
    expect(keptFiles()).toHaveLength(1);
    expect(await seen(outbox())).toEqual([['t1'], 0]);
    expect(keptFiles()).toEqual([]);
    remove();
    outbox().add(kept)();
    expect(keptFiles()).toEqual([]);
  });

  it('may go while it is handed over, because another process was faster', async () => {
    for (const token of ['t1', 't2']) outbox().add({ ...kept, token });
    const taken: string[] = [];
    const take = async ({ token }: KeptOutcome): Promise<void> => {
      taken.push(token);
      // Another process has taken both meanwhile.
      for (const name of keptFiles()) rmSync(join(folder, name));
    };
    const troubles: string[] = [];
    await outbox().handOver(take, async (text) => void troubles.push(text));
    expect([taken.length, troubles, keptFiles()]).toEqual([1, [], []]);
  });

  it('stays where it could not be taken', async () => {
    outbox().add(kept);
    const troubles: string[] = [];
    const take = (): Promise<void> => Promise.reject(new Error('the ledger is gone'));
    await outbox().handOver(take, async (text) => void troubles.push(text));
    expect([keptFiles().length, troubles.length]).toEqual([1, 1]);
    expect(troubles[0]).toContain('the ledger is gone');
  });

  const { token, at, outcome } = kept;
  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['an outcome without a kind', JSON.stringify({ ...owner, token, at, outcome: { detail: 'no' } })],
    ['one without its detail', JSON.stringify({ ...owner, token, at, outcome: { kind: 'refused' } })],
    ['one without a token', JSON.stringify({ ...owner, at, outcome })],
    ['one without a time', JSON.stringify({ ...owner, token, outcome })],
    ['one without an account', JSON.stringify({ ledger: 'here', token, at, outcome })],
    ['one without a ledger', JSON.stringify({ account: 'default', token, at, outcome })],
    [
      'an order without audios',
      JSON.stringify({ ...owner, token, at, outcome: { kind: 'placed', order: {}, placed: { id: 'o' } } }),
    ],
    [
      'an order without an id',
      JSON.stringify({ ...owner, token, at, outcome: { kind: 'placed', order: { audios: [] }, placed: {} } }),
    ],
  ])('and is %s is said to be damaged, and stays', async (_, text) => {
    writeFileSync(join(folder, 'x.json'), text);
    outbox().add(kept);
    expect(await seen(outbox())).toEqual([['t1'], 1]);
    expect(keptFiles()).toEqual(['x.json']);
  });

  it('is in files that only the user can read, and what is no outcome is left alone', async () => {
    const inner = join(folder, 'inner');
    new Outbox(inner, () => owner).add(kept);
    expect([modeOf(inner), modeOf(join(inner, readdirSync(inner)[0] ?? ''))]).toEqual(['700', '600']);
    rmSync(inner, { recursive: true });
    writeFileSync(join(folder, 'x.new'), 'half');
    outbox().add(kept);
    expect(await seen(outbox())).toEqual([['t1'], 0]);
    expect(keptFiles()).toEqual(['x.new']);
    expect(await seen(new Outbox(join(folder, 'none'), () => owner))).toEqual([[], 0]);
  });
});
