/**
 * Keeps an audio from being bought twice: sorts planned orders into what may be sent, what is on order, what may have
 * been ordered, and what another process is sending right now.
 */

import { parseDetails } from '../../ledger/audio-details.ts';
import type { Audio } from '../../ledger/audio-names.ts';
import type { Holder, TakeOver } from '../../ledger/claims.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isSameUrl } from '../../ledger/ordered-files.ts';
import { monotonicMs } from '../../lib/clock.ts';
import { StenoError } from '../../lib/errors.ts';
import { isUploadName, isUrlName } from '../../lib/names.ts';
import { sleep } from '../../lib/sleep.ts';
import { plural } from '../../lib/text.ts';
import { duplicateError, type HeldAudio, heldFailure, sharedUrlFailure } from './duplicates.ts';
import { countAudios, describeAudio, type HeldRow, type PlannedOrder, splitRows } from './planned-order.ts';

export interface GuardOptions {
  /** Order everything, whatever was ordered before. */
  readonly again: boolean;
  /** Leave out what is on order. */
  readonly skipOrdered: boolean;
  /** Order again what had no clear answer when the command began. */
  readonly retryUnclear: boolean;
  /** How many milliseconds ago that was. */
  readonly begunAgoMs: () => number;
  /** The orders come from a manifest: a row that can't be ordered holds up no other. */
  readonly manifest: boolean;
  /** Milliseconds for which another process may be waited for. */
  readonly timeout: number | undefined;
}

export interface WaitForOthers {
  readonly signal: AbortSignal;
  /** Called when the waiting begins, with what is waited for. */
  readonly onWait: (text: string) => void;
}

/** What another process is sending. */
interface Deferred {
  readonly order: PlannedOrder;
  /** By their ids. */
  readonly holders: ReadonlyMap<string, Holder>;
}

const POLL_INTERVAL_MS = 250;
const AUDIOS_PER_GROUP = 10_000;

export class OrderGuard {
  /** What is not ordered, and why. */
  readonly failures: HeldRow[] = [];
  /** Audios that were left out because they are on order. */
  readonly onOrder: HeldAudio[] = [];
  /** What a budget does not reach for. */
  readonly overBudget: PlannedOrder[] = [];
  /** Episodes that were left out because their audio is on order under another guid. */
  readonly renumbered: HeldAudio[] = [];
  readonly #ledger: Ledger | undefined;
  readonly #options: GuardOptions;
  readonly #deadline: number;
  /** Attempts that were unclear at the beginning: only these are ordered again, or each of many runs would do so. */
  #unclearAtFirst: ReadonlySet<string> | undefined;
  readonly #takeOver = new WeakMap<PlannedOrder, readonly string[]>();
  #queue: PlannedOrder[] = [];
  #next = 0;
  #deferred: Deferred[] = [];

  private constructor(ledger: Ledger | undefined, options: GuardOptions) {
    this.#ledger = ledger;
    this.#options = options;
    this.#deadline = monotonicMs() + (options.timeout ?? Number.POSITIVE_INFINITY);
  }

  /** Throws where something that is planned stops the whole command. */
  static async of(
    planned: readonly PlannedOrder[],
    ledger: Ledger | undefined,
    options: GuardOptions,
  ): Promise<OrderGuard> {
    const guard = new OrderGuard(ledger, options);
    await guard.#sort(planned, true);
    return guard;
  }

  /** What may be sent now. */
  get ready(): readonly PlannedOrder[] {
    return this.#queue.slice(this.#next);
  }

  /** How many audios were left out because they are on order. */
  get leftOut(): number {
    return this.onOrder.length;
  }

  /** How many orders were neither given out nor left out so far. */
  get unsent(): number {
    return this.#queue.length - this.#next + this.#deferred.length;
  }

  /** What another process is sending. */
  get deferred(): readonly PlannedOrder[] {
    return this.#deferred.map(({ order }) => order);
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

  /** The attempts whose names an order may take. */
  takeOver(order: PlannedOrder): TakeOver {
    return this.#options.again ? 'any' : (this.#takeOver.get(order) ?? []);
  }

  /** Of these orders, sends only the rows before this one next: a budget does not reach for the others. */
  keepRows(orders: readonly PlannedOrder[], firstLeftOut: number): void {
    this.#queue = [];
    this.#next = 0;
    for (const order of orders) {
      const { before, others } = splitRows([order], firstLeftOut);
      for (const kept of before) this.#enqueue(kept, new Set(this.#takeOver.get(order)));
      this.overBudget.push(...others);
    }
  }

  /** Another process was faster with some of it. */
  putBack(order: PlannedOrder): Promise<void> {
    return this.#sort([order], this.#isStrict);
  }

  /** One audio that can't be ordered stops all of them. */
  get #isStrict(): boolean {
    return !this.#options.skipOrdered && !this.#options.manifest;
  }

  /** `atOnce`: before anything is sent, so that what is on order can still stop all of it. */
  async #sort(orders: readonly PlannedOrder[], atOnce: boolean): Promise<void> {
    const { again, skipOrdered } = this.#options;
    const held = again ? [] : await this.#held(orders);
    const byAudio = new Map(held.map((each) => [each.audio, each]));
    this.#unclearAtFirst ??= this.#unclearIn(held);
    const known = held.filter(({ otherGuid }) => otherGuid === undefined);
    const blocking = this.#isStrict ? known : known.filter(({ holder }) => holder.status === 'placed');
    if (atOnce && !skipOrdered && blocking.length)
      throw duplicateError(blocking, countAudios(orders) === 1 ? 'alone' : 'others');
    for (const order of orders) this.#sortOne(order, byAudio);
  }

  #sortOne(order: PlannedOrder, held: ReadonlyMap<Audio, HeldAudio>): void {
    const unclear = new Set<string>();
    const busy = new Map<string, Holder>();
    const [free, waiting]: [Audio[], Audio[]] = [[], []];
    for (const audio of order.audios) {
      const found = held.get(audio);
      if (!found) free.push(audio);
      else if (found.holder.status === 'being sent') {
        waiting.push(audio);
        busy.set(found.holder.id, found.holder);
      } else if (!isUploadName(found.name) && this.#isRetried(found.holder)) {
        free.push(audio);
        unclear.add(found.holder.id);
      } else this.#leaveOut(found, order);
    }
    if (waiting.length) this.#deferred.push({ order: { ...order, audios: waiting }, holders: busy });
    if (free.length)
      this.#enqueue(free.length === order.audios.length ? order : { ...order, audios: free }, unclear);
  }

  #leaveOut(found: HeldAudio, order: PlannedOrder): void {
    if (isUploadName(found.name)) this.failures.push(sharedUrlFailure(found));
    else if (found.otherGuid !== undefined) this.renumbered.push(found);
    else if (found.holder.status === 'placed' && this.#options.skipOrdered) this.onOrder.push(found);
    else this.failures.push({ ...heldFailure(found), row: { order, audio: found.audio } });
  }

  #enqueue(order: PlannedOrder, unclear: ReadonlySet<string>): void {
    if (unclear.size) this.#takeOver.set(order, [...unclear]);
    this.#queue.push(order);
  }

  /**
   * Its end was written before this command began; by the clock too, because reading the ledger comes later. Not by
   * two clocks: the ledger says how long ago its own clock saw the end.
   */
  #unclearIn(held: readonly HeldAudio[]): ReadonlySet<string> {
    const begunAgoMs = this.#options.begunAgoMs();
    const unclear = held.filter(
      ({ holder }) => holder.status === 'unclear' && holder.endedAgoMs > begunAgoMs,
    );
    return new Set(unclear.map(({ holder }) => holder.id));
  }

  /** An order that was accepted is not ordered again, though its files are not known. */
  #isRetried({ id, status, isAccepted }: Holder): boolean {
    if (!this.#options.retryUnclear || status !== 'unclear' || isAccepted) return false;
    return this.#unclearAtFirst?.has(id) ?? false;
  }

  /** The audios that other attempts hold; test orders neither hold nor are held up. */
  async #held(orders: readonly PlannedOrder[]): Promise<HeldAudio[]> {
    const held: HeldAudio[] = [];
    if (!this.#ledger) return held;
    for (const audios of inGroups(orders)) {
      const holders = await this.#ledger.claims.holders(audios.flatMap(({ names }) => names));
      if (holders.size === 0) continue;
      for (const audio of audios) {
        const found = strongest(audio, holders);
        if (found) held.push(found);
      }
    }
    return Promise.all(held.map((each) => this.#withOtherGuid(each)));
  }

  /** Hosts that move number their guids anew, so the very same URL under a new guid is hardly a new episode. */
  async #withOtherGuid(held: HeldAudio): Promise<HeldAudio> {
    const { audio, name, holder } = held;
    const guid = audio.details?.guid;
    if (!guid || !isUrlName(name) || holder.status !== 'placed' || !this.#ledger) return held;
    const { openAttempts } = this.#ledger;
    const ordered = (await openAttempts.audios(holder)).find(({ url }) => isSameUrl(url, audio.url));
    const otherGuid = parseDetails(ordered?.details ?? '').guid;
    return otherGuid && otherGuid !== openAttempts.kept(guid) ? { ...held, otherGuid } : held;
  }

  /** Waits until one of the attempts has ended, and sorts what it was about; or until the time is over. */
  async #waitForOthers({ signal, onWait }: WaitForOthers): Promise<boolean> {
    const audios = this.#deferred.reduce((sum, { order }) => sum + order.audios.length, 0);
    onWait(`Waiting for ${plural(audios, 'URL')} that ${senderOf(this.#deferred[0])} is ordering`);
    while (!signal.aborted) {
      const sending = await this.#stillSending();
      const isSent = ({ holders }: Deferred): boolean => [...holders.keys()].every((id) => sending.has(id));
      const ended = this.#deferred.filter((each) => !isSent(each)).map(({ order }) => order);
      const left = this.#deadline - monotonicMs();
      if (ended.length) {
        this.#deferred = this.#deferred.filter(isSent);
        await this.#sort(ended, false);
      } else if (left <= 0) this.#giveUp();
      if (ended.length || left <= 0) return true;
      // An interruption is seen above.
      await sleep(Math.min(POLL_INTERVAL_MS, left), signal).catch(() => {});
    }
    return false;
  }

  async #stillSending(): Promise<ReadonlySet<string>> {
    const ids = new Set(this.#deferred.flatMap(({ holders }) => [...holders.keys()]));
    return (await this.#ledger?.openAttempts.beingSent([...ids])) ?? new Set();
  }

  #giveUp(): void {
    for (const deferred of this.#deferred) {
      const error = new StenoError('timeout', `it is still being ordered by ${senderOf(deferred)}`, {
        hint: 'when that has ended, run the same line again with --skip-ordered',
      });
      const { order } = deferred;
      for (const audio of order.audios)
        this.failures.push({ what: describeAudio(audio), error, row: { order, audio } });
    }
    this.#deferred = [];
  }
}

/** The audios of orders that are no tests, some thousands at a time: the names of a million would fill the memory. */
function* inGroups(orders: readonly PlannedOrder[]): Generator<readonly Audio[]> {
  let group: Audio[] = [];
  for (const { test, audios } of orders) {
    if (test) continue;
    for (const audio of audios) {
      group.push(audio);
      if (group.length < AUDIOS_PER_GROUP) continue;
      yield group;
      group = [];
    }
  }
  if (group.length) yield group;
}

const senderOf = (deferred: Deferred | undefined): string =>
  [...(deferred?.holders.values() ?? [])][0]?.by ?? '';

/** Of several holders of an audio's names the one that matters most; one that has its URL alone comes last. */
export function strongest(audio: Audio, holders: ReadonlyMap<string, Holder>): HeldAudio | undefined {
  const all = audio.names
    .flatMap((name) => {
      const holder = holders.get(name);
      return holder ? [{ audio, name, holder }] : [];
    })
    .sort((one, other) => Number(isUrlName(one.name)) - Number(isUrlName(other.name)));
  const ofAudio = all.filter(({ name }) => !isUploadName(name));
  const held = ofAudio.length ? ofAudio : all;
  for (const status of ['placed', 'being sent', 'unclear'])
    for (const each of held) if (each.holder.status === status) return each;
  return undefined;
}
