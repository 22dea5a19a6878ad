import { once } from 'node:events';
import { StenoError, usage } from '../lib/errors.ts';
import { isLoopback } from '../lib/url.ts';
import {
  advanceBy,
  advance as advanceFiles,
  type MovedFile,
  parseFault,
  releaseHold,
  resetSandbox,
  type Sandbox,
  startSandbox,
} from '../sandbox/index.ts';
import { scenarios } from '../sandbox/scenarios.ts';
import { command } from '../spec/command.ts';
import { makeStateFolder } from '../spec/ledgers.ts';
import { duration, flag, list, text } from '../spec/options.ts';
import * as a from '../views/fields.ts';
import { printed, RecordType } from '../views/record.ts';
import * as schema from '../views/schema.ts';

const movedFile = new RecordType<MovedFile>([
  a.word('audiofile', 'audiofile id', 'id', { kind: 'id' }),
  a.word('state', 'new state', 'state', { kind: 'state' }),
]);

const address = new RecordType<Pick<Sandbox, 'baseUrl' | 'apiKey'>>([
  a.word('base_url', 'base URL of the sandbox', 'baseUrl', { kind: 'link' }),
  a.word('api_key', 'made-up key of the sandbox; not a secret', 'apiKey'),
]);

const reset = command({
  name: 'reset',
  summary: 'Delete all orders and start over',
  about: 'Deletes all orders of the sandbox and of its ledger, and restores the full balance.',
  examples: [['steno sandbox reset', 'start with an empty sandbox and a full balance']],
  effect: 'local',
  exits: [],
  output: () => printed(schema.object({ profile: schema.text })),
  async run(context) {
    await resetSandbox(makeStateFolder(context.env));
    await context.ledgers.forgetSandbox();
    context.out.done('the sandbox and its ledger are empty now', { profile: 'sandbox' });
  },
});

const release = command({
  name: 'release',
  summary: 'Release an order that is on hold',
  about: 'Releases an order that is on hold, so that its files are transcribed and delivered.',
  args: [{ name: '<order>', help: 'id of an order on hold', values: 'sandbox-held-order' }],
  examples: [['steno sandbox release 4nX', 'the order continues, and its files are delivered']],
  effect: 'local',
  exits: [],
  output: () => movedFile.printedList,
  async run({ env, out }, { args: [order = ''] }) {
    await out.show(movedFile.view(await releaseHold(makeStateFolder(env), order)));
  },
});

const advance = command({
  name: 'advance',
  summary: 'Move files to their next state, or move the clock',
  about:
    'Moves files to their next state immediately: the files you name, or all that are in progress. A held file ' +
    "stays on hold. With --by, moves the sandbox's clock instead: everything due by then happens, and due dates, " +
    'invoices, reports and budgets follow.',
  options: {
    by: duration('--by <duration>', 'move the clock forward, for example by 7d or 12h; it cannot move back'),
  },
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'sandbox-audiofile' }],
  examples: [
    ['steno sandbox advance', 'every open file, one state further'],
    ['steno sandbox advance 1001', 'only this file'],
    ['steno sandbox advance --by 7d', 'move the clock ahead by a week'],
  ],
  effect: 'local',
  exits: [],
  output: () => movedFile.printedList,
  async run({ env, out }, { args, options: { by } }) {
    if (by !== undefined && args.length > 0)
      throw usage("--by moves the clock of all files, so it can't be used with ids", 'leave out one of them');
    const folder = makeStateFolder(env);
    const moved = by === undefined ? await advanceFiles(folder, args) : await advanceBy(folder, by);
    await out.show(movedFile.view(moved));
  },
});

export const sandbox = command({
  name: 'sandbox',
  summary: 'Run a local test service: no account, no cost',
  about:
    'Serves the whole API on this machine until Ctrl-C, for curl, other clients or steno itself, and prints its ' +
    'address and key. It shares its data with --sandbox.',
  details: [
    'Words in an ordered URL trigger these scenarios:',
    scenarios.map(({ word, what }) => [word, what.replaceAll('`', '')] as const),
    'A URL that was ordered before is reported as a duplicate.',
    'minutes=35 in the query of a URL sets the length of its audio. Episodes have the length given in their feed; ' +
      'any other audio lasts 8 to 27 minutes.',
    'The prepay balance pays for orders and upgrades immediately, and for a held order when it is released. A ' +
      'refund is a credit on the same invoice.',
  ],
  options: {
    port: text('--port <port>', 'listen on this port; 0 picks a free one', { default: '4141' }),
    host: text('--host <address>', 'listen on this address', { default: '127.0.0.1' }),
    speed: text(
      '--speed <n>',
      'how fast files progress: 1 takes 5 s, 2 half of that, 0 waits for sandbox advance',
      {
        default: '1',
      },
    ),
    ephemeral: flag('--ephemeral', 'save nothing, and share nothing with --sandbox'),
    fault: list(
      '--fault <fault…>',
      'inject faults, by rate or delay: 503=0.1, reset=0.05, truncate=0.02, slow=2s',
    ),
  },
  children: [reset, release, advance],
  examples: [
    ['steno sandbox', 'serve on port 4141'],
    ['steno sandbox --port 0 --ephemeral --speed 10', 'for your own tests'],
    ['steno sandbox --fault 503=0.1,slow=500ms', 'with faults'],
    ['steno --sandbox order https://example.com/hold.mp3 --sku TRANS14', 'try a hold, without a server'],
  ],
  effect: 'local',
  exits: [],
  output: () => address.printed,
  async run(context, { options }) {
    const { ephemeral, host } = options;
    const speed = readNumber('--speed', options.speed, /^\d*\.?\d+$/, 1000);
    const port = readNumber('--port', options.port, /^\d+$/, 65_535);
    if (ephemeral && speed === 0) {
      throw usage(
        "--speed 0 can't be used with --ephemeral",
        'steno sandbox advance works only on saved data',
      );
    }
    const faults = options.fault.map(parseFault);
    if (!isLoopback(host.includes(':') ? `[${host}]` : host))
      await context.out.warn(
        `anyone who can reach ${host} can use this sandbox: its key is no secret`,
        'use --host 127.0.0.1 to keep others out',
      );
    const folder = ephemeral ? {} : { folder: makeStateFolder(context.env) };
    const { baseUrl, apiKey, close } = await startSandbox({ ...folder, host, port, speed, faults });
    try {
      await context.out.show({ ...address.page({ baseUrl, apiKey }), asRecord: true });
      context.out.note(`try: curl "${baseUrl}/prepay_balance?api_key=${apiKey}"`);
      if (!context.signal.aborted) await once(context.signal, 'abort');
    } finally {
      await close();
    }
    throw new StenoError('interrupted', 'the sandbox has stopped');
  },
});

function readNumber(name: string, given: string, shape: RegExp, max: number): number {
  const number = shape.test(given) ? Number(given) : Number.NaN;
  if (number >= 0 && number <= max) return number;
  throw usage(`${name} must be a number from 0 to ${max}, not '${given}'`);
}
