import { once } from 'node:events';
import { command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { flag, list, text } from '../cli/options.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { JsonNumber, toJson } from '../lib/json.ts';
import type { Moved } from '../sandbox/index.ts';
import { scenarios } from '../sandbox/scenarios.ts';

async function showFiles(context: Context, files: readonly Moved[]): Promise<void> {
  await context.out.show({
    json: toJson(files.map(({ id, state }) => ({ id: new JsonNumber(id), statename: state }))),
    columns: [
      { name: 'audiofile', kind: 'id' },
      { name: 'state', kind: 'state' },
    ],
    rows: files.map(({ id, state }) => [id, state]),
    quiet: files.map(({ id }) => id),
  });
}

const reset = command({
  name: 'reset',
  summary: 'Forget all orders and start afresh',
  examples: [['steno sandbox reset', 'begin with an empty sandbox and a full balance']],
  async run(context) {
    const { resetSandbox } = await import('../sandbox/index.ts');
    await resetSandbox(context.stateFolder);
    await context.forgetSandbox();
    context.out.note('the sandbox is empty again, and so is its ledger');
  },
});

const release = command({
  name: 'release',
  summary: 'End the hold of an order, which then goes on',
  args: [{ name: '<order>', help: 'id of an order that is on hold', values: 'order' }],
  examples: [['steno sandbox release 4nX', 'the order goes on, and its files are delivered']],
  async run(context, { args: [order = ''] }) {
    const { releaseHold } = await import('../sandbox/index.ts');
    await showFiles(context, await releaseHold(context.stateFolder, order));
  },
});

const advance = command({
  name: 'advance',
  summary: 'Move files to their next state at once',
  about: 'Moves files to their next state at once: these, or all that are under way. A held file stays held.',
  args: [{ name: '[id…]', help: 'audiofiles to move', values: 'audiofile' }],
  examples: [
    ['steno sandbox advance', 'all of them, one state further'],
    ['steno sandbox advance 1001', 'only this one'],
  ],
  async run(context, { args }) {
    const sandbox = await import('../sandbox/index.ts');
    await showFiles(context, await sandbox.advance(context.stateFolder, args));
  },
});

const width = Math.max(...scenarios.map(({ word }) => word.length));

export const sandbox = command({
  name: 'sandbox',
  summary: 'Serve the whole API on this machine: no account, no cost',
  about: `Serves the whole API on this machine until Ctrl-C, for curl, another client or steno itself, and prints its address and key. It shares its data with --sandbox.

A word in an ordered URL makes something happen:
${scenarios.map(({ word, what }) => `  ${word.padEnd(width)}  ${what}`).join('\n')}
A URL that was ordered before is reported as a duplicate.`,
  options: {
    port: text('--port <port>', 'listen here; 0: any free port', { default: '4040' }),
    host: text('--host <address>', 'listen on this address', { default: '127.0.0.1' }),
    speed: text(
      '--speed <n>',
      'how fast files ordered here live: 1 takes 5 s, 2 half of it, 0 waits for advance',
      {
        default: '1',
      },
    ),
    ephemeral: flag('--ephemeral', 'keep nothing, and share nothing with --sandbox'),
    fault: list('--fault <fault…>', 'let calls go wrong: 503=0.1, reset=0.05, truncate=0.02, slow=2s'),
  },
  children: [reset, release, advance],
  examples: [
    ['steno sandbox', 'serve it on port 4040'],
    ['steno sandbox --port 0 --ephemeral --speed 10', 'for a test of your own'],
    ['steno sandbox --fault 503=0.1,slow=500ms', 'with faults'],
    ['steno --sandbox order https://example.com/hold.mp3 --sku TRANS14', 'try a hold without serving it'],
  ],
  async run(context, { options }) {
    const { ephemeral, host = '127.0.0.1' } = options;
    const speed = readNumber('--speed', options.speed, /^\d*\.?\d+$/, 1000);
    const port = readNumber('--port', options.port, /^\d+$/, 65_535);
    if (ephemeral && speed === 0) {
      throw usage('--speed 0 needs data that advance can reach', 'leave out --ephemeral');
    }
    const { parseFault, startSandbox } = await import('../sandbox/index.ts');
    const faults = options.fault.map(parseFault);
    const folder = ephemeral ? {} : { folder: context.stateFolder };
    const { baseUrl, apiKey, close } = await startSandbox({ ...folder, host, port, speed, faults });
    try {
      await showDoor(context, baseUrl, apiKey);
      if (!context.signal.aborted) await once(context.signal, 'abort');
    } finally {
      await close();
    }
    throw new StenoError('interrupted', 'the sandbox is closed');
  },
});

function readNumber(name: string, given: string | undefined, shape: RegExp, most: number): number {
  const number = shape.test(given ?? '') ? Number(given) : Number.NaN;
  if (number >= 0 && number <= most) return number;
  throw usage(`'${given}' for ${name} is not a number from 0 to ${most}`);
}

async function showDoor(context: Context, baseUrl: string, apiKey: string): Promise<void> {
  await context.out.show({
    json: toJson({ base_url: baseUrl, api_key: apiKey }),
    columns: [{ name: 'base URL', kind: 'link' }, { name: 'key' }],
    rows: [[baseUrl, apiKey]],
    quiet: [baseUrl],
    asRecord: true,
  });
  context.out.note(`try: curl "${baseUrl}/prepay_balance?api_key=${apiKey}"`);
}
