/** Runs the receiver until it is told to stop or has heard what it was waiting for. */

import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { limitYoungSpace } from '../lib/memory.ts';
import type { Action } from './actions/action.ts';
import type { ActionReport } from './actions/queue.ts';
import { ActionQueues } from './actions/queues.ts';
import { Ending, type Goal } from './ending.ts';
import type { ReceivedEvent } from './event.ts';
import { Inbox } from './inbox.ts';
import { Lookout, tickOf } from './lookout.ts';
import { type Delivery, openReceiver, type Receiver, type ReceiverOptions } from './server.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import { secretAddress, secretStep, WebhookLoan } from './webhook-loan.ts';

export interface Plan {
  readonly door: Pick<ReceiverOptions, 'host' | 'port' | 'tls'>;
  readonly path: string;
  readonly actions: (ledger: Ledger) => readonly Action[];
  /** Empty: all. */
  readonly only: readonly string[];
  readonly goal: Goal;
  readonly register: boolean;
  /** Where the service reaches the listener, if not at its own address. */
  readonly publicUrl?: string | undefined;
  readonly tunnel?: string | undefined;
}

/** Whom the listener talks to. */
export interface SessionCallbacks {
  ready(url: string): void;
  events(events: readonly ReceivedEvent[]): void;
  report(report: ActionReport): void;
  note(text: string): void;
  warn(text: string, hint?: string): void;
  mayReplace(former: string): Promise<boolean>;
}

export interface SessionContext {
  readonly ledger: Ledger;
  /** Absent where no account is set up. */
  readonly transport: Transport | undefined;
  readonly farewell: () => Promise<Transport>;
  /** Has something undone when the program ends, also when it crashes; gives back what cancels that. */
  readonly onExit: (cleanUp: () => Promise<void>) => () => void;
  readonly env: Env;
  readonly signal: AbortSignal;
}

/** What is under way when an interruption comes has so long to end by itself. */
const GRACE = 3_000;
const TOGETHER = 20;
/** The same trouble is told once in this time. */
const SAME_TROUBLE = 60_000;

export async function listen(plan: Plan, around: SessionContext, audience: SessionCallbacks): Promise<void> {
  const { ledger, signal } = around;
  const quick = await ledger.openNonBlocking();
  const run = ledger.runs.begin();
  const actions = plan.actions(quick);
  const ending = new Ending(plan.goal, signal);
  const inbox = new Inbox(quick, { run, all: actions, only: plan.only });
  const lanes = new ActionQueues(actions, quick, run, inbox.commits, (report) => audience.report(report));
  try {
    await new Listening(plan, around, audience, { run, quick, inbox, lanes, ending }).run();
  } finally {
    ledger.runs.end(run);
    quick.close();
  }
}

interface Parts {
  readonly run: number;
  /** The ledger, where a lock fails at once: the receiver must not wait. */
  readonly quick: Ledger;
  readonly inbox: Inbox;
  readonly lanes: ActionQueues;
  readonly ending: Ending;
}

class Listening {
  readonly #plan: Plan;
  readonly #around: SessionContext;
  readonly #audience: SessionCallbacks;
  readonly #parts: Parts;
  readonly #lookout: Lookout;
  readonly #loan: WebhookLoan | undefined;
  readonly #secret: string | undefined;
  /** Numbers of the events found by looking that this listener has counted. */
  readonly #found = new Set<number>();
  #fresh: ReceivedEvent[] = [];
  #receiver: Receiver | undefined;
  #tunnel: Tunnel | undefined;
  /** What was complained of, and when. */
  readonly #troubles = new Map<string, number>();
  readonly #over = new AbortController();

  constructor(plan: Plan, around: SessionContext, audience: SessionCallbacks, parts: Parts) {
    this.#plan = plan;
    this.#around = around;
    this.#audience = audience;
    this.#parts = parts;
    this.#secret = plan.register || plan.tunnel !== undefined ? secretStep() : undefined;
    const { transport } = around;
    this.#loan = transport && new WebhookLoan({ ...around, ...audience, transport });
    this.#lookout = new Lookout({
      transport,
      ledger: parts.quick,
      inbox: parts.inbox,
      run: parts.run,
      tick: tickOf(around.env),
      onTick: () => parts.lanes.adopt(),
      onFound: (event) => this.#heard(event),
      onTrouble: (error) => this.#complain(`can't look for events that were missed: ${error.message}`),
    });
  }

  async run(): Promise<void> {
    try {
      await this.#open();
      this.#parts.ending.startClock();
      this.#lookout.start();
      if (this.#plan.register) void this.#loan?.test(this.#parts.inbox, this.#over.signal);
      await this.#parts.ending.reached;
    } finally {
      await this.#close();
    }
    this.#parts.ending.raise();
  }

  async #open(): Promise<void> {
    const { door, path, register } = this.#plan;
    const secret = this.#secret;
    const receiver = await openReceiver({
      ...door,
      accepts: (asked) => (secret ? asked.endsWith(`/${secret}`) : asked === path),
      keep: (delivery, kept) => this.#keep(delivery, kept),
    });
    this.#receiver = receiver;
    await this.#loan?.settleOld();
    const base = await this.#publicBase(receiver);
    if (register) await this.#loan?.take(this.#parts.run, secretAddress(base, path, secret ?? ''));
    this.#audience.ready(secret ? secretAddress(receiver.origin, path, secret) : receiver.origin + path);
  }

  /** Where the service reaches the receiver. */
  async #publicBase({ origin, port }: Receiver): Promise<string> {
    const { tunnel: command, publicUrl, register, path } = this.#plan;
    const { env, signal } = this.#around;
    if (command === undefined) return publicUrl ?? origin.replace('//0.0.0.0:', '//127.0.0.1:');
    const tunnel = await openTunnel({ command, origin, port, env, signal });
    this.#tunnel = tunnel;
    void tunnel.ended.then((how) =>
      this.#parts.ending.fail(new StenoError('failed', `the tunnel ended (${how}): no event can come in`)),
    );
    if (!register)
      this.#audience.note(
        `the tunnel leads here from ${secretAddress(tunnel.url, path, this.#secret ?? '')}`,
      );
    return tunnel.url;
  }

  #keep(delivery: Delivery, done: (error?: unknown) => void): void {
    this.#parts.inbox.keep(delivery, {
      kept: (event) => {
        this.#heard(event);
        done();
      },
      failed: (error) => {
        this.#complain(`an event could not be kept and was answered with 503: ${errorMessage(error)}`);
        done(error);
      },
    });
  }

  #isWanted(event: string): boolean {
    const { only } = this.#plan;
    return only.length === 0 || only.includes(event);
  }

  /** A completion that is found and also delivered counts once, whichever of the two is told first. */
  #isFirstOfPair({ n, source, twin }: ReceivedEvent): boolean {
    const found = source === 'found' ? n : twin;
    if (found === null) return true;
    const isFirst = !this.#found.has(found);
    this.#found.add(found);
    return isFirst;
  }

  /** Events that come close together are told together: in a flood, telling costs as much as keeping. */
  #heard(event: ReceivedEvent): void {
    if (event.source === 'test') return;
    const wanted = this.#isWanted(event.event);
    const counts = wanted && this.#isFirstOfPair(event);
    if (!this.#parts.ending.hears(event.n, event.event, counts) || !wanted) return;
    if (this.#fresh.push(event) === 1) setTimeout(() => this.#tell(), TOGETHER);
  }

  #tell(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    if (fresh.length) this.#audience.events(fresh);
    limitYoungSpace();
    this.#parts.lanes.wake();
  }

  #complain(text: string): void {
    const now = Date.now();
    if (now - (this.#troubles.get(text) ?? 0) < SAME_TROUBLE) return;
    if (this.#troubles.size > 100) this.#troubles.clear();
    this.#troubles.set(text, now);
    this.#audience.warn(text);
  }

  /** In this order: no more events are sent here, those on the way are kept, their actions are done. */
  async #close(): Promise<void> {
    this.#over.abort();
    this.#parts.ending.stopClock();
    await this.#loan?.giveBack();
    await this.#receiver?.close();
    await this.#tunnel?.close();
    await this.#lookout.stop();
    this.#tell();
    if (this.#parts.ending.isGoal)
      await this.#unlessInterrupted(this.#parts.lanes.finish(this.#parts.ending.last));
    for (const { action, left } of await this.#parts.lanes.stop(GRACE)) {
      this.#audience.note(`${left} left to do for the next listen: ${action.kind} ${action.target}`);
    }
    await this.#parts.inbox.commits.settled();
  }

  async #unlessInterrupted(work: Promise<void>): Promise<void> {
    const { signal } = this.#around;
    const interrupted = new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), { once: true });
    });
    await Promise.race([work, interrupted]);
  }
}
