import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { formatJson } from '../lib/json.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import {
  type Account,
  type Connect,
  type ListenFlags,
  planListening,
  type SessionCallbacks,
} from '../listen/plan.ts';
import { listen } from '../listen/session.ts';
import { askPerson } from '../ui/prompt.ts';
import { loadDrawing, noteLines, showLines } from '../ui/show-lines.ts';
import { eventsView, lostJson, lostLine, reportLine, subjectOf } from '../views/event.ts';
import { EventLines, totalLines } from '../views/event-lines.ts';

interface ListenOptions extends ListenFlags {
  readonly verbose: boolean;
}

export async function run(context: Context, { options }: Input<ListenOptions>): Promise<void> {
  const { out, env, signal, inSandbox, globals } = context;
  out.ignoreStalls();
  await loadDrawing(out);
  const { hide } = context.mask;
  const plan = await planListening(options, {
    inSandbox,
    baseUrl: context.settings.get('base-url').value,
    timeoutMs: globals.timeout,
    env,
    requireKey: async () => (await context.requireKey()).value,
    hide,
    onWarning: (text, hint) => void out.warn(text, hint),
    onOutput: (lines) => out.passOn(lines),
  });
  const ledger = await context.requireLedgerLater('listen keeps events in the ledger');
  await context.warnOfLittleRoom();
  const account = await accountOf(context, plan.register || options.download !== undefined);
  const connect = account && connector(context, account);
  const onExit = (cleanUp: () => Promise<void>): (() => void) => context.onExit(cleanUp);
  const spool = await context.spool();
  const resources = { ledger, spool, hide, connect, account, onExit, env, interrupt: signal };
  await listen(plan, resources, callbacks(context, options));
}

/** The account; where it is not needed, only if one is set up. The key is read once: its command may fail later. */
async function accountOf(context: Context, needed: boolean): Promise<Account | undefined> {
  const baseUrl = context.settings.get('base-url').value;
  if (!needed && !baseUrl) return undefined;
  const key = await (needed ? context.requireKey() : context.key().catch(() => undefined));
  return key && { baseUrl: baseUrl ?? '', apiKey: key.value };
}

/** Look-outs, downloads and the webhook share them; none must wait for another. */
const MAX_CONNECTIONS = 64;

const connector =
  (context: Context, { apiKey }: Account): Connect =>
  (signal) =>
    context.connectAs(
      { settings: context.settings, apiKey },
      { timeoutBounds: 'nothing', signal, connections: MAX_CONNECTIONS },
    );

function callbacks(context: Context, { verbose, download }: ListenOptions): SessionCallbacks {
  const { out } = context;
  const { forPeople } = out;
  const { json, quiet } = out.mode;
  const warn = (text: string, hint?: string): void => void out.warn(text, hint);
  const lines = new EventLines();
  // What was done about an event then stands under it.
  const isOneScreen = forPeople && out.asksOnTerminal;
  const show = (events: readonly ReceivedEvent[]): Promise<void> =>
    forPeople
      ? showLines(out, lines.events(events, { columns: out.columns, verbose }))
      : out.showNext(eventsView(events, verbose ? 'body' : 'full'));
  return {
    onReady: (url) => out.announce(`listening on ${url}`),
    screen: {
      show: async (events) => {
        if (json) return out.write(events.map((event) => `${formatJson(event.json, 0)}\n`).join(''));
        if (!quiet) return show(events);
        if (download === undefined) out.lines(events.map(subjectOf));
      },
      isTaken: (signal) => out.isWritten(signal),
      isGone: () => out.isReaderGone,
    },
    onLost: (event) => void out.warn(lostLine(event), undefined, lostJson(event)),
    onReport: (report) => {
      if (quiet && report.saved) out.lines(report.saved);
      if (isOneScreen) void noteLines(out, [lines.report(report)]);
      else if (report.what === 'failed' || report.what === 'down') warn(reportLine(report));
      else out.note(reportLine(report));
    },
    onTotal: async (tally) => {
      if (forPeople) await noteLines(out, totalLines(tally, out.columns));
    },
    onNote: (text) => out.note(text),
    onNotice: (text) => out.sayNow(text),
    onWarning: warn,
    async mayReplace(previous, signal) {
      if (!context.stdin.isTTY || !forPeople) {
        warn(`the account's webhook ${previous} is replaced until this ends`);
        return true;
      }
      const question = `The account's webhook is ${previous}. Replace it until this ends?`;
      return askPerson({ stdin: context.stdin, out, signal }, (questions) => questions.confirm(question));
    },
  };
}
