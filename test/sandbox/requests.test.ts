import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../support/runs.ts';
import { open, order, send } from '../support/sandbox.ts';
import { sendRaw } from '../support/wire.ts';

const asJson = { 'content-type': 'application/json' };
const asForm = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the key', () => {
  it.each([
    ['nothing', '', undefined, {}],
    ['a wrong key', '?api_key=wrong', undefined, {}],
    ['an empty key', '?api_key=', undefined, {}],
    ['a wrong key in JSON', '', '{"api_key":"no"}', asJson],
    ['a number in JSON', '', '{"api_key":1}', asJson],
    [
      'a key in a header',
      '',
      undefined,
      { api_key: 'steno-sandbox-key', authorization: 'Bearer steno-sandbox-key' },
    ],
  ])('with %s gets 401 and a message', async (_, query, body, headers) => {
    const { sandbox } = await open();
    for (const path of ['/order_url', '/webhook', '/invoice/1', '/audiofile/100/refund']) {
      const reply = await send(`${sandbox.baseUrl}${path}${query}`, {
        method: 'POST',
        headers,
        body: body ?? null,
      });
      expect(reply.status).toBe(401);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(reply.data.message).toEqual(expect.any(String));
    }
  });

  it('is taken from the query, a form and a JSON body', async () => {
    const { sandbox } = await open();
    const key = sandbox.apiKey;
    const url = `${sandbox.baseUrl}/webhook`;
    const none = await send(`${url}?api_key=${key}`);
    const form = await send(url, {
      method: 'POST',
      headers: asForm,
      body: `api_key=${key}&webhook=http://127.0.0.1:9/a`,
    });
    const body = JSON.stringify({ api_key: key, webhook: 'http://127.0.0.1:9/b' });
    const json = await send(url, { method: 'POST', headers: asJson, body });
    expect([none, form, json].map(({ data }) => data.webhook)).toEqual([
      null,
      'http://127.0.0.1:9/a',
      'http://127.0.0.1:9/b',
    ]);
  });
});

describe('a bad request', () => {
  it.each([
    ['broken JSON', '{"url":', asJson, 400],
    ['a JSON array', '[1]', asJson, 400],
    ['a JSON string', '"x"', asJson, 400],
    ['deep JSON', '['.repeat(100_000), asJson, 400],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0xfe]), asJson, 400],
    ['XML', '<a/>', { 'content-type': 'text/xml' }, 415],
    ['no content type', 'a=b', {}, 415],
    ['a huge body', 'x'.repeat(3_000_000), asForm, 413],
    ['a nested value', '{"url":[["a"]],"sku":"TRANS6"}', asJson, 400],
  ])('with %s is refused, and the next one is answered', async (_, body, headers, status) => {
    const client = await open();
    const url = `${client.sandbox.baseUrl}/order_url?api_key=${client.sandbox.apiKey}`;
    const reply = await send(url, { method: 'POST', headers, body });
    expect(reply.status).toBe(status);
    expect(reply.data.message).toEqual(expect.any(String));
    expect((await client.get('/prepay_balance')).status).toBe(200);
  });

  it.each([
    '',
    '/',
    '/nothing',
    '/audiofile',
    '/audiofile/',
    '/audiofile/1/2/3',
    '/webhook/test',
    '/order_url/',
    '/Webhook',
    '//',
    '/../x',
    '/audiofile/%00',
    '/audiofile/1001%2Frefund',
    '/audiofile/01',
  ])('for %s gets 404', async (path) => {
    const { get } = await open();
    const reply = await get(path);
    expect(reply.status).toBe(404);
    expect(reply.data.message).toEqual(expect.any(String));
  });

  it.each(['/audiofile/%', '/audiofile/%ff%fe'])('for the badly encoded %s gets 400', async (path) => {
    const { get } = await open();
    expect((await get(path)).status).toBe(400);
  });

  it('outside of the base address gets 404', async () => {
    const { sandbox } = await open();
    const reply = await send(sandbox.baseUrl.replace('/API4', '/API3/prepay_balance'));
    expect(reply.status).toBe(404);
  });

  it.each([
    ['junk', 'hello\r\n\r\n', /^HTTP\/1.1 400 .*message/s],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01', /^HTTP\/1.1 400 /],
    ['a huge header', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(70_000)}\r\n\r\n`, /^HTTP\/1.1 431 /],
    [
      'an absolute address',
      'GET http://x/API4/webhook HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      /^HTTP\/1.1 404 /,
    ],
    [
      'two lengths',
      'POST /API4/webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      /^HTTP\/1.1 400 /,
    ],
  ])('of raw bytes (%s) is answered', async (_, bytes, pattern) => {
    const client = await open();
    expect(await sendRaw(Number(new URL(client.sandbox.baseUrl).port), Buffer.from(bytes, 'latin1'))).toMatch(
      pattern,
    );
    expect((await client.get('/prepay_balance')).status).toBe(200);
  });

  it('that breaks off in the middle stops nothing', async () => {
    const client = await open();
    const { port } = new URL(client.sandbox.baseUrl);
    for (let n = 0; n < 20; n += 1) {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('POST /API4/order_url HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc', () =>
          socket.resetAndDestroy(),
        );
      });
      socket.on('error', () => {});
    }
    await order(client);
  });

  it('of any shape gets an answer below 500', async () => {
    const client = await open();
    const { baseUrl, apiKey } = client.sandbox;
    const path = fc.oneof(
      fc.constantFrom(
        '/order_url',
        '/webhook',
        '/audiofile/100/upgrade',
        '/audiofile/100/refund',
        '/invoice/5001',
        '/webhook/test/DIFFICULT_AUDIO',
      ),
      fc.webPath(),
    );
    const names = fc.constantFrom(
      'url',
      'sku',
      'test',
      'notes',
      'name',
      'names',
      'webhook',
      'title',
      '__proto__',
      'constructor',
    );
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.constantFrom('TRANS14', 'UPGRD1'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(path, fc.dictionary(names, value), async (where, fields) => {
        const body = JSON.stringify({ ...fields, api_key: apiKey });
        const reply = await send(`${baseUrl}${where}`, { method: 'POST', headers: asJson, body });
        expect(reply.status).toBeLessThan(500);
        expect(reply.data.message).toEqual(expect.any(String));
      }),
      { numRuns: runs(300) },
    );
    expect((await client.get('/prepay_balance')).status).toBe(200);
  });
});
