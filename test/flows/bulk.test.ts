/** One failure among many: it is listed, and the others are done. */
import { describe, expect, it } from 'vitest';
import { doMany, raiseTallies } from '../../src/flows/bulk.ts';
import { BulkError, StenoError } from '../../src/lib/errors.ts';
import { account, fileAnswer, jsonError } from '../support/account.ts';

describe.concurrent('one refused file among several', () => {
  it.each([401, 403])('with %i is listed, and the others are shown', async (status) => {
    const { service, user } = await account();
    service
      .on('GET /audiofile/1', fileAnswer(1))
      .on('GET /audiofile/2', { status })
      .on('GET /audiofile/3', fileAnswer(3));
    const { code, stdout, stderr } = await user.run(['file', '1', '2', '3', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject([
      { audiofile: { id: 1 } },
      { audiofile: { id: '2' }, error: { status } },
      {},
    ]);
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
    expect((await user.run(['sync', '--quiet'])).stdout).toBe('2.txt\n');
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
