import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { formatJson } from '../lib/json.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import type { Account } from '../listen/loan-book.ts';
import { type ListenFlags, planListening } from '../listen/plan.ts';
import { listen } from '../listen/session.ts';
import type { Connect, SessionCallbacks } from '../listen/session-options.ts';
import { loadDrawing, noteLines, showLines } from '../ui/output.ts';
import { askPerson } from '../ui/prompt.ts';
import { EventLines, totalLines } from '../views/lines.ts';
import { eventsView, lostJson, lostLine, reportLine, subjectOf } from '../views/events.ts';

interface ListenOptions extends ListenFlags {
  readonly verbose: boolean;
}

export async function run(context: Context, { options }: Input<ListenOptions>): Promise<void> {
  const { out, env, signal, inSandbox, globals } = context;
  out.stdout.ignoreStalls();
  out.stderr.ignoreStalls();
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
    onOutput: (lines) => out.stderr.passOn(lines),
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
  const isOneScreen = forPeople && out.stderr.isTerminal;
  const show = (events: readonly ReceivedEvent[]): Promise<void> =>
    forPeople
      ? showLines(out, lines.events(events, { columns: out.stdout.columns, verbose }))
      : out.showNext(eventsView(events, verbose ? 'body' : 'full'));
  return {
    onReady: (url) => out.stderr.writeLine(`listening on ${url}`),
    screen: {
      show: async (events) => {
        if (json) return out.stdout.write(events.map((event) => `${formatJson(event.json, 0)}\n`).join(''));
        if (!quiet) return show(events);
        if (download === undefined) out.stdout.writeLines(events.map(subjectOf));
      },
      isTaken: (signal) => out.stdout.isWritten(signal),
      isGone: () => out.stdout.isReaderGone,
    },
    onLost: (event) => void out.warn(lostLine(event), undefined, lostJson(event)),
    onReport: (report) => {
      if (quiet && report.saved) out.stdout.writeLines(report.saved);
      if (isOneScreen) void noteLines(out, [lines.report(report)]);
      else if (report.what === 'failed' || report.what === 'down') warn(reportLine(report));
      else out.note(reportLine(report));
    },
    onTotal: async (tally) => {
      if (forPeople) await noteLines(out, totalLines(tally, out.stdout.columns));
    },
    onNote: (text) => out.note(text),
    onNotice: (text) => out.stderr.notice(text),
    onWarning: warn,
    async mayReplace(former, signal) {
      if (!context.stdin.isTTY || !forPeople) {
        warn(`the account's webhook ${former} is replaced until this ends`);
        return true;
      }
      const question = `The account's webhook is ${former}. Replace it until this ends?`;
      return askPerson({ stdin: context.stdin, out, signal }, (questions) => questions.confirm(question));
    },
  };
}
