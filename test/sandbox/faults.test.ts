import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { clientOf, open, order } from '../support/sandbox.ts';

const faults = (...texts: string[]) => ({ faults: texts.map(parseFault) });

describe('a fault', () => {
  it.each([
    ['503=0.1', { kind: 'status', status: 503, chance: 0.1 }],
    ['429=1', { kind: 'status', status: 429, chance: 1 }],
    ['reset=0.05', { kind: 'reset', chance: 0.05 }],
    ['truncate=.02', { kind: 'truncate', chance: 0.02 }],
    ['slow=2s', { kind: 'slow', milliseconds: 2000 }],
    ['slow=250ms', { kind: 'slow', milliseconds: 250 }],
  ])('%s is understood', (text, fault) => expect(parseFault(text)).toEqual(fault));

  it.each([
    '',
    '503',
    '503=',
    '503=2',
    '503=-1',
    '200=0.5',
    'reset=x',
    'slow=x',
    'slow=0.1x',
    'melt=1',
    '503=0.1=2',
  ])("'%s' is refused as usage", (text) =>
    expect(() => parseFault(text)).toThrow(expect.objectContaining({ kind: 'usage' })),
  );

  it('of a status answers with it and does not carry out the call', async () => {
    const folder = freshFolder();
    const { post } = await open({ folder, ...faults('503=1') });
    const reply = await post('/order_url', { url: 'https://a.example/1', sku: 'TRANS14' });
    expect(reply.status).toBe(503);
    expect(reply.data.message).toEqual(expect.any(String));
    const calm = await open({ folder });
    expect((await calm.get('/audiofile/1001')).status).toBe(404);
  });

  it.each(['reset', 'truncate'])('of %s loses the answer to a call that was carried out', async (kind) => {
    const folder = freshFolder();
    const { post } = await open({ folder, ...faults(`${kind}=1`) });
    await expect(post('/order_url', { url: 'https://a.example/1', sku: 'TRANS14' })).rejects.toThrow();
    const calm = await open({ folder });
    expect((await calm.get('/audiofile/1001')).status).toBe(200);
  });

  it('of slowness delays every answer', async () => {
    const client = await open(faults('slow=150ms'));
    const start = Date.now();
    await client.get('/prepay_balance');
    expect(Date.now() - start).toBeGreaterThanOrEqual(145);
  });
});

it('a port in use is said plainly', async () => {
  const { sandbox } = await open();
  const port = Number(new URL(sandbox.baseUrl).port);
  await expect(open({ port })).rejects.toMatchObject({
    kind: 'failed',
    hint: expect.stringContaining('--port'),
  });
  await order(clientOf(sandbox.baseUrl, sandbox.apiKey));
});
