/** The sandbox is for programs of this machine: not for web pages, foreign names or a proxy on the way. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { open } from '../support/sandbox.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';

interface Reply {
  readonly status: number;
  readonly text: string;
}

function call(baseUrl: string, headers: Record<string, string>): Promise<Reply> {
  return new Promise((done, failed) => {
    const url = `${baseUrl}/prepay_balance?api_key=steno-sandbox-key`;
    const sent = request(url, { headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => done({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', failed).end();
  });
}

describe('the sandbox', () => {
  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:3000' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'same-origin' },
  ])('refuses a call from a web page: %j', async (headers) => {
    const { sandbox } = await open();
    const { status, text } = await call(sandbox.baseUrl, headers as Record<string, string>);
    expect([status, text]).toEqual([403, expect.stringContaining('web pages')]);
  });

  it('does nothing of what a web page asks for', async () => {
    const client = await open();
    const url = `${client.sandbox.baseUrl}/webhook?api_key=steno-sandbox-key&url=http://evil.example/`;
    const status = await new Promise<number>((done, failed) => {
      const sent = request(
        url,
        { method: 'POST', headers: { origin: 'https://evil.example' } },
        (response) => {
          response.resume().on('end', () => done(response.statusCode ?? 0));
        },
      );
      sent.on('error', failed).end();
    });
    expect(status).toBe(403);
    expect((await client.get('/webhook')).text).not.toContain('evil');
  });

  it.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '[fe80::1]',
  ])('refuses a foreign host name: %s', async (host) => {
    const { sandbox } = await open();
    const { status, text } = await call(sandbox.baseUrl, { host });
    expect([status, text]).toEqual([403, expect.stringContaining('host name')]);
  });

  it.each(['127.0.0.1', 'localhost', 'LOCALHOST:4141', '[::1]:4141', '[::1]'])(
    'answers under an address of this machine: %s',
    async (host) => {
      const { sandbox } = await open();
      expect((await call(sandbox.baseUrl, { host, 'sec-fetch-site': 'none' })).status).toBe(200);
    },
  );

  it('answers under the address that it was bound to; bound to all, under any address but foreign names', async () => {
    const named = await open({ host: 'localhost' });
    expect((await call(named.sandbox.baseUrl, {})).status).toBe(200);
    const { sandbox } = await open({ host: '0.0.0.0' });
    const at = sandbox.baseUrl.replace('0.0.0.0', '127.0.0.1');
    for (const [host, status] of [
      ['192.0.2.7:4141', 200],
      [hostname(), 200],
      ['evil.example', 403],
    ] as const)
      expect([host, (await call(at, { host })).status]).toEqual([host, status]);
  });

  it('warns where others can reach it, and only there', async () => {
    for (const [host, warns] of [
      ['0.0.0.0', true],
      ['127.0.0.1', false],
      ['localhost', false],
    ] as const) {
      const child = new User().start(['sandbox', '--port', '0', '--ephemeral', '--host', host]);
      onTestFinished(() => void child.kill('SIGKILL'));
      let [out, err] = ['', ''];
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        err += chunk;
      });
      await until(
        () => out.includes('steno-sandbox-key') && err.includes('try:'),
        () => out + err,
      );
      child.kill('SIGINT');
      expect([host, err.includes(`warning: anyone who can reach ${host} can use this sandbox`)]).toEqual([
        host,
        warns,
      ]);
    }
  });
});

describe('--sandbox', () => {
  it.each(['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY'])('does not go through %s', async (name) => {
    const asked: Array<string | undefined> = [];
    const proxy = createServer((got, answer) => {
      asked.push(got.url);
      answer.writeHead(502).end();
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    onTestFinished(() => void proxy.close());
    const env = { [name]: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    const { code, stdout } = await new User().run(['--sandbox', 'balance'], { env });
    expect([code, stdout, asked]).toEqual([0, expect.stringMatching(/^\d+\.\d\d\n$/), []]);
  });
});
