/** Writes to a ledger, many at a time: what comes during a write is written after it, without a further push. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { answerWriter } from '../../src/ledger/answers.ts';
import { Batcher } from '../../src/ledger/batcher.ts';
import type { Files, ServiceAnswer } from '../../src/ledger/files.ts';

const WRITE_MS = 30;

const answer = (id: string): ServiceAnswer => ({ id }) as unknown as ServiceAnswer;

/** A table whose writes take their time; `batches` are the ids of each. */
function slowFiles(): { readonly files: Files; readonly batches: string[][] } {
  const batches: string[][] = [];
  const updateMany = async (answers: readonly ServiceAnswer[]): Promise<Array<string | undefined>> => {
    batches.push(answers.map(({ id }) => id));
    await sleep(WRITE_MS);
    return answers.map(({ id }) => `before ${id}`);
  };
  return { files: { updateMany } as unknown as Files, batches };
}

describe('answers of the service', () => {
  it('that come during a write are written after it, though nothing more comes', async () => {
    const { files, batches } = slowFiles();
    const writer = answerWriter(files, false);
    const first = writer.add(answer('1'));
    while (batches.length === 0) await sleep(1);
    const second = writer.add(answer('2'));
    const third = writer.add(answer('3'));
    expect(await first).toBe('before 1');
    expect(await Promise.race([Promise.all([second, third]), sleep(1_000)])).toEqual([
      'before 2',
      'before 3',
    ]);
    expect(batches).toEqual([['1'], ['2', '3']]);
  });

  it('are gathered for a shared ledger, and all written at the end', async () => {
    const { files, batches } = slowFiles();
    const writer = answerWriter(files, true);
    const written = ['1', '2', '3'].map((id) => writer.add(answer(id)));
    await sleep(WRITE_MS);
    expect(batches).toEqual([]);
    await writer.finish();
    expect(await Promise.all(written)).toEqual(['before 1', 'before 2', 'before 3']);
    expect(batches).toEqual([['1', '2', '3']]);
  });
});

describe('a batch', () => {
  const failing = (mayBeOfOne: boolean): Batcher<number, number> =>
    new Batcher({
      write: async (items) => {
        if (items.includes(2)) throw new Error('not 2');
        return items.map((item) => item * 10);
      },
      maxItems: 10,
      mayBeOfOne: () => mayBeOfOne,
    });
  const outcomes = (batcher: Batcher<number, number>): Promise<unknown[]> =>
    Promise.all([1, 2, 3].map((item) => batcher.add(item).catch((error: Error) => error.message)));

  it('in which one item can not be written is written but for that one', async () => {
    expect(await outcomes(failing(true))).toEqual([10, 'not 2', 30]);
  });

  it('fails as a whole where the error is about all', async () => {
    expect(await outcomes(failing(false))).toEqual(['not 2', 'not 2', 'not 2']);
  });

  it('takes no more items, and no more bytes, than it may; one that is larger goes alone', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, undefined>({
      write: async (items) => {
        batches.push([...items]);
        return [];
      },
      maxItems: 3,
      maxBytes: 10,
      sizeOf: (item) => item,
    });
    await Promise.all([1, 1, 1, 1, 8, 3, 50, 1].map((item) => batcher.add(item)));
    expect(batches).toEqual([[1, 1, 1], [1, 8], [3], [50], [1]]);
  });
});

describe('a locked database', () => {
  const locked = (): Error => Object.assign(new Error('database is locked'), { errcode: 5 });

  /** Fails the first writes. */
  function lockedFor(count: number): {
    readonly batcher: Batcher<number, number>;
    readonly batches: number[][];
  } {
    const batches: number[][] = [];
    const write = async (items: readonly number[]): Promise<number[]> => {
      batches.push([...items]);
      await sleep(WRITE_MS);
      if (batches.length <= count) throw locked();
      return items.map((item) => item * 10);
    };
    return { batcher: new Batcher({ write, maxItems: 10 }), batches };
  }

  it('fails a write at once, and nothing of what came meanwhile', async () => {
    const { batcher, batches } = lockedFor(1);
    const first = batcher.add(1).catch((error: Error) => error.message);
    while (batches.length === 0) await sleep(1);
    expect(await Promise.all([first, batcher.add(2)])).toEqual(['database is locked', 20]);
    expect(batches).toEqual([[1], [2]]);
  });

  it('is waited for by what is given the time, in its order', async () => {
    const { batcher, batches } = lockedFor(2);
    const first = batcher.add(1, 60_000);
    while (batches.length === 0) await sleep(1);
    expect(await Promise.all([first, batcher.add(2, 60_000)])).toEqual([10, 20]);
    expect(batches).toEqual([[1], [1, 2], [1, 2]]);
  });
});
