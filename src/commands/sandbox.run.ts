import { once } from 'node:events';
import { StenoError, usage } from '../lib/errors.ts';
import { toJson } from '../lib/json.ts';
import { isLoopback } from '../lib/urls.ts';
import {
  advanceBy,
  advance as advanceFiles,
  type MovedFile,
  parseFault,
  releaseHold,
  resetSandbox,
  startSandbox,
} from '../sandbox/index.ts';
import type { Input } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';

interface SandboxOptions {
  readonly port: string;
  readonly host: string;
  readonly speed: string;
  readonly ephemeral: boolean;
  readonly fault: readonly string[];
}

export async function serve(context: Context, { options }: Input<SandboxOptions>): Promise<void> {
  const { ephemeral, host } = options;
  const speed = readNumber('--speed', options.speed, /^\d*\.?\d+$/, 1000);
  const port = readNumber('--port', options.port, /^\d+$/, 65_535);
  if (ephemeral && speed === 0) {
    throw usage(
      "--speed 0 can't be used with --ephemeral",
      'steno sandbox advance reaches only data that is kept',
    );
  }
  const faults = options.fault.map(parseFault);
  if (!isLoopback(host.includes(':') ? `[${host}]` : host))
    await context.out.warn(
      `anyone who can reach ${host} can use this sandbox: its key is no secret`,
      'use --host 127.0.0.1, unless others are meant to reach it',
    );
  const folder = ephemeral ? {} : { folder: context.stateFolder };
  const { baseUrl, apiKey, close } = await startSandbox({ ...folder, host, port, speed, faults });
  try {
    await showAddress(context, baseUrl, apiKey);
    if (!context.signal.aborted) await once(context.signal, 'abort');
  } finally {
    await close();
  }
  throw new StenoError('interrupted', 'the sandbox is closed');
}

export async function reset(context: Context): Promise<void> {
  await resetSandbox(context.stateFolder);
  await context.forgetSandbox();
  context.out.done('the sandbox is empty again, and so is its ledger', { profile: 'sandbox' });
}

export async function release(context: Context, { args: [order = ''] }: Input): Promise<void> {
  await showFiles(context, await releaseHold(context.stateFolder, order));
}

export async function advance(
  context: Context,
  { args, options: { by } }: Input<{ readonly by: number | undefined }>,
): Promise<void> {
  if (by === undefined) return showFiles(context, await advanceFiles(context.stateFolder, args));
  if (args.length > 0)
    throw usage("--by moves the clock of all files, so it can't be used with ids", 'leave out one of them');
  await showFiles(context, await advanceBy(context.stateFolder, by));
}

function readNumber(name: string, given: string, shape: RegExp, max: number): number {
  const number = shape.test(given) ? Number(given) : Number.NaN;
  if (number >= 0 && number <= max) return number;
  throw usage(`'${given}' for ${name} is not a number from 0 to ${max}`);
}

async function showAddress(context: Context, baseUrl: string, apiKey: string): Promise<void> {
  await context.out.show({
    json: toJson({ base_url: baseUrl, api_key: apiKey }),
    columns: [{ name: 'base_url', kind: 'link' }, { name: 'api_key' }],
    rows: [[baseUrl, apiKey]],
    quiet: [baseUrl],
    asRecord: true,
  });
  context.out.note(`try: curl "${baseUrl}/prepay_balance?api_key=${apiKey}"`);
}

async function showFiles(context: Context, files: readonly MovedFile[]): Promise<void> {
  await context.out.show({
    json: toJson(files.map(({ id, state }) => ({ audiofile: id, state }))),
    columns: [
      { name: 'audiofile', kind: 'id' },
      { name: 'state', kind: 'state' },
    ],
    rows: files.map(({ id, state }) => [id, state]),
    quiet: files.map(({ id }) => id),
  });
}
