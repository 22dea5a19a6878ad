import { describe, expect, it } from 'vitest';
import { advance } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { balance, type Fields, open, order, receive, stateOf } from '../support/sandbox.ts';

describe('an upgrade', () => {
  it.each([
    ['TRANS14', 'UPGRD3'],
    ['TRANS6', 'UPGRD1'],
    ['TRANS6', 'UPGRD2'],
    ['TRANS2', 'UPGRD3'],
    ['EMSR02', 'UPGRD1'],
  ])('of a %s file with %s is refused', async (sku, upgrade) => {
    const client = await open({ speed: 0 });
    const { file } = await order(client, undefined, { sku });
    const before = await balance(client);
    const reply = await client.post(`/audiofile/${file}/upgrade`, { sku: upgrade });
    expect(reply.status).toBe(409);
    expect(reply.data.message).toContain(sku);
    expect(await balance(client)).toBe(before);
  });

  it('takes TRANS7 for TRANS6', async () => {
    const client = await open({ speed: 0 });
    const { file } = await order(client, undefined, { sku: 'TRANS7' });
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku: 'UPGRD3' })).status).toBe(200);
  });

  it('changes what the file is, so that the next one is checked against that', async () => {
    const client = await open({ speed: 0 });
    const { file } = await order(client);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku: ['UPGRD1', 'TSTMP1'] })).status).toBe(200);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku: 'UPGRD2' })).status).toBe(409);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku: 'UPGRD3' })).status).toBe(200);
    const { audiofile } = (await client.get(`/audiofile/${file}`)).data as { audiofile: Fields };
    expect(audiofile.invoices).toHaveLength(3);
  });

  it('adds all of its SKUs or none', async () => {
    const client = await open({ speed: 0 });
    const { file } = await order(client);
    const before = await balance(client);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku: ['EDIT01', 'UPGRD3'] })).status).toBe(409);
    expect(await balance(client)).toBe(before);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku: 'EDIT01' })).status).toBe(200);
  });

  it.each([
    ['an unknown SKU', { sku: 'TRANS2' }, 400],
    ['no SKU', {}, 400],
  ])('with %s is refused', async (_, body, status) => {
    const client = await open({ speed: 0 });
    const { file } = await order(client);
    expect((await client.post(`/audiofile/${file}/upgrade`, body)).status).toBe(status);
  });

  it('of an unknown file is a 404', async () => {
    const client = await open();
    expect((await client.post('/audiofile/4711/upgrade', { sku: 'EDIT01' })).status).toBe(404);
  });
});

describe('a refund', () => {
  it('is granted in the refundable states only, one after the other', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const granted: string[] = [];
    for (let moves = 0; moves < 9; moves += 1) {
      const { file } = await order(client, `https://a.example/${moves}`);
      for (let n = 0; n < moves; n += 1) await advance(folder, [file]);
      const state = await stateOf(client, file);
      const { status } = await client.post(`/audiofile/${file}/refund`);
      if (status === 200) granted.push(state);
      else expect(status).toBe(409);
    }
    expect(granted).toEqual(['Pre-Processing', 'Audio Processing']);
  });

  it('gives the money back, upgrades too, ends the file and tells the webhook once', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const receiver = await receive();
    await client.post('/webhook', { webhook: receiver.url });
    const before = await balance(client);
    const { file, order: id } = await order(client);
    await client.post(`/audiofile/${file}/upgrade`, { sku: 'EDIT01' });
    const paid = before - (await balance(client));
    expect((await client.post(`/audiofile/${file}/refund`)).status).toBe(200);
    expect(await balance(client)).toBe(before);
    const event = await receiver.event({ event: 'REFUND_ISSUED', audiofile: file, order: id });
    expect(Number(event.amount)).toBeCloseTo(paid, 2);
    expect(await stateOf(client, file)).toBe('Refunded');
    expect((await client.post(`/audiofile/${file}/refund`)).status).toBe(409);
    await advance(folder);
    expect(await stateOf(client, file)).toBe('Refunded');
    expect(receiver.events).toHaveLength(1);
  });

  it('is granted in Error', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const before = await balance(client);
    const { file } = await order(client, 'https://a.example/error.mp3');
    for (let n = 0; n < 9; n += 1) await advance(folder, [file]);
    expect(await stateOf(client, file)).toBe('Error');
    expect((await client.post(`/audiofile/${file}/refund`)).status).toBe(200);
    expect(await balance(client)).toBe(before);
  });

  it('is granted once when asked for twenty times at once', async () => {
    const client = await open({ speed: 0 });
    const before = await balance(client);
    const { file } = await order(client);
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => client.post(`/audiofile/${file}/refund`)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await balance(client)).toBe(before);
  });
});
