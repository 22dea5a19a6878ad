/** A session that is open: receives, has what came moved, shown and acted on, and closes its parts in order. */

import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Runs } from '../ledger/runs.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { limitYoungSpace } from '../lib/memory.ts';
import { sleep } from '../lib/sleep.ts';
import { plural } from '../lib/text.ts';
import type { Action } from './actions/action.ts';
import { ActionQueues } from './actions/queues.ts';
import type { ReceivedEvent } from './event.ts';
import { EventFeed } from './feed.ts';
import { historyLimit } from './history-limit.ts';
import { Inbox } from './inbox.ts';
import { LoanBook } from './loan-book.ts';
import { Lookout } from './lookout.ts';
import { openReceiver, type Receiver } from './server.ts';
import type { SessionEnd } from './session-end.ts';
import type { ListenPlan, SessionCallbacks, SessionResources } from './session-options.ts';
import type { SessionRun } from './session-run.ts';
import { ShownEvents } from './shown-events.ts';
import type { Tally } from './tally.ts';
import { aborted, type OnError, repeat, runInBackground, startTimer } from './timers.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import { LedgerWatch, LoopWarnings, type RepeatedWarnings } from './warnings.ts';
import { secretSegment, secretUrl, WebhookLoan } from './webhook-loan.ts';

/** How often a session says that it is alive, takes over actions, and looks for events that never came. */
const TICK_MS = 5_000;
/** How long actions under way may go on after an interruption. */
const ACTION_GRACE_MS = 10_000;
/** How long a reader that may have stalled has for the events that are not shown yet, after an interruption. */
const SHOW_GRACE_MS = 1_000;
/** How long the line that says that it is ready may wait for a ledger that is reached over a network. */
const MAX_CONNECT_MS = 1_000;
/** How long the end of a session may wait for a ledger that is locked or does not answer. */
const LEDGER_GRACE_MS = 5_000;
/**
 * Speed: events that come within this time are shown together, which saves a seventh of the processor time of an event
 * in a flood. To take it out, show each event at once.
 */
const SHOW_AFTER_MS = 20;

/** What every part of a session shares. */
export interface Shared {
  readonly plan: ListenPlan;
  readonly resources: SessionResources;
  readonly callbacks: SessionCallbacks;
  readonly end: SessionEnd;
  readonly tally: Tally;
  readonly warnings: RepeatedWarnings;
  readonly onError: OnError;
}

export interface Parts {
  /** Absent where no account is set up. Its calls end with the session. */
  readonly service: Transport | undefined;
  readonly ledger: Ledger;
  readonly run: SessionRun;
  readonly actions: readonly Action[];
  /** Ends the actions that are under way. */
  readonly abort: AbortController;
}

export class ListeningSession {
  readonly #shared: Shared;
  readonly #parts: Parts;
  readonly #inbox: Inbox;
  readonly #queues: ActionQueues;
  readonly #lookout: Lookout;
  readonly #feed: EventFeed;
  readonly #shown: ShownEvents;
  readonly #loan: WebhookLoan | undefined;
  readonly #watch: LedgerWatch;
  /** The webhook is to be set as soon as the ledger can take that down. */
  #mustRegister: boolean;
  readonly #secret: string | undefined;
  /** Where the service reaches the receiver. */
  #publicUrl = '';
  readonly #toShow: ReceivedEvent[] = [];
  #receiver: Receiver | undefined;
  #tunnel: Tunnel | undefined;
  #loops: Promise<unknown> | undefined;

  constructor(shared: Shared, parts: Parts) {
    const { plan, resources, callbacks, end, warnings, onError } = shared;
    const { service, ledger, actions } = parts;
    const { connect, account, onExit } = resources;
    this.#shared = shared;
    this.#parts = parts;
    this.#mustRegister = plan.register;
    const onWarning = (text: string, hint?: string): void => warnings.warn(text, hint);
    this.#watch = new LedgerWatch({ ledger, onWarning, onNote: callbacks.onNote });
    this.#secret = plan.register || plan.tunnel !== undefined ? secretSegment() : undefined;
    this.#inbox = new Inbox({
      ...{ ledger, onError, onWarning, watch: this.#watch },
      spool: resources.spool,
      hide: resources.hide,
      rules: {
        get run() {
          return parts.run.id;
        },
        actions,
        only: plan.only,
      },
      isBegun: parts.run.isBegun,
      begin: () => this.#begin(),
      onEvent: (event) => this.#add(event),
      onLost: (error, event) => {
        warnings.warn(`an event could not be kept and was answered with 503: ${errorMessage(error)}`);
        callbacks.onLost(event);
      },
      onNote: callbacks.onNote,
    });
    const { commits, rawBodies } = this.#inbox;
    const { signal } = end;
    this.#queues = new ActionQueues(actions, {
      ...parts,
      get run() {
        return parts.run.id;
      },
      ...callbacks,
      commits,
      rawBodies,
      end,
      pace: this.#tickMs / TICK_MS,
      onError,
      onLedgerTrouble: (text, error) => {
        if (!this.#watch.noteFailure(error)) warnings.warn(text);
      },
    });
    const quieter = { ...callbacks, onWarning };
    this.#shown = new ShownEvents({ ledger, commits, run: parts.run, only: plan.only, onError });
    this.#feed = new EventFeed({
      ...{ ledger, screen: callbacks.screen, warn: onWarning, onError },
      onShown: (events) => this.#shown.note(events),
      onReaderGone: () => this.#onReaderGone(),
    });
    this.#loan =
      service &&
      connect &&
      account &&
      new WebhookLoan({
        ...{ service, connect, onExit, signal, commits, ledger, run: parts.run },
        book: new LoanBook(ledger, account, resources.hide),
        callbacks: quieter,
      });
    this.#lookout = new Lookout({
      service,
      ledger,
      inbox: this.#inbox,
      run: parts.run,
      tickMs: this.#tickMs,
      signal,
      onFound: (event) => this.#add(event),
    });
  }

  async run(): Promise<void> {
    const { end } = this.#shared;
    try {
      await this.#open();
      this.#startLoops();
      await aborted(end.signal);
    } catch (error) {
      end.fail(error);
    }
    await this.#close();
  }

  /** Tests set STENO_TEST_TICK_MS, so that many ticks, and pauses, do not take minutes. */
  get #tickMs(): number {
    return Number(this.#shared.resources.env.STENO_TEST_TICK_MS) || TICK_MS;
  }

  async #open(): Promise<void> {
    const { plan, callbacks, end, onError } = this.#shared;
    const secret = this.#secret;
    const receiver = await openReceiver({
      ...plan.server,
      accepts: (path) => (secret ? path.endsWith(`/${secret}`) : path === plan.path),
      keep: (delivery, done) => this.#inbox.keep(delivery, done),
      onError,
    });
    this.#receiver = receiver;
    await this.#tendFirst();
    const base = await this.#publicBase(receiver);
    this.#publicUrl = secretUrl(base, plan.path, secret ?? '');
    await this.#register();
    if (end.signal.aborted) return;
    callbacks.onReady(secret ? secretUrl(receiver.origin, plan.path, secret) : receiver.origin + plan.path);
  }

  /** A ledger that is reached over a network is not waited for, unless it answers soon. */
  async #tendFirst(): Promise<void> {
    const { plan, end } = this.#shared;
    const tended = this.#loan?.tend();
    if (!tended || plan.register || this.#parts.ledger.isInPlace) return tended;
    // The loop says what is wrong.
    await Promise.race([tended, sleep(MAX_CONNECT_MS, end.signal)]).catch(() => {});
  }

  /** Where the ledger can't be reached now, the webhook is set later: what is borrowed is written down first. */
  async #register(): Promise<void> {
    const { end, onError } = this.#shared;
    if (!this.#mustRegister) return;
    try {
      await this.#loan?.take(this.#publicUrl);
    } catch (error) {
      if (!this.#watch.noteFailure(error)) throw error;
      return;
    }
    this.#mustRegister = false;
    if (!end.signal.aborted) runInBackground(async () => this.#loan?.test(this.#inbox), onError);
  }

  /** Where the service reaches the receiver. */
  async #publicBase({ origin, port }: Receiver): Promise<string> {
    const { plan, resources, callbacks, end, onError } = this.#shared;
    const { tunnel: command, publicUrl } = plan;
    if (command === undefined)
      return publicUrl ?? origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
    const { env } = resources;
    const tunnel = await openTunnel({ command, origin, port, env, signal: end.signal });
    this.#tunnel = tunnel;
    runInBackground(async () => {
      const how = await tunnel.ended;
      end.fail(new StenoError('failed', `the tunnel ended (${how}): no event can come in`));
    }, onError);
    if (!plan.register)
      callbacks.onNotice(
        `the tunnel leads here from ${secretUrl(tunnel.url, plan.path, this.#secret ?? '')}`,
      );
    return tunnel.url;
  }

  /** Apart from each other: a service that does not answer must not keep this session from saying that it is alive. */
  #startLoops(): void {
    const { plan, end, warnings, onError } = this.#shared;
    const { ledger } = this.#parts;
    const loopWarnings = new LoopWarnings(warnings, this.#watch, ledger);
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
        loopWarnings.noteSuccess();
      } catch (error) {
        // An account that belongs to another service, which is known only now.
        if (ledger.isDown(error) && error instanceof StenoError && error.kind === 'usage') end.fail(error);
        if (!end.signal.aborted) loopWarnings.warn(what, error);
      }
    };
    const loop = (what: string, work: () => Promise<void>): Promise<void> =>
      repeat(this.#tickMs, end.signal, () => attempt(what, work));
    let adopting: Promise<void> | undefined;
    // First what is to be shown: it may be more than this session shows, and then what follows it is not begun either.
    const adopt = async (): Promise<void> => {
      const { run } = this.#parts;
      await attempt("can't take over from listeners that ended", async () => {
        const gone = run.canJudgeOthers ? await new Runs(ledger).gone(run.id) : [];
        await this.#showLeft([...gone, ...(await new Runs(ledger).endedHere())]);
        await this.#queues.adopt(gone);
      });
      adopting = undefined;
    };
    this.#loops = Promise.all([
      loop("can't note in the ledger that this listener is running", async () => {
        await this.#inbox.touch();
        await this.#parts.run.renew(this.#inbox.commits);
        // Not waited for: where much was left, it takes longer than other listeners wait for a sign of this one.
        adopting ??= adopt().catch(onError);
      }),
      loop("can't see to the webhook of listeners that ended", async () => {
        await this.#register();
        await this.#loan?.tend();
      }),
      loop("can't move events of earlier listeners into the ledger", async () => {
        if (!(await this.#inbox.moveLeft(end.signal))) return;
        adopting ??= adopt();
        await adopting;
      }),
      loop("can't look for events that were missed", () => this.#lookout.tick()),
      loop("can't remove old events", historyLimit(plan.keepMs, ledger, end.signal)),
    ]).then(() => adopting, onError);
  }

  async #begin(): Promise<void> {
    const { run, ledger } = this.#parts;
    const isAnother = run.isBegun;
    await run.begin(ledger);
    if (isAnother)
      this.#shared.callbacks.onNote('the ledger was replaced: the one that is there now is used');
  }

  /** Counts an event that is in the ledger; has it shown and acted on. */
  #add(event: ReceivedEvent): void {
    if (event.source === 'test') return;
    const { plan, end, onError } = this.#shared;
    const isWanted = plan.only.length === 0 || plan.only.includes(event.event);
    const isInTime = end.add(event, isWanted);
    if (isInTime) this.#shared.tally.add(event.event, isWanted);
    if (!isInTime || !isWanted) return;
    if (this.#toShow.push(event) === 1) startTimer(SHOW_AFTER_MS, () => this.#show(), onError);
  }

  /** Shows and counts what listeners with the same filter have answered and not shown. */
  async #showLeft(gone: readonly number[]): Promise<void> {
    const { end } = this.#shared;
    for await (const events of this.#shown.takeOver(gone)) {
      for (const event of events) this.#add(event);
      if (end.signal.aborted) return;
    }
  }

  /** Where nothing else is done with the events, there is nothing to go on for. */
  #onReaderGone(): void {
    const { callbacks, end } = this.#shared;
    const isOnly = this.#parts.actions.length === 0;
    const what = isOnly ? 'stopping' : 'still acting on events';
    callbacks.onWarning(`stdout was closed: ${what}. The next listen shows the remaining events`);
    if (isOnly) end.stop();
  }

  #show(): void {
    this.#feed.add(this.#toShow.splice(0));
    limitYoungSpace();
    this.#queues.wake();
  }

  /** In this order: no more events are sent here, those on the way are kept, their actions are done. */
  async #close(): Promise<void> {
    const { commits } = this.#inbox;
    commits.limitWait(LEDGER_GRACE_MS);
    this.#parts.ledger.endWithin(LEDGER_GRACE_MS);
    await this.#attempt(() => this.#loan?.giveBack());
    await this.#attempt(() => this.#receiver?.close());
    await this.#attempt(() => this.#inbox.close());
    await this.#attempt(() => this.#tunnel?.close());
    await this.#attempt(() => this.#loops);
    await this.#attempt(() => this.#show());
    await this.#attempt(() => this.#finishActions());
    await this.#attempt(() => this.#finishShowing());
    await this.#attempt(() => this.#reportLeft());
    await this.#attempt(() => commits.add((tables) => new Runs(tables).end(this.#parts.run.id)));
    await this.#attempt(() => commits.settled());
  }

  /** One part that can't be closed must not keep the others from it. */
  async #attempt(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#shared.warnings.warn(`while ending: ${errorMessage(error)}`);
    }
  }

  async #finishActions(): Promise<void> {
    const { end, resources } = this.#shared;
    if (end.reachedGoal) await Promise.race([this.#queues.finish(), aborted(resources.interrupt)]);
    await this.#queues.stop(ACTION_GRACE_MS);
  }

  /** A failure must be told, and a service manager start the next listener, also where nothing reads stdout. */
  async #finishShowing(): Promise<void> {
    const { end, resources } = this.#shared;
    const hurry = end.asPlanned ? resources.interrupt : AbortSignal.abort();
    await this.#feed.finish(hurry, SHOW_GRACE_MS);
  }

  async #reportLeft(): Promise<void> {
    const { onNotice } = this.#shared.callbacks;
    const unshown = await this.#shown.finish();
    if (unshown) onNotice(`${plural(unshown, 'event')} left for the next listen to show`);
    for (const { action, left } of await this.#queues.left())
      onNotice(`${left} left to do for the next listen: ${action.kind} ${action.target}`);
  }
}
