import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts';
import { until } from './until.ts';

export type Fields = Record<string, unknown>;
export type Cleanup = (work: () => void | Promise<void>) => void;

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** The answer as an object; fails if it is none. */
  readonly data: Fields;
}

export interface Client {
  get(path: string, query?: Record<string, string>): Promise<Reply>;
  post(path: string, body?: Fields): Promise<Reply>;
}

/** A sandbox that is closed after the test, and a client that has its key. */
export async function open(
  options: SandboxOptions = {},
  cleanup: Cleanup = onTestFinished,
): Promise<Client & { sandbox: Sandbox }> {
  const sandbox = await startSandbox({ speed: 50, ...options });
  cleanup(() => sandbox.close());
  return { sandbox, ...clientOf(sandbox.baseUrl, sandbox.apiKey) };
}

export function clientOf(baseUrl: string, key: string): Client {
  return {
    get: (path, query = {}) => send(`${baseUrl}${path}?${new URLSearchParams({ ...query, api_key: key })}`),
    post: (path, body = {}) =>
      send(`${baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, api_key: key }),
      }),
  };
}

export async function send(url: string, options: Parameters<typeof request>[1] = {}): Promise<Reply> {
  const { statusCode, headers, body } = await request(url, options);
  const text = await body.text();
  return {
    status: statusCode,
    headers,
    text,
    get data() {
      return JSON.parse(text) as Fields;
    },
  };
}

export interface Receiver {
  readonly url: string;
  /** Every delivery so far, as its form. */
  readonly events: Array<Record<string, string>>;
  readonly requests: Array<{ method: string | undefined; type: string | undefined; body: string }>;
  /** Waits for an event with these fields. */
  event(fields: Record<string, string>): Promise<Record<string, string>>;
}

export async function receive(status = 200, cleanup: Cleanup = onTestFinished): Promise<Receiver> {
  const events: Receiver['events'] = [];
  const requests: Receiver['requests'] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    requests.push({ method: incoming.method, type: incoming.headers['content-type'], body });
    events.push(Object.fromEntries(new URLSearchParams(body)));
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup(() => {
    server.close();
  });
  const matches = (event: Record<string, string>, fields: Record<string, string>): boolean =>
    Object.entries(fields).every(([name, value]) => event[name] === value);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    events,
    requests,
    event: (fields) => until(() => events.find((event) => matches(event, fields)), JSON.stringify(fields)),
  };
}

/** Orders one URL; gives the ids as strings. */
export async function order(
  client: Client,
  url = 'https://example.com/talk.mp3',
  more: Fields = {},
): Promise<{ order: string; file: string; reply: Reply }> {
  const reply = await client.post('/order_url', { url, sku: 'TRANS14', ...more });
  if (reply.status !== 200) throw new Error(reply.text);
  const [file] = reply.data.audiofiles as number[];
  return { order: String(reply.data.order), file: String(file), reply };
}

export async function stateOf(client: Client, file: string): Promise<string> {
  const { data } = await client.get(`/audiofile/${file}`);
  return String((data.audiofile as Fields).statename);
}

export const reaches = (client: Client, file: string, state: string): Promise<boolean> =>
  until(async () => (await stateOf(client, file)) === state, `${file} in ${state}`);

export async function balance(client: Client): Promise<number> {
  return Number((await client.get('/prepay_balance')).data.balance);
}
