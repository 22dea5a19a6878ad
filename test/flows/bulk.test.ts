/** One failure among many: it is listed, and the others are done. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { doMany, raiseTallies } from '../../src/flows/bulk.ts';
import { BulkError, StenoError } from '../../src/lib/errors.ts';
import { account, fileAnswer, jsonError } from '../support/account.ts';

describe('one refused file among several', () => {
  it.each([401, 403])('with %i is listed, and the others are shown', async (status) => {
    const { service, user } = await account();
    service
      .on('GET /audiofile/1', fileAnswer(1))
      .on('GET /audiofile/2', { status })
      .on('GET /audiofile/3', fileAnswer(3));
    const { code, stdout, stderr } = await user.run(['file', '1', '2', '3', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject([{ audiofile: '1' }, { audiofile: '2', error: { status } }, {}]);
    expect(jsonError(stderr)).toMatchObject({ code: 'partial', failures: [{ what: '2', code: 'auth' }] });
  });

  it('does not keep the transcripts of the others from being listed', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'words' }).on('POST /audiofile/2/transcript.txt', { status: 403 });
    const { code, stdout } = await user.run(['transcript', '1', '2', '3', '--quiet']);
    expect([code, stdout]).toEqual([10, '1.txt\n3.txt\n']);
  });

  it('does not block sync', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: { order: 'o', audiofiles: [1, 2], message: 'ok' } });
    service.on('GET /audiofile/1', { status: 403 }).on('GET /audiofile/2', fileAnswer(2));
    service.on('POST /audiofile/2/transcript.txt', { body: 'words' });
    await user.run(['order', 'https://e.com/1', 'https://e.com/2', '--sku', 'TRANS14']);
    expect((await user.run(['sync', '--download', '.', '--quiet'])).stdout).toBe('2.txt\n');
  });
});

describe('very many items', () => {
  it('are done in order, and failures alone are kept', async () => {
    let next = 0;
    const tally = await doMany({
      count: 200_000,
      concurrency: 16,
      name: String,
      work: async (at) => {
        if (at !== next) throw new Error(`${at} before ${next}`);
        next += 1;
        if (at % 2 === 1) throw new StenoError('failed', 'odd');
      },
    });
    expect(tally.failed.slice(0, 2).map(({ what }) => what)).toEqual(['1', '3']);
    let raised: unknown;
    try {
      raiseTallies([tally]);
    } catch (error) {
      raised = error;
    }
    expect(raised).toBeInstanceOf(BulkError);
    expect((raised as BulkError).message).toBe('100000 of 200000 failed');
  });
});

describe('work whose call is answered, and which is not done yet', () => {
  /** Each item waits until all may end; tells how many were begun by then, and which were done in the end. */
  async function begunWith(concurrency: number, count: number, answersAtOnce = false) {
    const [begun, done]: [number[], number[]] = [[], []];
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const work = async (at: number, onAnswered: () => void): Promise<void> => {
      begun.push(at);
      if (!answersAtOnce) await nextTurn();
      onAnswered();
      await ended;
      done.push(at);
    };
    const all = doMany({ count, concurrency, name: String, work });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    const before = begun.length;
    end();
    return { before, failed: (await all).failed, done };
  }

  it('lets as many others begin, and no more', async () => {
    const done = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    expect(await begunWith(3, 9)).toEqual({ before: 6, failed: [], done });
  });

  it('lets as many others begin where the call is answered at once', async () => {
    expect(await begunWith(2, 4, true)).toEqual({ before: 4, failed: [], done: [0, 1, 2, 3] });
  });

  it('lets no other begin where one at a time was asked for', async () => {
    expect(await begunWith(1, 3)).toEqual({ before: 1, failed: [], done: [0, 1, 2] });
  });
});

describe('an error beside the work', () => {
  const fail = (): never => {
    throw new StenoError('failed', 'the screen is gone');
  };

  it.each([
    ['the name of an item', { name: fail }],
    ['the report of an item', { report: ({ done = 0 }) => (done > 0 ? fail() : undefined) }],
  ])('of %s ends the work, and is raised', async (_, failing) => {
    for (const isAnswered of [false, true]) {
      const begun: number[] = [];
      const work = async (at: number, onAnswered: () => void): Promise<void> => {
        begun.push(at);
        await nextTurn();
        if (isAnswered) onAnswered();
        await nextTurn();
      };
      const all = doMany({ count: 9, concurrency: 2, name: String, work, ...failing });
      await expect(all).rejects.toThrow('the screen is gone');
      expect(begun.length).toBeLessThan(9);
    }
  });
});
