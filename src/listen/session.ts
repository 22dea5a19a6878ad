/** One run of `steno listen`: receives, has what came shown and acted on, and closes its parts in order. */

import { setMaxListeners } from 'node:events';
import type { Transport } from '../api/http/transport.ts';
import { Events } from '../ledger/events.ts';
import { Runs } from '../ledger/runs.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { ActionQueues } from './action-queue.ts';
import { aborted, LedgerWatch, limitRepeats, repeat, runInBackground, startTimer } from './background.ts';
import { Commits } from './commits.ts';
import { Display } from './display.ts';
import { historyLimit } from './history.ts';
import { Inbox } from './inbox.ts';
import { MissedEvents } from './missed-events.ts';
import type { ListenPlan, SessionCallbacks, SessionResources } from './plan.ts';
import { openReceiver, type Receiver } from './server.ts';
import { SessionEnd, Tally } from './session-end.ts';
import { type SessionContext, SessionRun } from './session-run.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import { secretSegment, secretUrl, WebhookRegistration } from './webhook.ts';

const REPLACED_HINT = 'start steno listen again: it resumes unfinished work';
/** How often a session says that it is alive, takes over actions, and polls for events that never came. */
const TICK_MS = 5_000;
/** How long actions under way may go on after an interruption. */
const ACTION_GRACE_MS = 10_000;
/** How long a reader that may have stalled has for the events that are not shown yet, after an interruption. */
const SHOW_GRACE_MS = 1_000;
/** How long the end of a session may wait for a ledger that is locked or does not answer. */
const LEDGER_GRACE_MS = 5_000;
/**
 * Speed: events that come within this time are shown together, which saves a seventh of the processor time of an event
 * in a flood. To take it out, show each event at once.
 */
const SHOW_AFTER_MS = 20;

export async function listen(
  plan: ListenPlan,
  resources: SessionResources,
  given: SessionCallbacks,
): Promise<void> {
  const tally = new Tally();
  const callbacks: SessionCallbacks = {
    ...given,
    onWarning: limitRepeats(given.onWarning),
    onReport: (report) => {
      tally.addReport(report);
      given.onReport(report);
    },
  };
  const onError = (error: unknown): void => {
    if (end.signal.aborted) callbacks.onWarning(errorMessage(error));
    else end.fail(error);
  };
  const end = new SessionEnd(plan.endConditions, resources.interrupt, onError);
  try {
    await openAndRun({ plan, resources, callbacks, end, tally, onError });
  } catch (error) {
    end.fail(error);
  }
  if (tally.isReady) await callbacks.onTotal(tally);
  end.throwFailure();
}

type Given = Pick<SessionContext, 'plan' | 'resources' | 'callbacks' | 'end' | 'tally' | 'onError'>;

async function openAndRun(given: Given): Promise<void> {
  const { plan, resources, callbacks, end } = given;
  const { connect, env } = resources;
  // A lock fails at once on this connection: the receiver must not block.
  const ledger = await resources.ledger.openSecondConnection();
  let service: Transport | undefined;
  try {
    service = await connect?.(end.signal);
    const abort = new AbortController();
    // Every action under way listens to it.
    setMaxListeners(0, abort.signal);
    const actions = await plan.openActions({ ledger, connect: connect && (() => connect(abort.signal)) });
    const run = new SessionRun(plan.only);
    // One that is reached over a network is not waited for.
    if (ledger.db.isInPlace) await run.begin(resources.ledger);
    const watch = new LedgerWatch({ ledger, ...callbacks });
    const commits = new Commits(ledger, {
      prepare: async () => {
        if (ledger.db.isShared && !ledger.db.isInPlace) await ledger.db.reopen();
        if (!run.isBegun) await run.begin(ledger);
      },
      onCommitted: () => watch.noteSuccess(),
      onReplaced: (error) => end.fail(new StenoError('failed', errorMessage(error), { hint: REPLACED_HINT })),
    });
    // Tests set STENO_TEST_TICK_MS, so that many ticks, and pauses, do not take minutes.
    const tickMs = Number(env.STENO_TEST_TICK_MS) || TICK_MS;
    const pace = tickMs / TICK_MS;
    const parts = { service, ledger, run, commits, watch, actions, abort, tickMs, pace };
    await new Session({ ...given, ...parts }).run();
  } finally {
    await service?.close();
    await ledger.close();
  }
}

const unfinishedWork = { forward: 'forward', exec: 'command', download: 'download' } as const;

class Session {
  readonly #context: SessionContext;
  readonly #inbox: Inbox;
  readonly #queues: ActionQueues;
  readonly #missedEvents: MissedEvents;
  readonly #display: Display;
  readonly #webhook: WebhookRegistration | undefined;
  readonly #secret: string | undefined;
  #isWoken = false;
  #receiver: Receiver | undefined;
  #tunnel: Tunnel | undefined;
  #loops: Promise<unknown> | undefined;
  #adopting: Promise<void> | undefined;

  constructor(context: SessionContext) {
    const { plan, service } = context;
    const { connect } = context.resources;
    const onKept = (): void => this.#wake();
    this.#context = context;
    this.#secret = plan.register || plan.tunnel !== undefined ? secretSegment() : undefined;
    this.#inbox = new Inbox(context, onKept);
    this.#queues = new ActionQueues(context, this.#inbox.rawBodies);
    this.#display = new Display(context, {
      onCounted: () => context.end.hasGoal && this.#queues.wake(),
      onReaderGone: () => this.#onReaderGone(),
    });
    this.#missedEvents = new MissedEvents(context, this.#inbox, onKept);
    if (plan.register && service && connect)
      this.#webhook = new WebhookRegistration(context, service, connect);
  }

  async run(): Promise<void> {
    const { end } = this.#context;
    try {
      await this.#open();
      this.#startLoops();
      await aborted(end.signal);
    } catch (error) {
      end.fail(error);
    }
    await this.#close();
  }

  async #open(): Promise<void> {
    const { plan, actions, callbacks, tally, end, onError } = this.#context;
    const secret = this.#secret;
    const receiver = await openReceiver({
      ...plan.server,
      accepts: (path) =>
        secret
          ? path.endsWith(`/${secret}`)
          : path.replace(/%../g, (code) => code.toUpperCase()) === plan.path,
      keep: (delivery) => this.#inbox.keep(delivery),
      onError,
    });
    this.#receiver = receiver;
    const base = await this.#publicBase(receiver);
    await this.#webhook?.register(secretUrl(base, plan.path, secret ?? ''));
    if (end.signal.aborted) return;
    runInBackground(async () => this.#webhook?.test(this.#inbox), onError);
    tally.isReady = true;
    const url = secret ? secretUrl(receiver.origin, plan.path, secret) : receiver.origin + plan.path;
    callbacks.onReady(url, actions);
  }

  /** Where the service reaches the receiver. */
  async #publicBase({ origin, port }: Receiver): Promise<string> {
    const { plan, resources, callbacks, end, onError } = this.#context;
    const { tunnel: command, publicUrl } = plan;
    if (command === undefined)
      return publicUrl ?? origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
    const { env } = resources;
    const tunnel = await openTunnel({ command, origin, port, env, signal: end.signal });
    this.#tunnel = tunnel;
    runInBackground(async () => {
      const how = await tunnel.ended;
      end.fail(new StenoError('failed', `the tunnel ended (${how}): no events can arrive`));
    }, onError);
    if (!plan.register)
      callbacks.onNotice(`the tunnel forwards ${secretUrl(tunnel.url, plan.path, this.#secret ?? '')}`);
    return tunnel.url;
  }

  /** Apart from each other: a service that does not answer must not keep this session from saying that it is alive. */
  #startLoops(): void {
    const { plan, ledger, run, commits, tickMs, end, onError } = this.#context;
    const loop = (what: string, work: () => Promise<void>): Promise<void> =>
      repeat(tickMs, end.signal, () => this.#attempt(what, work));
    this.#loops = Promise.all([
      loop("can't record in the ledger that this listener is running", async () => {
        await run.renew(commits);
        // Not waited for: where much was left, it takes longer than other listeners wait for a sign of this one.
        void this.#adopt().catch(onError);
      }),
      loop("can't move events of earlier listeners into the ledger", async () => {
        if (await this.#inbox.moveLeft()) await this.#adopt();
      }),
      loop("can't look for missed events", () => this.#missedEvents.tick()),
      loop("can't remove old events", historyLimit(plan.keepMs, ledger, end.signal)),
    ]).then(() => this.#adopting, onError);
  }

  async #attempt(what: string, work: () => Promise<void>): Promise<void> {
    const { ledger, watch, end } = this.#context;
    try {
      await work();
    } catch (error) {
      // An account that belongs to another service, which is known only now.
      const isOfOther = error instanceof StenoError && error.kind === 'usage';
      if (isOfOther && ledger.db.isDown(error)) end.fail(error);
      if (!end.signal.aborted && !watch.noteFailure(error))
        this.#context.callbacks.onWarning(`${what}: ${errorMessage(error)}`);
    }
  }

  /** First what is to be shown: it may be more than this session shows, and then what follows it is not begun either. */
  #adopt(): Promise<void> {
    const { ledger, run } = this.#context;
    this.#adopting ??= this.#attempt("can't take over from listeners that ended", async () => {
      const gone = run.canTellWhoIsGone ? await new Runs(ledger).gone(run.id) : [];
      try {
        await this.#display.takeOver([...gone, ...(await new Runs(ledger).endedHere())]);
      } finally {
        await this.#display.open();
      }
      await this.#queues.adopt(gone);
    }).finally(() => {
      this.#adopting = undefined;
    });
    return this.#adopting;
  }

  /** Where nothing else is done with the events, there is nothing to go on for. */
  #onReaderGone(): void {
    const { actions, callbacks, end } = this.#context;
    const isOnly = actions.length === 0;
    const what = isOnly ? 'stopping' : 'still acting on events';
    callbacks.onWarning(`stdout was closed: ${what}. The next listen shows the remaining events`);
    if (isOnly) end.stop();
  }

  /** Events are in the ledger: has them shown and acted on. */
  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    const wake = async (): Promise<void> => {
      this.#isWoken = false;
      // With a goal, what is not counted may be one too many.
      if (!this.#context.end.hasGoal) this.#queues.wake();
      await this.#display.fill();
    };
    startTimer(SHOW_AFTER_MS, wake, this.#context.onError);
  }

  /** In this order: no more events are sent here, those on the way are kept, their actions are done. */
  async #close(): Promise<void> {
    const { end, resources, callbacks, ledger, run, commits } = this.#context;
    commits.limitLockWait(LEDGER_GRACE_MS);
    ledger.db.endWithin(LEDGER_GRACE_MS);
    const steps = [
      () => this.#webhook?.putBack(),
      () => this.#receiver?.close(),
      () => this.#inbox.close(),
      () => this.#tunnel?.close(),
      () => this.#loops,
      () => this.#isReplaced || this.#display.open(),
      () => this.#finishActions(),
      () => this.#isReplaced && this.#leaveReplaced(),
      // A failure must be told, and a service manager start the next listener, also where nothing reads stdout.
      () => this.#display.finish(end.asPlanned ? resources.interrupt : AbortSignal.abort(), SHOW_GRACE_MS),
      () => this.#isReplaced || this.#reportLeft(),
      // One that never began must not wait for a ledger to say that it ended.
      () => run.isBegun && !this.#isReplaced && commits.add((tables) => new Runs(tables).end(run.id)),
      () => commits.finish(),
    ];
    for (const step of steps)
      try {
        await step();
      } catch (error) {
        // One part that can't be closed must not keep the others from it.
        callbacks.onWarning(`while stopping: ${errorMessage(error)}`);
      }
  }

  /** What was answered and is not finished waits for the next listener, beside the file that is there now. */
  async #leaveReplaced(): Promise<void> {
    const { ledger, run, callbacks } = this.#context;
    const left = await new Events(ledger).unfinished(run.id);
    await this.#inbox.saveAgain(left);
    if (left.length) callbacks.onNotice(`${plural(left.length, 'event')} left for the next listen`);
    // SQLite would read the log of this file as one of the new file.
    await ledger.db.file?.alone((database) => database.get('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  get #isReplaced(): boolean {
    const { ledger } = this.#context;
    return !ledger.db.isShared && !ledger.db.isInPlace;
  }

  async #finishActions(): Promise<void> {
    const { end, resources } = this.#context;
    if (end.reachedGoal) await Promise.race([this.#queues.finish(), aborted(resources.interrupt)]);
    await this.#queues.stop(ACTION_GRACE_MS);
  }

  async #reportLeft(): Promise<void> {
    const { onNotice } = this.#context.callbacks;
    const unshown = await this.#display.countLeft();
    if (unshown) onNotice(`${plural(unshown, 'event')} left for the next listen to show`);
    for (const { action, left } of await this.#queues.left())
      onNotice(`${plural(left, unfinishedWork[action.kind])} left for the next listen: ${action.target}`);
  }
}
