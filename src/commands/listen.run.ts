import type { Transport } from '../api/http/transport.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { formatJson } from '../lib/json.ts';
import { type Asked, planActions, planListening } from '../listen/plan.ts';
import { listen, type SessionCallbacks } from '../listen/session.ts';
import { askPerson } from '../ui/prompt.ts';
import { eventLines, eventsView, reportLine, subjectOf } from '../views/event.ts';

interface ListenOptions extends Asked {
  readonly verbose: boolean;
}

/** How long the last calls, which an interruption must not cut, may take. */
const FAREWELL_MS = 10_000;

export async function run(context: Context, { options }: Input<ListenOptions>): Promise<void> {
  const { out, env, signal, inSandbox, globals } = context;
  const warn = (text: string, hint?: string): void => void out.warn(text, hint);
  const plan = await planListening(options, { inSandbox, timeout: globals.timeout, warn });
  const ledger = await context.requireLedger('listen keeps events in the ledger');
  const transport = await accountOf(context, plan.register || options.download !== undefined);
  const actions = await planActions(options, env, (chunk) => out.passOn(String(chunk)));
  const around = {
    ...{ ledger, transport, env, signal },
    farewell: () => farewell(context),
    onExit: (cleanUp: () => Promise<void>) => context.onExit(cleanUp),
  };
  await listen(
    { ...plan, actions: (quick) => actions(quick, transport) },
    around,
    audience(context, options),
  );
}

/** The way to the service; where it is not needed, only if an account is set up. */
async function accountOf(context: Context, needed: boolean): Promise<Transport | undefined> {
  if (needed) return context.connect({ timeoutBounds: 'nothing' });
  const key = context.settings.get('base-url').value && (await context.key().catch(() => undefined));
  return key ? context.connect({ timeoutBounds: 'nothing' }) : undefined;
}

/** For the last calls, which an interruption must not cut and a dead service not hold up. */
const farewell = (context: Context): Promise<Transport> =>
  context.connect({ timeoutBounds: 'nothing', signal: AbortSignal.timeout(FAREWELL_MS) });

function audience(context: Context, { verbose, download }: ListenOptions): SessionCallbacks {
  const { out } = context;
  const { forPeople } = out;
  const { json, quiet } = out.mode;
  const warn = (text: string, hint?: string): void => void out.warn(text, hint);
  return {
    ready: (url) => out.announce(`listening on ${url}`),
    events: (events) => {
      if (json) out.write(events.map((event) => `${formatJson(event.json, 0)}\n`).join(''));
      else if (quiet)
        download === undefined && out.write(events.map((event) => `${subjectOf(event)}\n`).join(''));
      else
        void out.showNext(
          forPeople ? eventLines(events, verbose) : eventsView(events, verbose ? 'body' : 'full'),
        );
    },
    report: (report) => {
      if (quiet && report.saved) out.write(report.saved.map((path) => `${path}\n`).join(''));
      if (report.what === 'failed' || report.what === 'down') warn(reportLine(report));
      else out.note(reportLine(report));
    },
    note: (text) => out.note(text),
    warn,
    async mayReplace(former) {
      if (!context.stdin.isTTY || !forPeople) {
        warn(`the account's webhook ${former} is replaced until this ends`);
        return true;
      }
      const question = `The account's webhook is ${former}. Replace it until this ends?`;
      return askPerson(context, (questions) => questions.confirm(question));
    },
  };
}
