import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';
import {
  balance,
  type Cleanup,
  type Fields,
  open,
  order,
  type Receiver,
  reaches,
  receive,
  send,
} from '../support/sandbox.ts';
import { until } from '../support/until.ts';

interface Table {
  readonly title: string;
  readonly rows: ReadonlyArray<readonly string[]>;
}

const lines = readFileSync(new URL('../data/api4.md', import.meta.url), 'utf8').split('\n');

/** Every table of the document, under the heading or the sentence that leads to it. */
function readTables(): Table[] {
  const tables: Array<{ title: string; rows: string[][] }> = [];
  let heading = '';
  let lead = '';
  lines.forEach((line, index) => {
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
    if (!line.startsWith('|')) {
      if (line.trim() !== '') lead = line;
      return;
    }
    const cells = cellsOf(line);
    if (!lines[index - 1]?.startsWith('|'))
      tables.push({ title: `${titleOf(heading, lead)} (${cells.join(', ')})`, rows: [] });
    else if (!/^-+$/.test(cells[0] ?? '')) tables.at(-1)?.rows.push(cells);
  });
  return tables;
}

const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

const titleOf = (heading: string, lead: string): string =>
  lead.endsWith(':') && lead.includes('SKUs') ? (lead.split(' (')[0] ?? '') : heading;

const tables = readTables();
const cleanups: Array<() => void | Promise<void>> = [];
const later: Cleanup = (work) => {
  cleanups.push(work);
};
let client: Awaited<ReturnType<typeof open>>;
let receiver: Receiver;
let delivered: string;

beforeAll(async () => {
  client = await open({ folder: freshFolder() }, later);
  receiver = await receive(200, later);
  await client.post('/webhook', { webhook: receiver.url });
  delivered = (await order(client, 'https://example.com/delivered.mp3', { name: ['Ann', 'Bob'] })).file;
  await reaches(client, delivered, 'Delivered');
});
afterAll(async () => {
  for (const work of cleanups.reverse()) await work();
});

let count = 0;
const freshUrl = (word = 'plain'): string => `https://example.com/${word}-${++count}.mp3`;

const types: Record<string, (value: unknown) => boolean> = {
  identifier: (value) => value === null || typeof value === 'string' || Number.isInteger(value),
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  time: (value) => value === null || /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value)),
  'array of identifiers': (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => types.identifier?.(each)),
  'array of invoice item': (value) => Array.isArray(value) && value.length > 0,
};

function holds(object: Fields, [field = '', type = '']: readonly string[]): void {
  expect(object).toHaveProperty(field);
  expect(types[type]?.(object[field]), `${field} is a ${type}: ${JSON.stringify(object[field])}`).toBe(true);
}

async function invoiceOf(file: string): Promise<Fields> {
  const { audiofile } = (await client.get(`/audiofile/${file}`)).data as { audiofile: Fields };
  const [id] = audiofile.invoices as number[];
  return (await client.post(`/invoice/${id}`)).data;
}

/** A path of the endpoint table with real ids in it, and what the call needs besides the key. */
async function example(
  operation: string,
  path: string,
): Promise<{ path: string; params: Record<string, string> }> {
  const file = operation === 'Refund' || operation === 'Upgrade' ? '100' : delivered;
  const params: Record<string, Record<string, string>> = {
    'Order by URL': { url: freshUrl(), sku: 'TRANS14' },
    Upgrade: { sku: 'UPGRD1', test: '1' },
    Refund: { test: '1' },
    'Set webhook': { webhook: receiver.url },
  };
  const real = path
    .replace('<audiofile_id>', file)
    .replace('<ext>', 'txt')
    .replace('<invoice_id>', String((await invoiceOf(delivered)).id))
    .replace('<type>', 'DIFFICULT_AUDIO');
  return { path: real, params: params[operation] ?? {} };
}

async function everyMethod([operation = '', methods = '', path = '']: readonly string[]): Promise<void> {
  const call = await example(operation, path);
  const { baseUrl, apiKey } = client.sandbox;
  const query = new URLSearchParams({ ...call.params, api_key: apiKey });
  const allowed = path === '/webhook' ? ['GET', 'POST'] : (methods.match(/GET|POST/g) ?? []);
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const) {
    const reply = await send(`${baseUrl}${call.path}?${query}`, { method });
    const isPlainPost = operation === 'Read webhook' && method === 'POST';
    const usual = allowed.includes(method) ? 200 : 405;
    const status = isPlainPost ? 400 : usual;
    expect(reply.status, `${method} ${path}`).toBe(status);
    if (status === 405) expect(String(reply.headers.allow).split(', ')).toEqual(allowed);
    if (status === 200 && !path.includes('<ext>')) expect(reply.data.message).toEqual(expect.any(String));
  }
  const posts = methods.includes('POST');
  const bare = await send(`${baseUrl}${call.path}`, { method: posts ? 'POST' : 'GET' });
  expect(bare.status).toBe(401);
  expect(bare.data.message).toEqual(expect.any(String));
}

async function withoutParameter(
  path: string,
  params: Record<string, string>,
  [name = '', type = '', required = '']: readonly string[],
): Promise<void> {
  if (name === 'api_key' || type.startsWith('URL')) return;
  const { [name]: _, ...rest } = params;
  const reply = await client.post(path, rest);
  expect(reply.status, `without ${name}: ${reply.text}`).toBe(required === 'yes' ? 400 : 200);
}

const walks: Record<string, (row: readonly string[]) => Promise<void>> = {
  'Order (result of ordering) (Field, Type, Presence, Meaning)': async (row) => {
    const { reply } = await order(client, freshUrl('hold'));
    holds(reply.data, row);
    if (row[2] !== 'always')
      expect((await order(client, freshUrl())).reply.data).not.toHaveProperty(row[0] ?? '');
  },
  'Audiofile (returned inside an object named `audiofile`) (Field, Type, Meaning)': async (row) => {
    holds((await client.get(`/audiofile/${delivered}`)).data.audiofile as Fields, row);
  },
  'Prepay balance (Field, Type, Meaning)': async (row) =>
    holds((await client.get('/prepay_balance')).data, row),
  'Invoice (Field, Type, Meaning)': async (row) => holds(await invoiceOf(delivered), row),
  'Invoice item (Field, Type, Meaning)': async (row) => {
    const [item] = (await invoiceOf(delivered)).items as Fields[];
    holds(item ?? {}, row);
  },
  'Ordering SKUs (SKU, Meaning)': async ([sku = '', meaning = '']) => {
    const addOn = meaning.includes('add-on');
    const alone = await client.post('/order_url', { url: freshUrl(), sku });
    expect(alone.status).toBe(addOn ? 400 : 200);
    const before = await balance(client);
    const { file } = await order(client, freshUrl(), { sku: addOn ? ['TRANS14', sku] : [sku] });
    const { items, total } = (await invoiceOf(file)) as { items: Fields[]; total: number };
    expect(items.map((item) => item.sku)).toContain(sku);
    expect(await balance(client)).toBeCloseTo(before - total, 2);
    await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
  },
  'Upgrade SKUs (SKU, Meaning)': async ([sku = '', meaning = '']) => {
    const from = /Upgrade (\w+) to (\w+)/.exec(meaning)?.[1];
    const { file } = await order(client, freshUrl('slow'), { sku: from ?? 'TRANS6' });
    const before = await balance(client);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku })).data.message).toEqual(
      expect.any(String),
    );
    expect(await balance(client)).toBeLessThan(before);
    const { invoices } = (await client.get(`/audiofile/${file}`)).data.audiofile as { invoices: number[] };
    const { items } = (await client.post(`/invoice/${invoices.at(-1)}`)).data as { items: Fields[] };
    expect(items.map((item) => item.sku)).toEqual([sku]);
    expect((await client.post(`/audiofile/${file}/upgrade`, { sku })).status).toBe(409);
  },
  'Audiofile states (value of `statename`) (Operation, Condition, Outcome)': async ([operation]) => {
    const { file } = await order(client, freshUrl('slow'));
    expect((await client.post(`/audiofile/${file}/${operation}`)).status).toBe(200);
    expect((await client.post(`/audiofile/${delivered}/${operation}`)).status).toBe(409);
  },
  'Invoice states (value of `state`) (State, Meaning)': async ([state]) => {
    const slow = await open({ speed: 5 });
    const { file } = await order(slow, freshUrl(state === 'PAID' ? 'plain' : 'unpaid'));
    const { invoices } = (await slow.get(`/audiofile/${file}`)).data.audiofile as { invoices: number[] };
    const invoice = await until(async () => {
      const { data } = await slow.post(`/invoice/${invoices[0]}`);
      return data.state === state && data;
    }, String(state));
    expect(invoice.createtime).toEqual(expect.any(String));
    expect(invoice.paidtime === null).toBe(state !== 'PAID');
  },
  'Endpoints (Operation, Method, Path)': everyMethod,
  'Order by URL (Parameter, Type, Required, Meaning)': async (row) => {
    const params = { url: freshUrl(), sku: 'TRANS6', test: '1', notes: 'n', name: 'Ann', names: 'Bob' };
    await withoutParameter('/order_url', params, row);
  },
  'Transcript (Parameter, Type, Required, Meaning)': async (row) => {
    await withoutParameter(`/audiofile/${delivered}/transcript.txt`, { test: '1' }, row);
    for (const [, ext = ''] of (row[3] ?? '').matchAll(/`\.(\w+)`/g)) {
      const reply = await client.get(`/audiofile/${delivered}/transcript.${ext}`);
      const old = await client.get(`/transcript/${delivered}.${ext}`);
      expect([reply.status, old.status]).toEqual([200, 200]);
      expect(old.text).toBe(reply.text);
      expect(reply.text.length).toBeGreaterThan(100);
      expect(reply.headers['content-type']).not.toMatch(/json/);
    }
    if (row[0]?.startsWith('extension')) {
      const [bare, txt] = await Promise.all(
        ['', '.txt'].map((ext) => client.get(`/audiofile/${delivered}/transcript${ext}`)),
      );
      expect(bare?.text).toBe(txt?.text);
    }
  },
  'Upgrade (Parameter, Type, Required, Meaning)': async (row) => {
    const { file } = await order(client, freshUrl('slow'));
    await withoutParameter(`/audiofile/${file}/upgrade`, { sku: 'TSTMP1' }, row);
    if (row[0] === 'test') {
      expect((await client.post(`/audiofile/${file}/upgrade`, { sku: 'EDIT01', test: '1' })).status).toBe(
        400,
      );
      for (const id of ['100', '101']) {
        expect((await client.post(`/audiofile/${id}/upgrade`, { sku: 'EDIT01', test: '1' })).status).toBe(
          200,
        );
      }
    }
  },
  'Refund (Parameter, Type, Required, Meaning)': async (row) => {
    const { file } = await order(client, freshUrl('slow'));
    if (row[0] === 'test') {
      expect((await client.post(`/audiofile/${file}/refund`, { test: '1' })).status).toBe(400);
      for (const id of ['100', '101']) {
        expect((await client.post(`/audiofile/${id}/refund`, { test: '1' })).status).toBe(200);
      }
    }
    await withoutParameter(`/audiofile/${file}/refund`, {}, row);
  },
  'Set webhook (Parameter, Type, Required, Meaning)': async (row) =>
    withoutParameter('/webhook', { webhook: receiver.url }, row),
  'Test webhook (Parameter, Type, Required, Meaning)': async (row) => {
    for (const [type = ''] of (row[3] ?? '').matchAll(/[A-Z]+_[A-Z_]+/g)) {
      const seen = receiver.events.length;
      const reply = await client.post(`/webhook/test/${type}`);
      expect(reply.data.webhook).toBe(receiver.url);
      await until(() => receiver.events.slice(seen).some((event) => event.event === type), type);
    }
  },
  'Events (Event, Sent when, Fields besides webhook_version)': async ([name = '', , fields = '']) => {
    const words: Record<string, string> = {
      DUPLICATE_FILE: 'duplicate',
      REFUND_ISSUED: 'refund',
      CC_AUTH_FAILURE: 'card-failure',
      DIFFICULT_AUDIO: 'difficult',
      ORDER_ON_HOLD: 'hold',
    };
    const placed = await order(client, freshUrl(words[name]));
    const event = await receiver.event({ event: name, order: placed.order });
    const expected = fields
      .replace(/\([^)]*\)/g, '')
      .split(',')
      .map((field) => field.trim());
    expect(Object.keys(event).sort()).toEqual([...expected, 'webhook_version'].sort());
  },
};

describe('the tables of the document', () => {
  it('are all walked', () => {
    expect(tables.map((table) => table.title).sort()).toEqual(Object.keys(walks).sort());
    expect(tables.every((table) => table.rows.length > 0)).toBe(true);
  });

  for (const { title, rows } of tables) {
    describe(title, () => {
      it.each(rows.map((row) => [row[0] ?? '', row] as const))('%s', async (_, row) => {
        await walks[title]?.(row);
      });
    });
  }
});
