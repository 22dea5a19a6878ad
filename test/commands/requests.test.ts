/** Every row of the endpoint table: what is sent, and where the key stands. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, only } from '../support/account.ts';
import { ZIP_HEADER } from '../support/ledger.ts';
import { KEY } from '../support/steno.ts';
import { WITHOUT_LEDGER } from '../support/store.ts';

interface Row {
  readonly args: readonly string[];
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What is sent besides the key. */
  readonly params?: object;
  readonly answer?: string | object;
}

const url = 'https://example.com/a.mp3';
const placed = { order: '0a0', audiofiles: [1], message: 'ok' };
const text = { answer: 'Hello.' };

const rows: readonly Row[] = [
  {
    args: ['order', url, '--sku', 'TRANS14'],
    method: 'POST',
    path: '/order_url',
    params: { url: [url], sku: ['TRANS14'] },
    answer: placed,
  },
  {
    args: [
      'order',
      url,
      `${url}?b=1&c=%20`,
      '--sku',
      'TRANS2,TSTMP1',
      '--sku',
      'VERBATIM1',
      '--name',
      'Ada, Lovelace',
      '--name',
      'Grace',
      '--notes',
      'say "hi"',
      '--test',
      '--param',
      'title=A=B',
      '--param',
      'tags=x',
      '--param',
      'tags=y',
    ],
    method: 'POST',
    path: '/order_url',
    params: {
      url: [url, `${url}?b=1&c=%20`],
      sku: ['TRANS2', 'TSTMP1', 'VERBATIM1'],
      name: ['Ada, Lovelace', 'Grace'],
      notes: 'say "hi"',
      test: true,
      title: 'A=B',
      tags: ['x', 'y'],
    },
    answer: placed,
  },
  {
    args: ['order', url, '--sku', 'TRANS7,NEW1', '--any-sku'],
    method: 'POST',
    path: '/order_url',
    params: { url: [url], sku: ['TRANS7', 'NEW1'] },
    answer: placed,
  },
  { args: ['balance'], method: 'GET', path: '/prepay_balance', answer: { balance: '1.00' } },
  { args: ['file', '12'], method: 'GET', path: '/audiofile/12', answer: { audiofile: { id: 12 } } },
  {
    args: ['file', 'aéß~'],
    method: 'GET',
    path: '/audiofile/a%C3%A9%C3%9F~',
    answer: { audiofile: { id: null } },
  },
  { args: ['transcript', '12'], method: 'POST', path: '/audiofile/12/transcript.txt', ...text },
  {
    args: ['transcript', '12', '--format', 'vtt', '--test'],
    method: 'POST',
    path: '/audiofile/12/transcript.vtt',
    params: { test: true },
    ...text,
  },
  { args: ['transcript', '12', '--deprecated-path'], method: 'POST', path: '/transcript/12.txt', ...text },
  {
    args: ['transcript', '12', '--format', '.SRT', '--deprecated-path', '--test', '-o', '-'],
    method: 'POST',
    path: '/transcript/12.srt',
    params: { test: true },
    ...text,
  },
  {
    args: ['upgrade', '12', '--sku', 'UPGRD1'],
    method: 'POST',
    path: '/audiofile/12/upgrade',
    params: { sku: ['UPGRD1'] },
    answer: { message: 'ok' },
  },
  {
    args: ['upgrade', '100', '--sku', 'TSTMP1,CAPTION1', '--test'],
    method: 'POST',
    path: '/audiofile/100/upgrade',
    params: { sku: ['TSTMP1', 'CAPTION1'], test: true },
    answer: { message: 'ok' },
  },
  {
    args: ['refund', '12', '--yes'],
    method: 'POST',
    path: '/audiofile/12/refund',
    answer: { message: 'ok' },
  },
  {
    args: ['refund', '101', '-y', '--test'],
    method: 'POST',
    path: '/audiofile/101/refund',
    params: { test: true },
    answer: { message: 'ok' },
  },
  { args: ['invoice', '777'], method: 'POST', path: '/invoice/777', answer: { id: 777 } },
  { args: ['webhook', 'get'], method: 'GET', path: '/webhook', answer: { webhook: url } },
  {
    args: ['webhook', 'set', `${url}?a=b&c`],
    method: 'POST',
    path: '/webhook',
    params: { webhook: `${url}?a=b&c` },
    answer: { webhook: `${url}?a=b&c` },
  },
  ...['TRANSCRIPT_COMPLETE', 'DIFFICULT_AUDIO', 'REFUND_ISSUED', 'ORDER_ON_HOLD'].map(
    (type): Row => ({
      args: ['webhook', 'test', type],
      method: 'POST',
      path: `/webhook/test/${type}`,
      answer: { webhook: url },
    }),
  ),
  { args: ['api', 'get', 'prepay_balance'], method: 'GET', path: '/prepay_balance', answer: { balance: 1 } },
  {
    args: ['api', 'POST', '/new/thing.json', 'a=1', 'a=2', 'b='],
    method: 'POST',
    path: '/new/thing.json',
    params: { a: ['1', '2'], b: '' },
    answer: {},
  },
];

describe('the request of', () => {
  it.each(rows)('steno $args', async ({ args, method, path, params = {}, answer }) => {
    const { service, user } = await account();
    service.on('*', { body: answer ?? {} });
    const result = await user.run(args);
    expect(result.code, result.stderr).toBe(0);
    const got = only(service);
    expect([got.method, got.path]).toEqual([method, path]);
    expect(got.headers['user-agent']).toMatch(/^steno\/\d+\.\d+\.\d+ /);
    expect(JSON.stringify(got.headers)).not.toContain(KEY);
    if (method === 'GET') {
      expect([...got.query]).toEqual([['api_key', KEY]]);
      expect(got.text).toBe('');
      return;
    }
    expect([...got.query]).toEqual([]);
    expect(got.headers['content-type']).toBe('application/json');
    expect(got.body).toEqual({ api_key: KEY, ...params });
  });

  it('takes parameters of a raw GET into the query, repeated ones repeated', async () => {
    const { service, user } = await account();
    service.on('*', { body: {} });
    await user.run(['api', 'GET', '/files', 'a=1', 'a=x y&z', 'b=ü']);
    expect([...only(service).query]).toEqual([
      ['api_key', KEY],
      ['a', '1'],
      ['a', 'x y&z'],
      ['b', 'ü'],
    ]);
  });

  it('takes notes from a file and from stdin, without the byte order mark and the last line break', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', { body: placed });
    writeFileSync(join(user.home, 'notes.txt'), '\ufeffTwo speakers.\nOne coughs.\n');
    const args = ['order', url, '--sku', 'TRANS14', ...WITHOUT_LEDGER, '--notes-file'];
    await user.run([...args, 'notes.txt']);
    await user.run([...args, '-'], { stdin: 'from stdin\n' });
    expect(service.got.map((got) => got.body?.notes)).toEqual(['Two speakers.\nOne coughs.', 'from stdin']);
  });

  it('asks for each of the eight formats under its own name', async () => {
    const { service, user } = await account();
    service.on('*', ({ path }, response) => {
      // Plain text is no docx, which is a zip file.
      response.end(path.endsWith('.docx') ? `${ZIP_HEADER} Hello.` : 'Hello.');
    });
    const formats = ['txt', 'doc', 'rtf', 'html', 'srt', 'docx', 'tstxt', 'vtt'];
    const { code } = await user.run(['transcript', '12', '--format', formats.join(',')]);
    expect(code).toBe(0);
    expect(service.got.map((got) => got.path).sort()).toEqual(
      formats.map((ext) => `/audiofile/12/transcript.${ext}`).sort(),
    );
    expect(new Set(service.got.map((got) => got.body?.api_key))).toEqual(new Set([KEY]));
  });

  it('uses connections again', async () => {
    const { service, user } = await account();
    const ports = new Set<number | undefined>();
    service.on('*', ({ path }, response, socket) => {
      ports.add(socket.remotePort);
      const id = path.split('/').at(-1);
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ audiofile: { id } }));
    });
    const ids = Array.from({ length: 40 }, (_, at) => String(at + 1));
    const { code, stdout } = await user.run(['file', ...ids, '--quiet']);
    expect([code, stdout.split('\n').length]).toEqual([0, 41]);
    expect(ports.size).toBeLessThan(25);
  });
});
