/** An assistant: the official client, or bare lines, with `steno mcp` as a process of its own. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type CallToolResult, Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { finished, type Result, type User } from './steno.ts';
import { onTestEnd } from './test-end.ts';
import { until } from './until.ts';

/** For a test that runs many processes, on a machine that is busy. */
export const MANY_MS = 90_000;

export const revisions = ['2025-11-25', '2026-07-28'] as const;

export interface Asked {
  readonly message: string;
  readonly requestedSchema?: unknown;
}

interface AssistantOptions {
  readonly revision?: (typeof revisions)[number];
  /** How the person answers; without it, the assistant can't ask. */
  readonly answer?: (asked: Asked) => ElicitResult | Promise<ElicitResult>;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  readonly result: unknown;
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

export class Assistant {
  readonly client: Client;
  readonly #transport: StdioClientTransport;
  said = '';

  constructor(user: User, args: readonly string[], { revision = '2026-07-28', answer }: AssistantOptions) {
    const [command, ...first] = user.program;
    const env = Object.fromEntries(Object.entries(user.env).map(([name, value]) => [name, value ?? '']));
    const process = {
      command,
      args: [...first, ...(args.includes('mcp') ? args : ['mcp', ...args])],
      env,
      cwd: user.home,
      stderr: 'pipe' as const,
    };
    this.#transport = new StdioClientTransport(process);
    this.#transport.stderr?.on('data', (chunk: Buffer) => {
      this.said += chunk;
    });
    this.client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: answer ? { elicitation: {} } : {},
        versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
      },
    );
    if (answer) this.client.setRequestHandler('elicitation/create', ({ params }) => answer(params));
  }

  async connect(): Promise<this> {
    await this.client.connect(this.#transport);
    onTestEnd(() => this.client.close());
    return this;
  }

  get pid(): number {
    return this.#transport.pid ?? 0;
  }

  async call(name: string, args: Record<string, unknown> = {}, signal?: AbortSignal): Promise<ToolResult> {
    const options = signal ? { signal } : {};
    const called = (await this.client.callTool({ name, arguments: args }, options)) as CallToolResult;
    const [first] = called.content;
    const { result, error } = (called.structuredContent ?? {}) as Partial<ToolResult>;
    return {
      text: first?.type === 'text' ? first.text : '',
      isError: called.isError === true,
      result,
      error,
    };
  }
}

export const assistant = (
  user: User,
  args: readonly string[] = ['--sandbox'],
  options: AssistantOptions = {},
): Promise<Assistant> => new Assistant(user, args, options).connect();

/** The untrusted text of a result, without the marks around it. */
export function betweenMarks(text: string): string {
  const [, , found] = /^(--- [0-9a-f]{12} ---)\n([\s\S]*)\n\1\n$/m.exec(text) ?? [];
  if (found === undefined) throw new Error(`no marks: ${text}`);
  return found;
}

/** A client of the older handshake that sends whatever it is told to. */
export class BareClient {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Result>;
  #out = '';

  constructor(user: User, args: readonly string[] = ['--sandbox']) {
    this.child = user.start(['mcp', ...args]);
    this.child.stdin.on('error', () => {});
    this.child.stdout.on('data', (chunk: Buffer) => {
      this.#out += chunk;
    });
    this.ended = finished(this.child);
    onTestEnd(() => void this.child.kill('SIGKILL'));
  }

  async open(capabilities: object = {}): Promise<this> {
    const clientInfo = { name: 'bare', version: '1' };
    this.send(0, 'initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    await this.answer(0);
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return this;
  }

  send(id: number, method: string, params: object): void {
    this.write({ jsonrpc: '2.0', id, method, params });
  }

  call(id: number, name: string, args: object = {}): void {
    this.send(id, 'tools/call', { name, arguments: args });
  }

  write(message: object | string): void {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  /** Every line of stdout; one that is no JSON fails. */
  get messages(): Array<Record<string, unknown>> {
    const whole = this.#out.slice(0, this.#out.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  answer(id: number): Promise<Record<string, unknown>> {
    return until(
      () => this.messages.find((each) => each.id === id && !('method' in each)),
      `an answer to ${id}`,
      MANY_MS,
    );
  }

  asked(method: string): Promise<Record<string, unknown>> {
    return until(() => this.messages.find((each) => each.method === method), `a request of ${method}`);
  }
}

/** The processes that this user has running, but for the given ones. */
export function processesOf({ home }: User, ...except: readonly (number | undefined)[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !except.includes(Number(name)))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`HOME=${home}\0`)) return [];
        return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')}`];
      } catch {
        return [];
      }
    });
}
