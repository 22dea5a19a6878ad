/**
 * The orders of a run: which are sent next, as the ledger and the budgets have it; decided again where another process was
 * faster.
 */
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { StenoError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { monotonicMs, sleep } from '../../lib/time.ts';
import type { NotCovered } from '../prices/limits.ts';
import type { OrderCosts } from './cost.ts';
import type { HeldFailure } from './duplicates.ts';
import { type Deferred, type Guard, type KeptOut, nothingPlanned } from './guard.ts';
import { countAudios, describeUrls, type PlannedOrder, splitRows } from './planned-order.ts';

interface RunOptions {
  readonly ledger: Ledger | undefined;
  readonly guard: Guard;
  readonly costs: OrderCosts;
  /** Milliseconds for which another process may be waited for. */
  readonly timeout: number | undefined;
}

interface WaitForOthers {
  readonly signal: AbortSignal;
  /** Called when the waiting begins, with what is waited for. */
  readonly onWait: (text: string) => void;
}

const POLL_INTERVAL_MS = 250;

export class OrderRun {
  readonly failures: HeldFailure[] = [];
  /** Audios that are on order, or that are ignored. */
  readonly leftOut: KeptOut[] = [];
  /** Audios that are on order, and count as ordered now. */
  readonly existing: KeptOut[] = [];
  /** What a budget does not cover, with --up-to-budget; and why. */
  overBudget: readonly PlannedOrder[] = [];
  notCovered: NotCovered | undefined;
  /** Why nothing of what is ready may be ordered. */
  problem: StenoError | undefined;
  readonly #options: RunOptions;
  readonly #deadline: number;
  #queue: readonly PlannedOrder[] = [];
  #next = 0;
  #deferred: Deferred[] = [];

  private constructor(options: RunOptions) {
    this.#options = options;
    this.#deadline = monotonicMs() + (options.timeout ?? Number.POSITIVE_INFINITY);
  }

  /** Throws where something that is planned stops the whole command. `learn`: makes more prices known. */
  static async of(
    planned: readonly PlannedOrder[],
    options: RunOptions,
    learn: () => Promise<void>,
  ): Promise<OrderRun> {
    const run = new OrderRun(options);
    await run.#decide(planned, [], learn);
    return run;
  }

  get ready(): readonly PlannedOrder[] {
    return this.#queue.slice(this.#next);
  }

  get deferred(): readonly PlannedOrder[] {
    return this.#deferred.map(({ order }) => order);
  }

  /** How many orders were neither given out nor left out so far. */
  get unsent(): number {
    return this.#queue.length - this.#next + this.#deferred.length;
  }

  /**
   * The orders to send, one after the other; what another process is sending comes last, if it is then to be sent. Ends
   * early where the user interrupts.
   */
  async *orders(waiting: WaitForOthers): AsyncGenerator<PlannedOrder> {
    while (this.unsent > 0) {
      const order = this.#queue[this.#next];
      if (order) {
        this.#next += 1;
        yield order;
      } else if (!(await this.#waitForOthers(waiting))) return;
    }
  }

  /** The ledger refused it: another process ordered part of it first, or spent the rest of the budget. */
  async putBack(order: PlannedOrder): Promise<void> {
    if (!this.#options.costs.isLimited) return this.#decide([order], this.ready);
    await this.#decide([order, ...this.ready, ...this.overBudget]);
    if (!this.problem || this.overBudget.length) return;
    const own = new Set(order.audios);
    this.#queue = this.#queue.filter(({ audios }) => !audios.some((audio) => own.has(audio)));
    throw this.problem;
  }

  /**
   * What is spent is read before what is on order: so what others buy meanwhile is in neither, the ledger holds it to the
   * budget when it is written, and nothing counts twice. Both are asked at once first, because over a network that is
   * one round trip; where the budget then seems not to cover all, one after the other. `decided`: what is sent first.
   */
  async #decide(
    orders: readonly PlannedOrder[],
    decided: readonly PlannedOrder[] = [],
    learn?: () => Promise<void>,
  ): Promise<void> {
    const { guard, costs } = this.#options;
    let standing = nothingPlanned();
    let covered: ReturnType<OrderCosts['coverage']> = {};
    let kept: ReturnType<typeof splitRows> = { before: [], others: [] };
    for (const isLast of [false, true]) {
      const reading = costs.read();
      // An error of the guard comes first.
      reading.catch(() => {});
      if (isLast) await reading;
      standing = await guard.sort(orders, learn !== undefined);
      await reading;
      if (!isLast) await learn?.();
      covered = costs.coverage(standing.ready);
      kept = splitRows(standing.ready, covered.firstLeftOut);
      const sending = standing.deferred.map(({ order }) => order);
      this.problem = covered.problem ?? costs.problemOf(kept.before, sending);
      if (!this.problem && kept.others.length === 0) break;
    }
    [this.#queue, this.#next] = [[...decided, ...kept.before], 0];
    [this.overBudget, this.notCovered] = [kept.others, covered.why];
    this.#deferred.push(...standing.deferred);
    for (const list of ['leftOut', 'existing', 'failures'] as const)
      for (const each of standing[list]) (this[list] as unknown[]).push(each);
  }

  /** Waits until one of the attempts has ended, and decides on what it was about; or until the time is over. */
  async #waitForOthers({ signal, onWait }: WaitForOthers): Promise<boolean> {
    const { ledger } = this.#options;
    onWait(
      `Waiting for ${plural(countAudios(this.deferred), 'URL')} that ${senderOf(this.#deferred[0])} is ordering`,
    );
    while (!signal.aborted) {
      const ids = new Set(this.#deferred.flatMap(({ holders }) => [...holders.keys()]));
      const sending = (await (ledger && new OpenAttempts(ledger).beingSent([...ids]))) ?? new Set();
      const isSent = ({ holders }: Deferred): boolean => [...holders.keys()].every((id) => sending.has(id));
      const ended = this.#deferred.filter((each) => !isSent(each)).map(({ order }) => order);
      const left = this.#deadline - monotonicMs();
      if (ended.length) {
        this.#deferred = this.#deferred.filter(isSent);
        // Attempts that bought nothing may leave room in a budget.
        await this.#decide([...ended, ...this.overBudget]);
      } else if (left <= 0) this.#giveUp();
      if (ended.length || left <= 0) return true;
      // An interruption is seen above.
      await sleep(Math.min(POLL_INTERVAL_MS, left), signal).catch(() => {});
    }
    return false;
  }

  #giveUp(): void {
    for (const deferred of this.#deferred) {
      const error = new StenoError('timeout', `it is still being ordered by ${senderOf(deferred)}`, {
        hint: 'when that has finished, run the same command again with --skip-ordered',
      });
      for (const audio of deferred.order.audios) {
        const planned = { ...deferred.order, audios: [audio] };
        this.failures.push({ what: describeUrls(planned), error, planned });
      }
    }
    this.#deferred = [];
  }
}

const senderOf = (deferred: Deferred | undefined): string =>
  [...(deferred?.holders.values() ?? [])][0]?.by ?? '';
