/** What an assistant finds with `steno mcp`, with the official client, in both revisions of the protocol. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { orderingAccount } from '../support/ledger.ts';
import { type Assistant, assistant, betweenMarks, MANY_MS, revisions } from '../support/mcp.ts';
import { User } from '../support/steno.ts';

const user = new User();
const steno = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await user.run(['--sandbox', ...args]);
  expect([args, code, stderr]).toEqual([args, 0, expect.anything()]);
  return stdout;
};

async function textOf({ client }: Assistant, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  return (contents[0] as { text: string }).text;
}

beforeAll(async () => {
  await steno(
    'order',
    'https://example.com/a.mp3',
    'https://example.com/b.mp3',
    '--sku',
    'TRANS14',
    '--tag',
    'talks',
  );
  await steno('sandbox', 'advance', '--by', '20d');
  await steno('files', '--refresh');
  await steno('transcript', '1001', '--format', 'vtt');
}, 60_000);

const readOnly = 'files file search quote check estimate balance budget report events transcript'.split(' ');

it(
  'writes nothing but the index of a search',
  async () => {
    const index = join(user.env.STENO_STATE_DIR ?? '', 'search.db');
    const search = async (allowed?: string) => {
      rmSync(index, { force: true });
      const env = allowed === undefined ? user.env : { ...user.env, STENO_ALLOW: allowed };
      const limited = Object.create(user, { env: { value: env } }) as User;
      const opened = await assistant(limited, ['--sandbox'], {});
      const { isError } = await opened.call('search', { words: ['welcome'] });
      await opened.client.close();
      return [isError, existsSync(index)];
    };
    expect(await search()).toEqual([false, true]);
    expect(await search('read')).toEqual([false, true]);
  },
  MANY_MS,
);

describe.each(revisions)('with revision %s', (revision) => {
  const open = (): Promise<Assistant> => assistant(user, ['--sandbox'], { revision });

  it('lists few and terse tools that only read', async () => {
    const { client } = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(readOnly);
    for (const { title, description, annotations, inputSchema } of tools) {
      expect([title, description]).not.toContain(undefined);
      expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
    expect(client.getInstructions()).toContain('Untrusted content');
  });

  it(
    'gives results in the shapes that steno schema prints, marked as untrusted',
    async () => {
      const opened = await open();
      const calls: ReadonlyArray<readonly [tool: string, args: Record<string, unknown>]> = [
        ['files', { tag: 'talks', limit: 1 }],
        ['file', { ids: ['1001'] }],
        ['search', { words: ['welcome'] }],
        ['search', { words: ['welcome'], tag: 'none' }],
        ['quote', { text: 'this was never said by anybody' }],
        ['check', { ids: ['1001'] }],
        ['estimate', { urls: ['https://example.com/c.mp3'], minutes: [30], sku: ['TRANS14'] }],
        ['balance', {}],
        ['budget', {}],
        ['report', { by: 'sku' }],
        ['events', {}],
      ];
      for (const [tool, args] of calls) {
        const { result, text, isError } = await opened.call(tool, args);
        expect(JSON.stringify(result)).not.toMatch(/:null|:\[\]|"answer"/);
        expect([tool, isError, text]).toEqual([tool, false, expect.stringMatching(/^Untrusted content: /)]);
        const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(
          JSON.parse(await textOf(opened, `steno://schema/${tool}`)),
        );
        expect([tool, validate(result), validate.errors]).toEqual([tool, true, null]);
      }
    },
    MANY_MS,
  );

  it(
    'reads a transcript in parts, which are the resource together; one that is not on this disk too',
    async () => {
      const opened = await open();
      for (const id of ['1001', '1002']) {
        let [whole, offset, parts] = ['', 0, 0];
        for (let more = true; more; parts += 1) {
          const { text } = await opened.call('transcript', { id, offset, limit: 1500 });
          const [, end = '', next] = /to (\d+) of \d+; (?:continue at offset (\d+))?/.exec(text) ?? [];
          whole += `${betweenMarks(text)}\n`;
          more = next !== undefined;
          offset = Number(end);
        }
        expect(parts).toBeGreaterThan(3);
        const { contents } = await opened.client.readResource({ uri: `steno://transcript/${id}` });
        const [{ text = '' } = {}] = contents as Array<{ text?: string }>;
        expect(text).toMatch(/^Untrusted content: /);
        expect(`${betweenMarks(text)}\n`).toBe(whole);
        expect(whole).toMatch(/^\[00:00:\d\d\] .*: \w+/m);
      }
    },
    MANY_MS,
  );

  it(
    'has schemas and transcripts as resources',
    async () => {
      const { client } = await open();
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual([
        ...readOnly.slice(0, -1).map((name) => `steno://schema/${name}`),
        'steno://transcript/1002',
        'steno://transcript/1001',
      ]);
      expect(resources.at(-1)).toMatchObject({ title: 'Transcript 1001, untrusted title: A' });
      for (const uri of ['steno://schema/files', 'steno://schema/estimate']) {
        const { contents } = await client.readResource({ uri });
        const [{ text = '' } = {}] = contents as Array<{ text?: string }>;
        expect(JSON.parse(text)).toMatchObject({ $schema: expect.any(String) });
      }
      await expect(client.readResource({ uri: 'steno://transcript/77' })).rejects.toThrow('does not know');
      await expect(client.readResource({ uri: 'steno://schema/nothing' })).rejects.toThrow();
    },
    MANY_MS,
  );

  it('estimates what is new, and names what is ordered already', async () => {
    const opened = await open();
    const urls = ['https://example.com/new.mp3', 'https://example.com/a.mp3'];
    const { result, isError } = await opened.call('estimate', { urls, minutes: [5, 5], sku: ['TRANS14'] });
    expect([isError, result]).toMatchObject([
      false,
      { orders: [{ audios: [{ url: urls[0] }] }], left_out: [{ url: urls[1] }] },
    ]);
  });

  it('says that a list may have been cut', async () => {
    const opened = await open();
    const warning = { message: 'only the first 1 are listed; there may be more' };
    for (const [limit, warnings] of [
      [1, [warning]],
      [3, undefined],
    ]) {
      const { text } = await opened.call('files', { limit });
      expect(JSON.parse(text.slice(text.indexOf('\n'))).warnings).toEqual(warnings);
    }
  });

  it(
    'says in arguments, and in no flag or command line, what to change',
    async () => {
      const opened = await open();
      const url = 'https://example.com/a.mp3';
      const wrong: ReadonlyArray<readonly [tool: string, args: Record<string, unknown>, RegExp]> = [
        ['files', { state: ['Nope'] }, /such as Delivered/],
        ['files', { since: 'Nope' }, /since: 'Nope' is not a time/],
        ['report', { since: 'today', until: 'yesterday' }, /until/],
        ['search', { words: ['-mint'] }, /add a word/],
        ['search', { words: ['mint'], speaker: ' ' }, /speaker/],
        ['quote', { text: '?' }, /text|words/],
        ['check', { ids: ['99999'] }, /tool transcript/],
        ['transcript', { id: '99999' }, /./],
        ['estimate', { urls: [url], sku: ['NOPE'] }, /NOPE/],
        ['estimate', { urls: [url, url], sku: ['TRANS14'] }, /leave one out/],
        ['estimate', { urls: ['http://'], sku: ['TRANS14'] }, /urls/],
        ['estimate', { urls: ['https://example.com/new.mp3'], sku: ['TRANS14'] }, /unknown|unmeasured/],
      ];
      for (const [tool, args, expected] of wrong) {
        const { text } = await opened.call(tool, args);
        expect([tool, args, text]).toEqual([tool, args, expect.stringMatching(expected)]);
        expect([tool, args, text]).toEqual([
          tool,
          args,
          expect.not.stringMatching(/(?<![\w'"-])--[a-z]|\bsteno [a-z]|stdin/),
        ]);
      }
    },
    MANY_MS,
  );

  it('turns the error of a command into one of the tool', async () => {
    const opened = await open();
    expect(await opened.call('file', { ids: ['77'] })).toMatchObject({
      isError: true,
      error: { code: 'missing', status: 404, message: expect.stringContaining('77') },
    });
    expect(await opened.call('transcript', { id: '77' })).toMatchObject({
      isError: true,
      error: { code: 'missing' },
    });
    expect(await opened.call('events', { event: ['NOTHING'] })).toMatchObject({
      isError: true,
      error: { code: 'usage', hint: expect.stringContaining('TRANSCRIPT_COMPLETE') },
    });
    expect(await opened.call('file', { ids: ['1001', '77'] })).toMatchObject({
      isError: false,
      result: [{ audiofile: '1001' }, { error: { code: 'missing' } }],
      error: { code: 'partial' },
    });
  });
});

describe('the list of tools', () => {
  it('has at most 2,500 tokens, at four characters each, with the one that orders', async () => {
    const { client } = await assistant(user, ['--sandbox', '--allow-orders', '--max-cost', '20']);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...readOnly, 'order']);
    expect(JSON.stringify(tools).length / 4).toBeLessThan(2_500);
    const { contents } = await client.readResource({ uri: 'steno://schema/order' });
    const [{ text = '' } = {}] = contents as Array<{ text?: string }>;
    const { title } = JSON.parse(await steno('schema', 'order'));
    expect(JSON.parse(text)).toMatchObject({ title });
    expect(text).not.toContain('"required"');
  });
});

describe('what an assistant gives', () => {
  it(
    'is refused where it is wrong',
    async () => {
      const opened = await assistant(user);
      const wrong: ReadonlyArray<readonly [tool: string, args: Record<string, unknown>]> = [
        ['files', { state: 'Delivered' }],
        ['files', { limit: 0 }],
        ['files', { limit: 1e300 }],
        ['files', { exec: 'touch x' }],
        ['file', {}],
        ['file', { ids: [] }],
        ['search', { words: ['x'.repeat(5000)] }],
        ['search', { words: ['a\u0000b'] }],
        ['transcript', { id: '1001', offset: -1 }],
        ['transcript', { id: '1001', limit: 1e15 }],
        ['estimate', { sku: ['TRANS14'] }],
        ['estimate', { urls: ['/etc/passwd'], sku: ['TRANS14'] }],
        ['estimate', { urls: ['https://example.com/c.mp3'], minutes: [1, 2], sku: ['TRANS14'] }],
        ['estimate', { urls: ['https://example.com/c.mp3'], minutes: [1e308], sku: ['TRANS14'] }],
      ];
      for (const [tool, args] of wrong)
        expect([tool, args, (await opened.call(tool, args)).isError]).toEqual([tool, args, true]);
      expect(await opened.call('balance')).toMatchObject({ isError: false });
      expect(opened.said).toBe('');
    },
    MANY_MS,
  );
});

describe('a list', () => {
  it('of 20 files has at most 3,000 tokens, and the answers of the service only if asked', async () => {
    const other = new User();
    const urls = Array.from({ length: 20 }, (_, at) => `https://example.com/talks/${at}.mp3`);
    for (const args of [
      ['order', ...urls, '--sku', 'TRANS14'],
      ['sandbox', 'advance', '--by', '20d'],
      ['files', '--refresh'],
    ])
      expect((await other.run(['--sandbox', ...args])).code).toBe(0);
    const opened = await assistant(other);
    const { text, result } = await opened.call('files');
    expect(result).toHaveLength(20);
    expect(text.length / 4).toBeLessThan(3_000);
    expect(text).not.toContain('"answer"');
    const [file] = (await opened.call('files', { answer: true, limit: 1 })).result as unknown[];
    expect(file).toMatchObject({ answer: { audiofile: { statename: 'Delivered' } } });
  });
});

describe('limits', () => {
  it('refuses a result of more than 4 MB, and says what to do', async () => {
    const { service, user: other } = await orderingAccount();
    const opened = await assistant(other, []);
    service.allow('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'x', notes: 'y'.repeat(5e6) } },
    });
    expect((await opened.call('file', { ids: ['1'] })).error).toMatchObject({
      code: 'failed',
      message: 'the result is larger than 4.0 MB',
      hint: expect.stringContaining('limit'),
    });
  });

  it('keeps the digits of a number that JavaScript would round', async () => {
    const { service, user: other } = await orderingAccount();
    const body = '{"balance":"1.00","big":12345678901234567890,"small":0.10}';
    service.allow('GET /prepay_balance', { body });
    const { result, text } = await (await assistant(other, [])).call('balance', { answer: true });
    expect(text).toContain('"big":12345678901234567890,"small":0.10');
    expect(result).toMatchObject({ answer: { big: '12345678901234567890', small: 0.1 } });
  });

  it('runs with the same profile, key and ledger, and shows the key to nobody', async () => {
    const { service, user: other } = await orderingAccount({
      STENO_API_KEY: undefined,
      STENO_BASE_URL: undefined,
    });
    service.on('GET /prepay_balance', { body: { balance: '7.00' } });
    const key = 'sk+another/secret=0123';
    const opened = await assistant(other, ['--base-url', service.baseUrl, '--api-key', key]);
    const { result, text } = await opened.call('balance');
    expect(result).toMatchObject({ balance: 7 });
    expect(text).not.toContain(key);
    expect(service.calls('GET /prepay_balance')[0]?.query.get('api_key')).toBe(key);
    expect((await opened.call('files', { tag: key })).text).not.toContain(key);
  });
});
