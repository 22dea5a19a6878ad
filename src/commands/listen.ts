import { eventTypes, meaningOfEvent } from '../catalog/events.ts';
import { EXEC_JOBS } from '../lib/defaults.ts';
import { StenoError } from '../lib/errors.ts';
import { formatJson } from '../lib/json.ts';
import type { Line } from '../lib/text.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import { type Connect, planListening, type SessionCallbacks } from '../listen/plan.ts';
import { listen as runSession } from '../listen/session.ts';
import { CALL_EXITS, command } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import {
  count,
  downloadOptions,
  duration,
  execOptions,
  flag,
  list,
  type OptionValues,
  text,
} from '../spec/options.ts';
import type { LiveLines } from '../ui/live.ts';
import { loadDrawing, showLines } from '../ui/output.ts';
import { askPerson } from '../ui/prompt.ts';
import { eventRecord, eventsView, lostJson, lostLine, subjectOf } from '../views/events.ts';
import { EventLines, type EventRule, planLine, reportText, statusLine, totalText } from '../views/lines.ts';

const names = eventTypes.map(({ name }) => name);

const options = {
  port: text('--port <port>', 'listen on this port; 0 picks a free one', { default: '4100' }),
  register: flag(
    '--register',
    "point the account's webhook to this listener, at a secret path, until it ends",
    { effect: 'account' },
  ),
  publicUrl: text(
    '--public-url <url>',
    'with --register, the public URL of this listener; not needed if the service runs on this machine',
    {
      needs: ['--register'],
      excludes: ['--tunnel'],
    },
  ),
  tunnel: text(
    '--tunnel <command>',
    'run this tunnel, with {url} or {port} filled in, and use the https URL it prints',
    { effect: 'exec' },
  ),
  forwardTo: list('--forward-to <url…>', 'forward each event to these URLs, unchanged', {
    effect: 'account',
  }),
  exec: text('--exec <command>', 'run this command for each event: JSON on stdin, STENO_EVENT_* variables', {
    effect: 'exec',
  }),
  download: text('--download <dir>', 'download each transcript to this folder when it is complete', {
    values: 'folder',
  }),
  host: text('--host <address>', 'listen on this address', { default: '127.0.0.1' }),
  path: text('--path <path>', 'receive events at this path', { default: '/' }),
  tlsCert: text('--tls-cert <file>', 'serve https with this certificate (PEM) and --tls-key', {
    values: 'file',
    needs: ['--tls-key'],
  }),
  tlsKey: text('--tls-key <file>', 'private key of the --tls-cert certificate (PEM)', {
    values: 'file',
    needs: ['--tls-cert'],
  }),
  ...execOptions(),
  jobs: count('--jobs <n>', 'number of --exec commands to run at once', {
    default: String(EXEC_JOBS),
    max: 64,
    needs: ['--exec'],
  }),
  ...downloadOptions(),
  only: list('--only <EVENT…>', 'show and act on these events only; all are saved', {
    values: names,
    meaning: meaningOfEvent,
  }),
  anyEvent: flag('--any-event', 'accept event names that the API document does not list'),
  until: text('--until <EVENT>', 'stop after this event, new or saved earlier and not shown yet', {
    values: names,
    meaning: meaningOfEvent,
  }),
  count: count('--count <n>', 'stop after this many events'),
  keep: duration('--keep <duration>', 'remove events older than this, as ledger prune does', {
    defaultNote: 'keep all',
  }),
  verbose: flag('--verbose', 'show every field of each event', { excludes: ['--quiet'] }),
};

type ListenOptions = OptionValues<typeof options>;

export const listen = command({
  name: 'listen',
  summary: 'Receive events, save them and act on them',
  about:
    'Receives events from the service until Ctrl-C. Saves each event before replying, then shows it and runs your ' +
    "actions: forward, command, download. When ready, prints 'listening on <url>' to stderr.",
  details: [
    'What happens to each event, even after a crash:',
    [
      [
        'saved',
        'before the reply, even while the ledger is locked or damaged; if saving fails, the reply is 503',
      ],
      [
        'shown',
        'once, in the order of the event numbers: here, or by the next listen with the same --only, which then counts ' +
          'it for --count and --until; a second time only after a crash',
      ],
      [
        'forward',
        'at least once: the bytes as received, retried for a day. Events that a later listen or events replay sends ' +
          'have links without their signature (S3, Google, Azure, CloudFront), which is never saved',
      ],
      [
        'exec',
        'at least once: a command interrupted by a crash runs again (STENO_EVENT_TRY counts the tries), and one that ' +
          'could not start is retried; a command that fails is not. When the command exits or times out, or listen ' +
          'stops, its process group is stopped; processes that leave the group (setsid, daemons) keep running',
      ],
      [
        'download',
        'once: an existing transcript is left alone; one that is not ready, or cannot be written, is retried later',
      ],
    ],
    'A failed event does not delay the others. Files in the ledger go first: one job beyond --jobs is reserved for ' +
      'them while commands for unknown files run. The next listen with the same target resumes ' +
      'unfinished work.',
    'Because events can get lost, steno regularly asks the service about open files in the ledger. If a file ' +
      'turns out to be delivered, steno acts as if the event had arrived: --forward-to gets a form made by steno, ' +
      'with the header Steno-Found: true, and later the delivery itself if it still arrives.',
  ],
  options,
  examples: [
    ['steno --sandbox listen --register --download .', 'try everything locally'],
    ['steno listen --forward-to http://127.0.0.1:3000/hook', 'forward events to your program'],
    ['steno listen --register --tunnel "cloudflared tunnel --url {url}"', 'behind a router'],
    ['steno listen --exec "jq -r .audiofile >> done.txt"', 'run a command for each event'],
    ['steno listen --until TRANSCRIPT_COMPLETE --timeout 2h', 'in a script: exits with 6 if none arrives'],
  ],
  effect: 'local',
  exits: CALL_EXITS,
  output: () => ({ ...eventRecord.printed, lines: true }),
  async run(context, { options }) {
    const { out, env, signal, globals } = context;
    out.stdout.ignoreStalls();
    out.stderr.ignoreStalls();
    await loadDrawing(out);
    const { hide } = context.mask;
    const plan = await planListening(options, {
      inSandbox: context.sandbox !== undefined,
      baseUrl: context.settings.get('base-url').value,
      timeoutMs: globals.timeout,
      env,
      requireKey: async () => (await context.requireKey()).value,
      hide,
      onNote: (text) => out.note(text),
      onWarning: (text, hint) => void out.warn(text, hint),
      onOutput: (lines) => out.stderr.passOn(lines),
    });
    const ledger = await context.ledgers.required('listen keeps events in the ledger', 'later');
    await context.ledgers.warnOfLittleRoom();
    const connect = await connector(context, plan.register || options.download !== undefined);
    const onExit = (cleanUp: () => Promise<void>): (() => void) => context.onExit(cleanUp);
    const waiting = await context.ledgers.waiting();
    const resources = {
      ...{ ledger, waiting, hide, connect, onExit, env, interrupt: signal },
    };
    const screen = new ListenScreen(context, options);
    try {
      await runSession(plan, resources, screen.callbacks);
    } catch (error) {
      throw screen.calmly(error);
    } finally {
      screen.close();
    }
  },
});

/** Polls, downloads and the webhook share them; none must wait for another. */
const MAX_CONNECTIONS = 64;

/** Connects to the account; where it is not needed, only if one is set up. The key is read once: its command may fail later. */
async function connector(context: Context, needed: boolean): Promise<Connect | undefined> {
  const { settings } = context;
  if (!needed && !settings.get('base-url').value) return undefined;
  const key = await (needed ? context.requireKey() : context.key().catch(() => undefined));
  if (!key) return undefined;
  const account = { settings, apiKey: key.value };
  return (signal) =>
    context.connect({ account, timeoutBounds: 'nothing', signal, connections: MAX_CONNECTIONS });
}

/** What a person, or a program, sees of a session. */
class ListenScreen {
  readonly #context: Context;
  readonly #options: ListenOptions;
  readonly #lines = new EventLines();
  /** stdout and stderr are one terminal: lines of events may change, and the last one says how things stand. */
  readonly #isOneScreen: boolean;
  #live: LiveLines | undefined;
  #shown = 0;
  #total = '';

  constructor(context: Context, options: ListenOptions) {
    const { out } = context;
    this.#context = context;
    this.#options = options;
    this.#isOneScreen = out.forPeople && out.isBrief && out.stderr.isTerminal;
  }

  get callbacks(): SessionCallbacks {
    const { out } = this.#context;
    const { quiet } = out.mode;
    const warn = (text: string, hint?: string): void => void out.warn(text, hint);
    return {
      onReady: (url, actions) => this.#onReady(url, actions),
      screen: {
        show: (events) => this.#show(events),
        isTaken: (signal) => out.stdout.isWritten(signal),
        isGone: () => out.stdout.isReaderGone,
      },
      onLost: (event) => void out.warn(lostLine(event), undefined, lostJson(event)),
      onReport: (report) => {
        if (quiet && report.saved) out.stdout.writeLines(report.saved);
        if (this.#isOneScreen)
          void showLines(out, this.#lines.report(report)).then(() => this.#live?.update());
        else if (report.what === 'failed' || report.what === 'down') warn(reportText(report));
        else out.note(reportText(report));
      },
      onTotal: (tally) => this.#onTotal(totalText(tally)),
      onNote: (text) => out.note(text),
      onNotice: (text) => out.stderr.notice(text),
      onWarning: warn,
      mayReplace: (previous, signal) => this.#mayReplace(previous, signal),
    };
  }

  /** An interruption is how it is meant to end: there, one line says what it has done. */
  calmly(error: unknown): unknown {
    const isPlanned = this.#total && error instanceof StenoError && error.kind === 'interrupted';
    return isPlanned ? new StenoError('interrupted', `stopped after ${this.#total}`) : error;
  }

  close(): void {
    this.#live?.stop();
  }

  #onReady(url: string, actions: readonly EventRule[]): void {
    const { out } = this.#context;
    out.stderr.writeLine(`listening on ${url}`);
    if (!this.#isOneScreen) return;
    this.#lines.rules = actions;
    void showLines(out, [planLine(actions, this.#options.download)]);
    // Without a screen that can move a line, each is printed when it is final.
    if (out.stderr.progressForm !== 'line') return;
    const { host } = new URL(url);
    const moving = (): Line[] => [...this.#lines.moving, statusLine(host, this.#shown, this.#lines.running)];
    void out.stdout.showLive(moving).then((live) => {
      this.#live = live;
    });
  }

  async #show(events: readonly ReceivedEvent[]): Promise<void> {
    const { out } = this.#context;
    const { verbose, download } = this.#options;
    this.#shown += events.length;
    if (out.mode.json)
      return out.stdout.write(events.map((event) => `${formatJson(event.json, 0)}\n`).join(''));
    if (out.mode.quiet)
      return download === undefined ? out.stdout.writeLines(events.map(subjectOf)) : undefined;
    if (!out.forPeople || !out.isBrief) return out.showNext(eventsView(events));
    await showLines(out, this.#lines.events(events, verbose));
    this.#live?.update();
  }

  async #onTotal(total: string): Promise<void> {
    const { out, signal } = this.#context;
    if (!out.forPeople) return;
    this.close();
    await showLines(out, this.#lines.end());
    if (signal.aborted) this.#total = total;
    else out.note(total);
  }

  async #mayReplace(previous: string, signal: AbortSignal): Promise<boolean> {
    const { out, stdin } = this.#context;
    if (!stdin.isTTY || !out.forPeople) {
      await out.warn(`the account's webhook ${previous} is replaced until this listener stops`);
      return true;
    }
    const question = `The account's webhook is ${previous}. Replace it until this listener stops?`;
    return askPerson({ stdin, out, signal }, (questions) => questions.confirm(question));
  }
}
