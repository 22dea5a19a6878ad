/** The protocol: tools and resources on stdin and stdout, each of them a command line of steno. */
import { Writable } from 'node:stream';
import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { isObject } from '../lib/json.ts';
import type { Money } from '../lib/money.ts';
import type { Context } from '../spec/context.ts';
import type { Stdout } from '../ui/streams.ts';
import { Children } from './children.ts';
import { Orders } from './orders.ts';
import { errorResult, resultOf, saidBy, UNTRUSTED } from './results.ts';
import { lineOf, orderInput, tools, transcriptInput } from './tools.ts';
import { Transcripts } from './transcripts.ts';

/** A larger message ends the connection. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** How many transcripts the list of resources names. */
const LISTED = 50;

const instructions = `steno orders transcripts of recordings, and keeps a ledger of orders and files. ${UNTRUSTED}
A result is {untrusted, result, warnings, error}; the resource steno://schema/TOOL has the JSON schema of its member result.
search and check read transcripts on this disk; transcript asks the service too. After error code "uncertain", stop and ask the person.`;

/** Serves until the client leaves. Without `maxCost` nothing can be ordered. */
export async function serve(context: Context, maxCost: Money | undefined): Promise<void> {
  const { out, signal, stdin, ledgers } = context;
  const children = new Children(...settingsOf(context));
  const transcripts = new Transcripts(children, () => ledgers.ifAny());
  const orders = maxCost && new Orders(children, maxCost);
  const wire = new StdioServerTransport(stdin, writableTo(out.stdout, signal), {
    maxBufferSize: MAX_MESSAGE,
  });
  const handle = serveStdio(() => makeServer(children, transcripts, orders), {
    transport: wire,
    onerror: (error) => void out.warn(`trouble with the client: ${errorMessage(error)}`),
  });
  await new Promise<void>((resolve) => {
    const { onclose } = wire;
    wire.onclose = () => {
      onclose?.();
      resolve();
    };
    signal.addEventListener('abort', () => resolve());
  });
  await handle.close();
  await children.close();
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
}

/** For the same account and ledger. A key is never put into a command line. */
function settingsOf({ globals, env }: Context): ConstructorParameters<typeof Children> {
  const { profile, baseUrl, apiKey, sandbox, timeout, ledger } = globals;
  const flags = [
    profile !== undefined && `--profile=${profile}`,
    baseUrl !== undefined && `--base-url=${baseUrl}`,
    timeout !== undefined && `--timeout=${timeout}ms`,
    sandbox && '--sandbox',
    !ledger && '--no-ledger',
  ];
  const withKey = apiKey === undefined ? env : { ...env, STENO_API_KEY: apiKey };
  return [withKey, flags.filter((flag) => flag !== false)];
}

/** Fails where the reader has gone, which ends the connection. */
const writableTo = (stdout: Stdout, signal: AbortSignal): Writable =>
  new Writable({
    decodeStrings: false,
    write: (text: string, _, done) => {
      stdout.writeNow(text);
      stdout.isWritten(signal).then((isRead) => done(isRead ? null : new Error('it has gone')), done);
    },
    // Every answer that waits for its reader listens.
  }).setMaxListeners(0);

function makeServer(children: Children, transcripts: Transcripts, orders: Orders | undefined): McpServer {
  const server = new McpServer(
    { name: 'steno', version: STENO_VERSION },
    {
      instructions,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      ...(orders && { requestState: { verify: orders.codec.verify } }),
    },
  );
  const annotations = { readOnlyHint: true };
  for (const tool of tools)
    server.registerTool(
      tool.name,
      { title: tool.title, description: tool.description, inputSchema: tool.input, annotations },
      (values, { mcpReq: { signal } }) =>
        orError(async () => resultOf(saidBy(await children.run(lineOf(tool, values), signal)))),
    );
  server.registerTool(
    'transcript',
    {
      title: 'Read a transcript',
      description: 'A part of a transcript, with times; says where to go on',
      ...{ inputSchema: transcriptInput, annotations },
    },
    ({ id, offset, limit }, { mcpReq: { signal } }) =>
      orError(
        async (): Promise<CallToolResult> => ({
          content: [
            { type: 'text', text: `${UNTRUSTED}\n${await transcripts.part(id, offset, limit, signal)}` },
          ],
        }),
      ),
  );
  if (orders)
    server.registerTool(
      'order',
      {
        title: 'Order transcription',
        description: 'Costs money. Asks the person first; buys nothing that is on order already',
        inputSchema: orderInput,
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      },
      (wanted, context) =>
        orError(() => orders.order(wanted, context, server.server.getClientCapabilities())),
    );
  addResources(server, children, transcripts);
  return server;
}

async function orError<Result>(work: () => Promise<Result>): Promise<Result | CallToolResult> {
  try {
    return await work();
  } catch (error) {
    return errorResult(error);
  }
}

/** They cost a model nothing until they are read. */
function addResources(server: McpServer, children: Children, transcripts: Transcripts): void {
  for (const { name, title, schema = [name] } of tools)
    server.registerResource(
      `schema of ${name}`,
      `steno://schema/${name}`,
      { title: `${title}: JSON schema`, mimeType: 'application/schema+json' },
      async (uri, { mcpReq }) =>
        contents(uri, (await children.run({ words: ['schema', ...schema] }, mcpReq.signal)).stdout),
    );
  const delivered = ['files', '--state=Delivered', `--limit=${LISTED}`];
  const template = new ResourceTemplate('steno://transcript/{id}', {
    list: async ({ mcpReq }) => {
      const { result } = saidBy(await children.run({ words: delivered }, mcpReq.signal));
      const files = Array.isArray(result) ? result.filter(isObject) : [];
      const named = files.map((file) => ({ id: String(file.get('audiofile')), title: file.get('title') }));
      return {
        resources: named.map(({ id, title }) => ({
          ...{ uri: `steno://transcript/${encodeURIComponent(id)}`, name: id },
          ...(typeof title === 'string' && { title }),
        })),
      };
    },
  });
  server.registerResource(
    'transcript',
    template,
    { description: `Transcript with times. ${UNTRUSTED}`, mimeType: 'text/plain' },
    async (uri, { id }, { mcpReq }) => {
      try {
        const text = await transcripts.whole(decodeURIComponent(String(id)), mcpReq.signal);
        return contents(uri, `${UNTRUSTED}\n\n${text}`);
      } catch (error) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, errorMessage(error), { uri: uri.href });
      }
    },
  );
}

const contents = (uri: URL, text: string): ReadResourceResult => ({ contents: [{ uri: uri.href, text }] });
