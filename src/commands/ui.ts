import { once } from 'node:events';
import { join } from 'node:path';
import { checkId } from '../api/decode.ts';
import type { Transport } from '../api/http/transport.ts';
import { refreshOpenFiles } from '../flows/files/listed.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openBrowser } from '../lib/browser.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { accountName } from '../lib/names.ts';
import { whenParentEnds } from '../lib/parent.ts';
import { shownPostgresUrl } from '../lib/postgres-url.ts';
import { sha256 } from '../lib/sha256.ts';
import { shellWord } from '../lib/text.ts';
import { getEvents } from '../listen/history.ts';
import { Children, failureOf } from '../mcp/children.ts';
import { askForOpening, findRunning, noteRunning } from '../pages/running.ts';
import { PageServer } from '../pages/server.ts';
import type { PageSource } from '../pages/source.ts';
import { searchIndexPath } from '../settings/paths.ts';
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

export const ui = command({
  name: 'ui',
  summary: 'Show your files, events and spending in a browser',
  about:
    'Serves a page on this machine and opens it in your browser: files, transcripts, events, spending and the ' +
    'state of your set-up, updated as the ledger changes. It runs until Ctrl-C or until its terminal closes.',
  details: [
    'The page only reads: it never orders, upgrades, refunds or sets a webhook. Two things act, each on a click: a ' +
      'download saves a transcript, and a replay sends an event to a URL.',
    'Only this machine can reach it. The address opens the page once and leaves a cookie in that browser, so ' +
      'nothing in its history opens anything. For another browser, make a new address with steno open.',
    'When ready, prints "serving on <url>" to stderr: that address alone opens nothing.',
  ],
  options,
  examples: [
    ['steno ui', 'open the page'],
    ['steno --sandbox ui', 'the files of the sandbox, which move by themselves'],
    ['steno ui --no-open --port 8080', 'only print the address'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: () => address.printed,
  async run(context, { options }) {
    await serve(context, options, '/files');
  },
});

const openOptions = {
  order: text('--order <id>', 'show the files of this order', { values: 'order', excludes: ['--event'] }),
  event: text('--event <n>', 'show this event', { values: 'event' }),
  ...options,
};

export const open = command({
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
  effect: 'read',
  exits: LEDGER_EXITS,
  output: () => address.printed,
  async run(context, { args: [id], options }) {
    const ledger = await ledgerOf(context);
    const go = await pageOf(ledger, id, options);
    if (!(await showInRunning(context, go, options))) await serve(context, options, go);
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
  if (event !== undefined) {
    const [found] = await getEvents(ledger, [event]);
    return `/event/${found?.n}`;
  }
  const files = new Files(ledger);
  if (order !== undefined) {
    if ((await files.hasOrder(order)) || (await files.count({ order })) > 0)
      return `/files?${new URLSearchParams({ order })}`;
    throw usage(`order ${order} is not in the ledger`, 'list your files: steno files');
  }
  const file = checkId(id ?? '');
  if (await files.get(file)) return `/file/${encodeURIComponent(file)}`;
  throw usage(
    `file ${file} is not in the ledger`,
    `add a file that was ordered elsewhere: steno track ${shellWord(file)}`,
  );
}

/** Whether a `steno ui` of this account runs, and shows it now. */
async function showInRunning(context: Context, go: string, { open: opens }: UiOptions): Promise<boolean> {
  const folder = makeStateFolder(context.env);
  for (const running of findRunning(folder, accountOf(context))) {
    const opening = (way: Way) => askForOpening(folder, running, go, way);
    if (await present(context, opening, opens, 'opened in your browser')) return true;
  }
  return false;
}

async function serve(context: Context, { port, open: opens }: UiOptions, go: string): Promise<void> {
  const { out, signal } = context;
  // It may be gone before the page is served.
  const parent = process.ppid;
  const source = await sourceOf(context);
  const account = accountOf(context);
  findRunning(source.folder, account);
  const server = await PageServer.open(source, portOf(port));
  context.onExit(() => server.close());
  context.onExit(await noteRunning(source.folder, { port: server.port, session: server.session, account }));
  out.stderr.writeLine(`serving on http://127.0.0.1:${server.port}/`);
  const opening = async (way: Way) => (way === 'path' ? server.opening(go) : server.address(go));
  await present(context, opening, opens, 'opened in your browser; end with Ctrl-C');
  await Promise.race([whenParentEnds(parent, signal), signal.aborted ? undefined : once(signal, 'abort')]);
  throw new StenoError('interrupted', 'Stopped.');
}

/** By a file that a browser opens, or by an address. */
type Way = 'path' | 'url';

/** A person sees the page; a program may go on with an address. False: nothing of ours is there. */
async function present(
  context: Context,
  opening: (way: Way) => Promise<string | undefined>,
  opens: boolean,
  text: string,
): Promise<boolean> {
  const { out, env } = context;
  const path = opens ? await opening('path') : undefined;
  const isShown = path !== undefined && (await openBrowser(path, env));
  if (isShown && !out.mode.quiet && !isForPrograms(out.mode)) {
    out.note(text);
    return true;
  }
  const url = await opening('url');
  if (url === undefined) return false;
  if (isShown) await out.show(address.page({ url }));
  else await showAddress(context, url, opens);
  return true;
}

const isForPrograms = ({ json, csv, markdown }: Context['out']['mode']): boolean => json || csv || markdown;

async function showAddress({ out }: Context, url: string, wasTried: boolean): Promise<void> {
  if (wasTried) await out.warn('no browser could be started', 'open this address yourself; it works once');
  // Bare and whole on a terminal of any width: it is copied.
  if (isForPrograms(out.mode)) await out.show(address.page({ url }));
  else out.stdout.write(`${url}\n`);
}

function portOf(given: string): number {
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw usage(`--port must be a number from 0 to 65535, not '${given}'`);
}

/** Tells pages of one profile and ledger from those of others. */
function accountOf({ settings, ledgers, sandbox }: Context): string {
  const url = ledgers.sharedUrl;
  const ledger = url === undefined ? 'local' : shownPostgresUrl(url);
  return sha256(
    [sandbox ? 'sandbox' : settings.profileName, ledger, settings.account.value ?? ''].join('\n'),
  );
}

async function sourceOf(context: Context): Promise<PageSource> {
  const { env, signal, settings, globals, sandbox, mask, ledgers } = context;
  const ledger = await ledgerOf(context);
  const { isShared } = ledger.db;
  const { profileName } = settings;
  const isNamed = globals.profile !== undefined || (env.STENO_PROFILE ?? '') !== '';
  const profile = isNamed ? ` --profile ${shellWord(profileName)}` : '';
  let transport: Promise<Transport> | undefined;
  const connect = (): Promise<Transport> => {
    transport ??= context.connect().catch((error: unknown) => {
      transport = undefined;
      throw error;
    });
    return transport;
  };
  const children = new Children(context, MAX_OUTPUT_BYTES);
  context.onExit(() => children.close());
  return {
    ...{ assets: join(__dirname, 'ui'), folder: makeStateFolder(env) },
    ...{ env, signal, settings, hide: mask.hide },
    requireAllowed: (effect, what) => requireAllowed(context, effect, what),
    isSandbox: sandbox !== undefined,
    command: globals.sandbox ? 'steno --sandbox' : `steno${profile}`,
    ledger,
    spool: () => ledgers.spool(),
    searchPlace: async () => {
      const path = searchIndexPath(makeStateFolder(env));
      if (!isShared) return { path, ledgerPath: ledgers.localPath, profile: accountName(profileName) };
      // Which ledger it is, only the ledger itself can tell.
      if (ledger.db.identity === '') await ledger.reopen();
      return { path, ledgerPath: undefined, profile: `${ledger.profile} ${ledger.db.identity}` };
    },
    connect,
    // The sandbox is in this process: nobody else would notice that its files move.
    refresh: sandbox && oneAtATime(async () => void (await refreshOpenFiles(await connect(), ledger, {}))),
    run: async (words) => {
      const ran = await children.run({ words }, signal);
      // What doctor finds is worth showing, most of all where it fails.
      if (ran.code !== 0 && !ran.stdout) throw failureOf(ran);
      return ran.stdout;
    },
  };
}

const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;

/** What fails is tried again the next time. */
function oneAtATime(work: () => Promise<void>): () => void {
  let isBusy = false;
  return () => {
    if (isBusy) return;
    isBusy = true;
    const end = (): void => {
      isBusy = false;
    };
    void work().then(end, end);
  };
}
