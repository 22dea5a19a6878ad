/**
 * Keeps an audio from being bought twice: sorts planned orders into what may be sent, what is on order, what may have
 * been ordered, and what another process is sending right now.
 */
import { areOrdered } from '../../catalog/skus.ts';
import { Claims, type Holder, type TakeOver } from '../../ledger/claims.ts';
import { IgnoredAudio } from '../../ledger/ignored-audio.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { isSameUrl } from '../../ledger/ordered-files.ts';
import { type Audio, parseDetails } from '../../ledger/purchase.ts';
import { StenoError } from '../../lib/errors.ts';
import { isUploadName, isUploadUrl, isUrlName } from '../../lib/names.ts';
import { plural } from '../../lib/text.ts';
import { monotonicMs, sleep } from '../../lib/time.ts';
import {
  duplicateError,
  type HeldAudio,
  type HeldFailure,
  otherSkusError,
  rowError,
  sharedUrlError,
  unpairedError,
} from './duplicates.ts';
import { ignorableTexts } from './local-audio.ts';
import { countAudios, describeUrls, type PlannedOrder, splitRows } from './planned-order.ts';

export interface GuardOptions {
  /** Order everything, whatever was ordered before. */
  readonly again: boolean;
  /** Leave out what is on order. */
  readonly skipOrdered: boolean;
  /** What is on order counts as ordered. */
  readonly orExisting: boolean;
  /** Order again what had no clear answer when the command began. */
  readonly retryUnclear: boolean;
  /** Order again what ended without a transcript. */
  readonly retryEnded: boolean;
  /** Asks the service about these files: whose they are, and whether they have ended. Not in a dry run. */
  readonly refresh?: ((ids: readonly string[]) => Promise<void>) | undefined;
  /** How many milliseconds ago that was. */
  readonly begunAgoMs: () => number;
  /** The orders come from a manifest: a row that can't be ordered holds up no other. */
  readonly manifest: boolean;
  /** Milliseconds for which another process may be waited for. */
  readonly timeout: number | undefined;
}

/** One audio that is not ordered, though nothing is wrong with it; or that was ordered before. */
export interface KeptOut {
  /** With that audio alone. */
  readonly planned: PlannedOrder;
  readonly why: 'ordered' | 'other_skus' | 'renumbered' | 'ignored';
  /** What it is on order as. */
  readonly holder?: Holder | undefined;
  /** It may be another, and is told by itself: an episode under a new guid, a recording whose URL is on order. */
  readonly doubt?: HeldAudio | undefined;
}

interface WaitForOthers {
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
  readonly failures: HeldFailure[] = [];
  /** Audios that are on order, or that are ignored. */
  readonly leftOut: KeptOut[] = [];
  /** Audios that are on order, and count as ordered now. */
  readonly existing: KeptOut[] = [];
  /** What a budget does not cover. */
  readonly overBudget: PlannedOrder[] = [];
  readonly #ledger: Ledger | undefined;
  readonly #options: GuardOptions;
  readonly #deadline: number;
  /** Attempts that were unclear at the beginning: only these are ordered again, or each of many runs would do so. */
  #unclearAtFirst: ReadonlySet<string> | undefined;
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
    const isIgnored = options.manifest ? ledger && new IgnoredAudio(ledger).test() : undefined;
    await guard.#sort(planned, true, isIgnored);
    return guard;
  }

  /** What may be sent now. */
  get ready(): readonly PlannedOrder[] {
    return this.#queue.slice(this.#next);
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
    return this.#options.again ? 'any' : (order.takeOver ?? []);
  }

  /** Of these orders, sends only the rows before this one next: a budget does not cover the others. */
  keepRows(orders: readonly PlannedOrder[], firstLeftOut: number): void {
    const { before, others } = splitRows(orders, firstLeftOut);
    this.#queue = before;
    this.#next = 0;
    // What others are sending now may be refused, and leave something.
    const holders = new Map(this.#deferred.flatMap((each) => [...each.holders]));
    if (holders.size) this.#deferred.push(...others.map((order) => ({ order, holders })));
    else this.overBudget.push(...others);
  }

  /** Asks the ledger again about all that may be sent, and this: others may have bought some of it meanwhile. */
  async sortAgain(order?: PlannedOrder): Promise<void> {
    const all = order ? [order, ...this.ready] : this.ready;
    this.#queue = [];
    this.#next = 0;
    await this.#sort(all, this.#isStrict);
  }

  /** Another process was faster with some of it. */
  putBack(order: PlannedOrder): Promise<void> {
    return this.#sort([order], this.#isStrict);
  }

  /** One audio that can't be ordered stops all of them. */
  get #isStrict(): boolean {
    const { skipOrdered, orExisting, manifest } = this.#options;
    return !skipOrdered && !orExisting && !manifest;
  }

  /** `atOnce`: before anything is sent, so that what is on order can still stop all of it. */
  async #sort(
    all: readonly PlannedOrder[],
    atOnce: boolean,
    ignoring?: Promise<(texts: readonly string[]) => boolean>,
  ): Promise<void> {
    const { again, skipOrdered, orExisting } = this.#options;
    // Neither waits for the other: over a network they share a round trip.
    const [isIgnored, found] = await Promise.all([ignoring, again ? [] : this.#heldNow(all)]);
    const orders = isIgnored ? all.flatMap((order) => this.#withoutIgnored(order, isIgnored)) : all;
    const ignored = new Set(
      this.leftOut.flatMap(({ planned, why }) => (why === 'ignored' ? planned.audios : [])),
    );
    const byAudio = withOtherSkus(
      found.filter(({ audio }) => !ignored.has(audio)),
      orders,
    );
    const held = [...byAudio.values()];
    this.#unclearAtFirst ??= this.#unclearIn(held);
    const known = held.filter(({ otherGuid }) => otherGuid === undefined);
    const blocking = this.#isStrict ? known : known.filter(({ holder }) => holder.status === 'placed');
    if (atOnce && !skipOrdered && !orExisting && blocking.length)
      throw duplicateError(blocking, countAudios(orders) === 1 ? 'alone' : 'others');
    for (const order of orders) this.#sortOne(order, byAudio);
    const other = this.failures.find(({ error }) => error.duplicate?.reason === 'other_skus');
    if (atOnce && !this.#options.manifest && other) throw other.error;
  }

  #withoutIgnored(order: PlannedOrder, isIgnored: (texts: readonly string[]) => boolean): PlannedOrder[] {
    const audios = order.audios.filter((audio) => !isIgnored(ignorableTexts(audio)));
    if (audios.length === order.audios.length) return [order];
    const wanted = new Set(audios);
    for (const audio of order.audios)
      if (!wanted.has(audio)) this.leftOut.push({ planned: { ...order, audios: [audio] }, why: 'ignored' });
    return audios.length ? [{ ...order, audios }] : [];
  }

  #sortOne(order: PlannedOrder, held: ReadonlyMap<Audio, HeldAudio>): void {
    const retried = new Set<string>();
    const busy = new Map<string, Holder>();
    const [free, waiting]: [Audio[], Audio[]] = [[], []];
    for (const audio of order.audios) {
      const found = held.get(audio);
      if (!found) free.push(audio);
      else if (found.holder.status === 'being sent') {
        waiting.push(audio);
        busy.set(found.holder.id, found.holder);
      } else if (this.#isRetried(found)) {
        free.push(audio);
        for (const { id } of found.holders) retried.add(id);
      } else this.#leaveOut(found, { ...order, audios: [audio] });
    }
    if (waiting.length) this.#deferred.push({ order: { ...order, audios: waiting }, holders: busy });
    if (free.length) this.#enqueue(order, free, [...retried]);
  }

  #enqueue(order: PlannedOrder, free: readonly Audio[], retried: readonly string[]): void {
    // One list for both: of a million audios there would be two.
    const audios = free.length === order.audios.length ? order.audios : free;
    this.#queue.push({ ...order, audios, takeOver: retried.length ? retried : undefined });
  }

  #leaveOut(found: HeldAudio, planned: PlannedOrder): void {
    const { audio, holder, name, otherGuid, otherSkus } = found;
    const { skipOrdered, orExisting, retryEnded } = this.#options;
    const isOnOrder = holder.status === 'placed' && (skipOrdered || orExisting);
    if (retryEnded && holder.mayBeOver) this.#fail(planned, unpairedError(found));
    else if (isUploadName(name)) this.#fail(planned, sharedUrlError(found));
    else if (otherGuid !== undefined) this.leftOut.push({ planned, why: 'renumbered', holder, doubt: found });
    else if (!isOnOrder) this.#fail(planned, rowError(found));
    else if (isUploadUrl(audio.names, name))
      this.leftOut.push({ planned, why: 'ordered', holder, doubt: found });
    else if (!orExisting)
      this.leftOut.push({ planned, why: otherSkus && !holder.isOver ? 'other_skus' : 'ordered', holder });
    else if (otherSkus) this.#fail(planned, otherSkusError(found));
    else this.existing.push({ planned, why: 'ordered', holder });
  }

  /** `planned`: with one audio. */
  #fail(planned: PlannedOrder, error: StenoError): void {
    this.failures.push({ what: describeUrls(planned), error, planned });
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

  /** Every attempt that holds a name of it must allow it: the ledger has the order take over all of its names. */
  #isRetried({ name, holders }: HeldAudio): boolean {
    return !isUploadName(name) && holders.every((holder) => this.#mayTakeOver(holder));
  }

  /** An order that was accepted is not ordered again, though its files are not known. */
  #mayTakeOver({ id, status, isAccepted, isOver }: Holder): boolean {
    if (isOver) return this.#options.retryEnded;
    if (!this.#options.retryUnclear || status !== 'unclear' || isAccepted) return false;
    return this.#unclearAtFirst?.has(id) ?? false;
  }

  /**
   * The same, after the service was asked about what is acted on: files that would be ordered again because they have
   * ended, and those of which only the sequence of the ids says whose they are. What it says may lead to others.
   */
  async #heldNow(orders: readonly PlannedOrder[]): Promise<HeldAudio[]> {
    const { retryEnded, orExisting, refresh } = this.#options;
    const asked = new Set<string>();
    for (;;) {
      const held = await this.#held(orders);
      const isDoubtful = ({ assumed, isAsked, isOver }: Holder): boolean =>
        retryEnded ? isOver || assumed : orExisting && assumed && !isAsked;
      const files = held.flatMap(({ holder }) => (isDoubtful(holder) ? [holder.file] : []));
      const unasked = [...new Set(files)].filter((file) => file && !asked.has(file));
      if (!refresh || unasked.length === 0) return held;
      for (const file of unasked) asked.add(file);
      await refresh(unasked);
    }
  }

  /** The audios that other attempts hold; test orders neither hold nor are held up. */
  async #held(orders: readonly PlannedOrder[]): Promise<HeldAudio[]> {
    const held: HeldAudio[] = [];
    if (!this.#ledger) return held;
    for (const audios of inGroups(orders)) {
      const holders = await new Claims(this.#ledger).holders(audios.flatMap(({ names }) => names));
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
    const openAttempts = new OpenAttempts(this.#ledger);
    const ordered = (await openAttempts.audios(holder)).find(({ url }) => isSameUrl(url, audio.url));
    const otherGuid = parseDetails(ordered?.details ?? '').guid;
    return otherGuid && otherGuid !== openAttempts.kept(guid) ? { ...held, otherGuid } : held;
  }

  /** Waits until one of the attempts has ended, and sorts what it was about; or until the time is over. */
  async #waitForOthers({ signal, onWait }: WaitForOthers): Promise<boolean> {
    onWait(
      `Waiting for ${plural(countAudios(this.deferred), 'URL')} that ${senderOf(this.#deferred[0])} is ordering`,
    );
    while (!signal.aborted) {
      const ids = new Set(this.#deferred.flatMap(({ holders }) => [...holders.keys()]));
      const sending =
        (await (this.#ledger && new OpenAttempts(this.#ledger).beingSent([...ids]))) ?? new Set();
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

  #giveUp(): void {
    for (const deferred of this.#deferred) {
      const error = new StenoError('timeout', `it is still being ordered by ${senderOf(deferred)}`, {
        hint: 'when that has finished, run the same command again with --skip-ordered',
      });
      for (const audio of deferred.order.audios) this.#fail({ ...deferred.order, audios: [audio] }, error);
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

/** What is held, by audio; where it is on order with SKUs that do not make up for those that are wanted, with these. */
function withOtherSkus(
  held: readonly HeldAudio[],
  orders: readonly PlannedOrder[],
): ReadonlyMap<Audio, HeldAudio> {
  const byAudio = new Map(held.map((each) => [each.audio, each]));
  if (held.length === 0) return byAudio;
  for (const { audios, skus: otherSkus } of orders)
    for (const audio of audios) {
      const found = byAudio.get(audio);
      const { status, skus = [] } = found?.holder ?? {};
      if (found && status === 'placed' && skus.length && !areOrdered(otherSkus, skus))
        byAudio.set(audio, { ...found, otherSkus });
    }
  return byAudio;
}

/** Of several holders of an audio's names the one that matters most; one that has its URL alone comes last. */
export function strongest(audio: Audio, holders: ReadonlyMap<string, Holder>): HeldAudio | undefined {
  const all = audio.names
    .flatMap((name) => {
      const holder = holders.get(name);
      return holder ? [{ audio, name, holder, holders: [] }] : [];
    })
    .sort((one, other) => Number(isUrlName(one.name)) - Number(isUrlName(other.name)))
    .sort((one, other) => rankOf(one) - rankOf(other));
  return all[0] && { ...all[0], holders: all.map(({ holder }) => holder) };
}

/** What ended without a transcript matters least, then how it is known, then what became of it. */
const rankOf = (held: HeldAudio): number =>
  Number(held.holder.isOver) * 100 + rankOfName(held) * 10 + statuses.indexOf(held.holder.status);

const statuses = ['placed', 'being sent', 'unclear'];

/** Of a recording its content says most, and another recording at its URL more than a link to it. */
function rankOfName({ audio, name }: HeldAudio): number {
  if (isUploadName(name)) return 1;
  return isUploadUrl(audio.names, name) ? 2 : 0;
}
