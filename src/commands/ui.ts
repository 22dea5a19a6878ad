import { once } from 'node:events';
import { checkId } from '../api/decode.ts';
import type { Transport } from '../api/http/transport.ts';
import { refreshOpenFiles } from '../flows/files/listed.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { Kept } from '../lib/kept.ts';
import { whenParentEnds } from '../lib/parent.ts';
import { shownPostgresUrl } from '../lib/postgres-url.ts';
import { sha256 } from '../lib/sha256.ts';
import { shellWord } from '../lib/text.ts';
import { getEvents } from '../listen/history.ts';
import { Children, failureOf } from '../mcp/children.ts';
import { askForAddress, findRunning, noteRunning, showInBrowser } from '../pages/door.ts';
import { PageServer } from '../pages/server.ts';
import type { PageSource } from '../pages/source.ts';
import { requireAllowed } from '../spec/allow.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { makeStateFolder } from '../spec/ledgers.ts';
import { flag, type OptionValues, text } from '../spec/options.ts';
import * as a from '../views/fields.ts';
import { RecordType } from '../views/record.ts';

const options = {
  port: text('--port <port>', 'serve on this port; 0 picks a free one', { default: '0' }),
  open: flag('--no-open', 'print the address instead of opening a browser'),
};

type UiOptions = OptionValues<typeof options>;

const address = new RecordType<{ readonly url: string }>([
  a.word('url', 'address that opens the page, once', 'url', { kind: 'id' }),
]);

const shared = { effect: 'read', exits: LEDGER_EXITS, output: () => address.printed } as const;

export const ui = command({
  ...shared,
  name: 'ui',
  summary: 'Show your files, events and spending in a browser',
  about:
    'Serves a page on this machine and opens it in your browser: files, transcripts, events, spending and the ' +
    'state of your set-up, updated as the ledger changes. It runs until Ctrl-C or until its terminal closes.',
  details: [
    'The page only reads: it never orders, upgrades, refunds or sets a webhook. Only two buttons do anything: a ' +
      'download saves a transcript, and a replay sends an event to a URL.',
    'Only this machine can reach it. The address opens the page once and leaves a cookie in that browser, so ' +
      'addresses in its history no longer work. For another browser, make a new address with steno open.',
    'When ready, prints "serving on <url>" to stderr: that address alone opens nothing.',
  ],
  options,
  examples: [
    ['steno ui', 'open the page'],
    ['steno --sandbox ui', 'the files of the sandbox, which progress on their own'],
    ['steno ui --no-open --port 8080', 'only print the address'],
  ],
  run: (context, { options }) => serve(context, options, '/files'),
});

const openOptions = {
  order: text('--order <id>', 'show the files of this order', { values: 'order', excludes: ['--event'] }),
  event: text('--event <n>', 'show this event', { values: 'event' }),
  ...options,
};

export const open = command({
  ...shared,
  name: 'open',
  summary: 'Show a file, an order or an event in a browser',
  about:
    'Shows a file, an order or an event on the page of steno ui. If steno ui is running for this profile, uses it; ' +
    'otherwise serves the page until Ctrl-C, as steno ui does.',
  args: [{ name: '[id]', help: 'audiofile id', values: 'audiofile' }],
  options: openOptions,
  examples: [
    ['steno open 12345', 'one file, with its transcript'],
    ['steno open --order 4nX', 'the files of an order'],
    ['steno open --event 12', 'an event, to look at or replay'],
  ],
  async run(context, { args: [id], options }) {
    const go = await pageOf(await ledgerOf(context), id, options);
    for (const running of findRunning(makeStateFolder(context.env), accountOf(context)))
      if (await present(context, options, () => askForAddress(running, go))) return;
    context.out.note('steno ui is not running, so steno open serves the page until Ctrl-C');
    await serve(context, options, go);
  },
});

const ledgerOf = (context: Context): Promise<Ledger> =>
  context.ledgers.required('the page shows the ledger', 'later');

/** Where the page shows it; throws for what the ledger does not have. */
async function pageOf(
  ledger: Ledger,
  id: string | undefined,
  { order, event }: OptionValues<typeof openOptions>,
): Promise<string> {
  if ([id, order, event].filter((each) => each !== undefined).length !== 1)
    throw usage('open takes one id, --order or --event', 'open one file: steno open 12345');
  if (event !== undefined) return `/event/${(await getEvents(ledger, [event]))[0]?.n}`;
  const files = new Files(ledger);
  if (order !== undefined) {
    if ((await files.hasOrder(order)) || (await files.count({ order })) > 0)
      return `/files?${new URLSearchParams({ order })}`;
    throw usage(`order ${order} is not in the ledger`, 'list your files: steno files');
  }
  const file = checkId(id ?? '');
  if (await files.get(file)) return `/file/${encodeURIComponent(file)}`;
  const hint = `add a file that was ordered elsewhere: steno track ${shellWord(file)}`;
  throw usage(`file ${file} is not in the ledger`, hint);
}

async function serve(context: Context, options: UiOptions, go: string): Promise<void> {
  const { out, signal } = context;
  // It may be gone before the page is served.
  const parent = process.ppid;
  const port = /^\d{1,5}$/.test(options.port) ? Number(options.port) : Number.NaN;
  if (!(port <= 65_535)) throw usage(`--port must be a number from 0 to 65535, not '${options.port}'`);
  const source = await sourceOf(context);
  const account = accountOf(context);
  findRunning(source.folder, account);
  const server = await PageServer.open(source, port);
  context.onExit(() => server.close());
  context.onExit(noteRunning(source.folder, { port: server.port, session: server.session, account }));
  out.stderr.writeLine(`serving on http://127.0.0.1:${server.port}/`);
  await present(context, options, async () => server.address(go), '; end with Ctrl-C');
  await Promise.race([whenParentEnds(parent, signal), signal.aborted ? undefined : once(signal, 'abort')]);
  throw new StenoError('interrupted', 'Stopped.');
}

/** A person sees the page; a program may go on with another address. False: there is none. */
async function present(
  { out, env }: Context,
  { open: opens }: UiOptions,
  newAddress: () => Promise<string | undefined>,
  end = '',
): Promise<boolean> {
  const url = await newAddress();
  if (!url) return false;
  const { json, csv, markdown, quiet } = out.mode;
  const isForProgram = json || csv || markdown;
  const isShown = opens && (await showInBrowser(url, makeStateFolder(env), env));
  if (opens && !isShown)
    await out.warn('no browser could be started', 'open this address yourself; it works once');
  if (isShown && !isForProgram && !quiet) out.note(`opened in your browser${end}`);
  else {
    const unused = (isShown && (await newAddress())) || url;
    // Bare and whole on a terminal of any width: it is copied.
    if (isForProgram) await out.show(address.page({ url: unused }));
    else out.stdout.write(`${unused}\n`);
  }
  return true;
}

/** Tells pages of one profile and ledger from those of others. */
function accountOf({ settings, ledgers: { sharedUrl: url }, sandbox }: Context): string {
  const ledger = url === undefined ? 'local' : shownPostgresUrl(url);
  const profile = sandbox ? 'sandbox' : settings.profileName;
  return sha256([profile, ledger, settings.account.value ?? ''].join('\n'));
}

const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;

async function sourceOf(context: Context): Promise<PageSource> {
  const { env, signal, settings, globals, sandbox, mask, ledgers } = context;
  const ledger = await ledgerOf(context);
  const isNamed = globals.profile !== undefined || env.STENO_PROFILE;
  const profile = isNamed ? ` --profile ${shellWord(settings.profileName)}` : '';
  const baseUrl = globals.baseUrl === undefined ? '' : ` --base-url ${shellWord(globals.baseUrl)}`;
  const children = new Children(context, MAX_OUTPUT_BYTES);
  context.onExit(() => children.close());
  const transport = new Kept<Transport>({ max: 1 });
  const connect = (): Promise<Transport> => transport.get('', () => context.connect());
  return {
    build: __dirname,
    folder: makeStateFolder(env),
    env,
    signal,
    settings,
    hide: mask.hide,
    ledger,
    isSandbox: sandbox !== undefined,
    command: `steno${globals.sandbox ? ' --sandbox' : profile}${baseUrl}`,
    connect,
    waiting: await ledgers.waiting(),
    requireAllowed: (effect, what) => requireAllowed(context, effect, what),
    // The sandbox is in this process: nobody else would notice that its files move.
    refresh: sandbox && (async () => refreshOpenFiles(await connect(), ledger, {})),
    run: async (words, until, args = []) => {
      const ran = await children.run({ words, args }, until);
      // `check` and `doctor` exit 1 for what they found.
      if (ran.code !== 0 && (ran.code === null || !ran.stdout)) throw failureOf(ran);
      return ran.stdout;
    },
  };
}
