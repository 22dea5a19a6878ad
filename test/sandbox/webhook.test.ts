import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { open, order, reaches, receive } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

describe('the webhook', () => {
  it('is null at first, is set by GET and by POST, and taken away by an empty value', async () => {
    const { get, post } = await open();
    expect((await get('/webhook')).data.webhook).toBeNull();
    expect((await get('/webhook', { webhook: 'http://127.0.0.1:9/a' })).data.webhook).toBe(
      'http://127.0.0.1:9/a',
    );
    expect((await post('/webhook', { webhook: 'https://a.example/b' })).data.webhook).toBe(
      'https://a.example/b',
    );
    expect((await get('/webhook')).data.webhook).toBe('https://a.example/b');
    expect((await post('/webhook', { webhook: '' })).data.webhook).toBeNull();
  });

  it.each(['ftp://a.example/', 'a.example', 'javascript:alert(1)', 'http://', 'http://a b/'])(
    'refuses %s and keeps the one before',
    async (webhook) => {
      const { get, post } = await open();
      await post('/webhook', { webhook: 'http://127.0.0.1:9/a' });
      expect((await get('/webhook', { webhook })).status).toBe(400);
      expect((await get('/webhook')).data.webhook).toBe('http://127.0.0.1:9/a');
    },
  );

  it.each(['CC_AUTH_FAILURE', 'DUPLICATE_FILE', 'NOTHING', 'transcript_complete'])(
    'can not be tested with %s',
    async (type) => {
      const { post } = await open();
      await post('/webhook', { webhook: 'http://127.0.0.1:9/a' });
      expect((await post(`/webhook/test/${type}`)).status).toBe(400);
    },
  );

  it('can not be tested while none is registered', async () => {
    const { post } = await open();
    const reply = await post('/webhook/test/DIFFICULT_AUDIO');
    expect(reply.status).toBe(400);
    expect(reply.data.message).toMatch(/webhook/);
  });

  it('gets a test delivery even if the sandbox is closed right after the call', async () => {
    const client = await open();
    const receiver = await receive();
    await client.post('/webhook', { webhook: receiver.url });
    await client.post('/webhook/test/ORDER_ON_HOLD');
    await client.sandbox.close();
    expect(receiver.events.map((event) => event.event)).toEqual(['ORDER_ON_HOLD']);
  });

  it.concurrent.for([500, 404, 301, 204])(
    'is not called again after an answer of %i',
    async (status, { expect, onTestFinished }) => {
      const client = await open({}, onTestFinished);
      const receiver = await receive(status, onTestFinished);
      await client.post('/webhook', { webhook: receiver.url });
      const { file } = await order(client);
      await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
      await sleep(350);
      expect(receiver.events).toHaveLength(1);
    },
  );

  it('that can not be reached stops nothing', async () => {
    const client = await open();
    const receiver = await receive();
    await client.post('/webhook', { webhook: 'http://127.0.0.1:1/' });
    const first = await order(client, 'https://a.example/1');
    await reaches(client, first.file, 'Delivered');
    await sleep(250);
    await client.post('/webhook', { webhook: receiver.url });
    const second = await order(client, 'https://a.example/2');
    await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: second.file });
    expect(receiver.events).toHaveLength(1);
  });

  it('is not told of what happened before it was registered', async () => {
    const client = await open();
    const receiver = await receive();
    const { file } = await order(client);
    await reaches(client, file, 'Delivered');
    await client.post('/webhook', { webhook: receiver.url });
    await client.post('/webhook/test/DIFFICULT_AUDIO');
    await until(() => receiver.events.length > 0, 'an event');
    await sleep(250);
    expect(receiver.events.map((event) => event.event)).toEqual(['DIFFICULT_AUDIO']);
  });
});
