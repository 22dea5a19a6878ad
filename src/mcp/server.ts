/** The protocol: tools and resources on stdin and stdout, each of them a command line of steno. */
import { Writable } from 'node:stream';
import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { isObject } from '../lib/json.ts';
import type { Money } from '../lib/money.ts';
import { oneLine } from '../lib/text.ts';
import type { Context } from '../spec/context.ts';
import type { Stdout } from '../ui/streams.ts';
import { Children } from './children.ts';
import { Orders } from './orders.ts';
import { type Answer, errorResult, noteLimit, resultOf, saidBy, UNTRUSTED } from './results.ts';
import { lineOf, orderTool, type Tool, tools, transcriptTool, type Values } from './tools.ts';
import { Transcripts } from './transcripts.ts';
import { Wire } from './wire.ts';

/** How many transcripts the list of resources names, the newest, and how much of their titles. */
const LISTED = 1_000;
const MAX_TITLE = 200;
const MAX_OUTPUT = 4_000_000;

const instructions = `steno orders transcripts of recordings, and keeps a ledger of orders and files. ${UNTRUSTED}
A result is {untrusted, result, warnings, error}, or text for transcript; steno://schema/TOOL has the JSON schema of result, without members that are null or empty.
search, quote and check read transcripts on this disk; verify with quote what you quote; transcript asks the service too. After error code "uncertain", stop and ask the person.`;

/** Serves until the client leaves. Without `maxCost` nothing can be ordered. */
export async function serve(context: Context, maxCost: Money | undefined): Promise<void> {
  const { out, signal, stdin, ledgers } = context;
  const children = new Children(context, MAX_OUTPUT);
  const transcripts = new Transcripts(children, () => ledgers.ifAny());
  const orders = maxCost && new Orders(children, maxCost, context.sandbox !== undefined);
  const wire = new Wire(stdin, writableTo(out.stdout, signal));
  let isTooLarge = false;
  const handle = serveStdio(() => makeServer(children, transcripts, orders, context.globals.ledger), {
    transport: wire,
    onerror: (error) => {
      isTooLarge ||= errorMessage(error).includes('maximum size');
      void out.warn(`client error: ${errorMessage(error)}`);
    },
  });
  wire.watch();
  await new Promise<void>((resolve) => {
    const { onclose } = wire;
    wire.onclose = () => {
      onclose?.();
      resolve();
    };
    signal.addEventListener('abort', () => resolve());
    if (signal.aborted) resolve();
  });
  await handle.close();
  await children.close();
  // Otherwise the process would wait for stdin to close.
  stdin.destroy();
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
  if (isTooLarge) throw new StenoError('failed', 'the client sent a message that is too large');
}

/** Fails where the reader has gone, which ends the connection. */
const writableTo = (stdout: Stdout, signal: AbortSignal): Writable =>
  new Writable({
    decodeStrings: false,
    write: (text: string, _, done) => {
      stdout.writeNow(text);
      stdout.isWritten(signal).then((isRead) => done(isRead ? null : new Error('disconnected')), done);
    },
    // Every answer that waits for its reader listens.
  }).setMaxListeners(0);

function makeServer(
  children: Children,
  transcripts: Transcripts,
  orders: Orders | undefined,
  hasLedger: boolean,
): McpServer {
  const capabilities = { tools: { listChanged: false }, resources: { listChanged: false } };
  const server = new McpServer({ name: 'steno', version: STENO_VERSION }, { instructions, capabilities });
  const register = (tool: Tool, work: (values: Values, context: ServerContext) => Promise<Answer>): void =>
    void server.registerTool(tool.name, tool, (values, context) => work(values, context).catch(errorResult));
  for (const tool of tools)
    register(tool, async (values, { mcpReq }) => {
      const line = lineOf(tool, values, hasLedger);
      return resultOf(noteLimit(saidBy(await children.run(line, mcpReq.signal)), values), values);
    });
  register(transcriptTool, async (values, { mcpReq }) => ({
    content: [{ type: 'text', text: await transcripts.part(values, mcpReq.signal) }],
  }));
  if (orders)
    register(orderTool, (values, context) =>
      orders.order(values, context, server.server.getClientCapabilities()),
    );
  addResources(server, children, transcripts, orders ? [...tools, orderTool] : tools);
  return server;
}

/** They cost a model nothing until they are read. */
function addResources(
  server: McpServer,
  children: Children,
  transcripts: Transcripts,
  offered: readonly Tool[],
): void {
  for (const { name, title, schema = [name] } of offered)
    server.registerResource(
      `schema of ${name}`,
      `steno://schema/${name}`,
      { title: `${title}: JSON schema`, mimeType: 'application/schema+json' },
      async (uri, { mcpReq }) => {
        const { stdout } = await children.run({ words: ['schema', ...schema] }, mcpReq.signal);
        return contents(uri, withoutRequired(stdout));
      },
    );
  const delivered = ['files', '--json', '--state=Delivered', `--limit=${LISTED}`];
  const template = new ResourceTemplate('steno://transcript/{id}', {
    list: async ({ mcpReq }) => {
      const { result } = saidBy(await children.run({ words: delivered }, mcpReq.signal));
      const files = Array.isArray(result) ? result.filter(isObject) : [];
      const named = files.map((file) => [String(file.get('audiofile')), file.get('title') ?? ''] as const);
      return {
        resources: named.map(([id, title]) => ({
          uri: `steno://transcript/${encodeURIComponent(id)}`,
          name: `transcript ${id}`,
          title: oneLine(`Transcript ${id}, untrusted title: ${title}`, MAX_TITLE),
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
        return contents(uri, await transcripts.whole({ id: decodeURIComponent(String(id)) }, mcpReq.signal));
      } catch (error) {
        const message = error instanceof StenoError ? oneLine(error.message) : 'this is not an id';
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { uri: uri.href });
      }
    },
  );
}

/** Members without a value are left out of a result. */
const withoutRequired = (schema: string): string =>
  JSON.stringify(JSON.parse(schema), (name, value) =>
    name === 'required' && Array.isArray(value) ? undefined : value,
  );

const contents = (uri: URL, text: string) => ({ contents: [{ uri: uri.href, text }] });
