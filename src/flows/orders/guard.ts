/**
 * Keeps an audio from being bought twice: says of planned orders what may be sent, what is on order, what may have been
 * ordered, and what another process is sending right now. It decides only.
 */
import { areOrdered } from '../../catalog/skus.ts';
import { Claims, type Holder } from '../../ledger/claims.ts';
import { IgnoredAudio } from '../../ledger/ignored-audio.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { isSameUrl } from '../../ledger/ordered-files.ts';
import { type Audio, detailsOf } from '../../ledger/purchase.ts';
import type { StenoError } from '../../lib/errors.ts';
import { isUploadName, isUploadUrl, isUrlName } from '../../lib/names.ts';
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
import { countAudios, describeUrls, type PlannedOrder } from './planned-order.ts';

export interface GuardOptions {
  readonly again: boolean;
  readonly skipOrdered: boolean;
  readonly orExisting: boolean;
  /** Order again what had no clear answer when the command began. */
  readonly retryUnclear: boolean;
  readonly retryEnded: boolean;
  /** Asks the service about these files: whose they are, and whether they have ended. Not in a dry run. */
  readonly refresh?: ((ids: readonly string[]) => Promise<void>) | undefined;
  readonly begunAgoMs: () => number;
  /** The orders come from a list: a row that can't be ordered holds up no other. */
  readonly manifest: boolean;
}

/** What is still asked of the purchase that keeps an audio out. */
export type KeptHolder = Pick<Holder, 'id' | 'attempt' | 'order' | 'file' | 'assumed' | 'skus'>;

/** One audio that is not ordered, though nothing is wrong with it; or that was ordered before. */
export interface KeptOut {
  readonly planned: PlannedOrder;
  readonly why: 'ordered' | 'other_skus' | 'renumbered' | 'ignored';
  readonly holder?: KeptHolder | undefined;
  /** It may be another, and is told by itself: an episode under a new guid, a recording whose URL is on order. */
  readonly doubt?: HeldAudio | undefined;
}

export interface Deferred {
  readonly order: PlannedOrder;
  readonly holders: ReadonlyMap<string, Holder>;
}

export interface Standing {
  readonly ready: PlannedOrder[];
  readonly deferred: Deferred[];
  /** Audios that are on order, or that are ignored. */
  readonly leftOut: KeptOut[];
  /** Audios that are on order, and count as ordered now. */
  readonly existing: KeptOut[];
  readonly failures: HeldFailure[];
}

export const nothingPlanned = (): Standing => ({
  ...{ ready: [], deferred: [], leftOut: [], existing: [], failures: [] },
});

const AUDIOS_PER_GROUP = 500;
const AUDIOS_PER_QUERY = 5_000;

type HeldAudios = ReadonlyMap<Audio, HeldAudio>;

export class Guard {
  readonly #ledger: Ledger | undefined;
  readonly #options: GuardOptions;
  /** Attempts that were unclear at the beginning: only these are ordered again, or each of many runs would do so. */
  #unclearAtFirst: ReadonlySet<string> | undefined;

  constructor(ledger: Ledger | undefined, options: GuardOptions) {
    this.#ledger = ledger;
    this.#options = options;
  }

  /** `atOnce`: before anything is sent, so that what is on order can still stop all of it, by an error. */
  async sort(orders: readonly PlannedOrder[], atOnce: boolean): Promise<Standing> {
    const { again, manifest } = this.#options;
    const standing = nothingPlanned();
    const ignoring = atOnce && manifest && this.#ledger ? new IgnoredAudio(this.#ledger).test() : undefined;
    const unclear = new Set<string>();
    const blocking: HeldAudio[] = [];
    let count = 0;
    for (const group of inGroups(orders)) {
      const begunAgoMs = this.#options.begunAgoMs();
      // Neither waits for the other: over a network they share a round trip.
      const [isIgnored, held] = await Promise.all([ignoring, again ? new Map() : this.#heldNow(group)]);
      addUnclear(unclear, held, begunAgoMs);
      const wanted = group.flatMap((order) => withoutIgnored(order, isIgnored, standing.leftOut));
      count += countAudios(wanted);
      if (atOnce) this.#addBlocking(blocking, wanted, held);
      for (const order of wanted) this.#sortOne(order, held, this.#unclearAtFirst ?? unclear, standing);
    }
    this.#unclearAtFirst ??= unclear;
    if (blocking.length) throw duplicateError(blocking, count === 1 ? 'alone' : 'others');
    if (atOnce && !manifest) refuseOtherSkus(standing);
    return standing;
  }

  /** Without a flag that leaves audios out, one that is held stops all; in a list only what is on order does. */
  #addBlocking(blocking: HeldAudio[], orders: readonly PlannedOrder[], held: HeldAudios): void {
    const { skipOrdered, orExisting, manifest } = this.#options;
    if (skipOrdered || orExisting) return;
    for (const audio of orders.flatMap(({ audios }) => audios)) {
      const found = held.get(audio);
      if (found && !found.otherGuid && (!manifest || found.holder.status === 'placed')) blocking.push(found);
    }
  }

  #sortOne(order: PlannedOrder, held: HeldAudios, unclear: ReadonlySet<string>, standing: Standing): void {
    const retried = new Set<string>();
    const busy = new Map<string, Holder>();
    const [free, waiting]: [Audio[], Audio[]] = [[], []];
    for (const audio of order.audios) {
      const found = held.get(audio);
      if (!found) free.push(audio);
      else if (found.holder.status === 'being sent') {
        waiting.push(audio);
        busy.set(found.holder.id, found.holder);
      } else if (this.#isRetried(found, unclear)) {
        free.push(audio);
        for (const { id } of found.holders) retried.add(id);
      } else this.#leaveOut(found, { ...order, audios: [audio] }, standing);
    }
    if (waiting.length) standing.deferred.push({ order: { ...order, audios: waiting }, holders: busy });
    if (free.length === 0) return;
    // One list for both: of a million audios there would be two.
    const audios = free.length === order.audios.length ? order.audios : free;
    standing.ready.push({ ...order, audios, takeOver: this.#options.again ? 'any' : [...retried] });
  }

  /** `planned`: with one audio. */
  #leaveOut(found: HeldAudio, planned: PlannedOrder, standing: Standing): void {
    const { audio, name, otherGuid, otherSkus } = found;
    const { status, mayBeOver, isOver } = found.holder;
    const holder = kept(found.holder);
    const { skipOrdered, orExisting, retryEnded } = this.#options;
    const { leftOut, existing, failures } = standing;
    const fail = (error: StenoError) => failures.push({ what: describeUrls(planned), error, planned });
    const isOnOrder = status === 'placed' && (skipOrdered || orExisting);
    if (retryEnded && mayBeOver) fail(unpairedError(found));
    else if (isUploadName(name)) fail(sharedUrlError(found));
    else if (otherGuid !== undefined) leftOut.push({ planned, why: 'renumbered', holder, doubt: found });
    else if (!isOnOrder) fail(rowError(found));
    else if (isUploadUrl(audio.names, name)) leftOut.push({ planned, why: 'ordered', holder, doubt: found });
    else if (!orExisting)
      leftOut.push({ planned, why: otherSkus && !isOver ? 'other_skus' : 'ordered', holder });
    else if (otherSkus) fail(otherSkusError(found));
    else existing.push({ planned, why: 'ordered', holder });
  }

  /** Every attempt that holds a name of it must allow it: the ledger has the order take over all of its names. */
  #isRetried({ name, holders }: HeldAudio, unclear: ReadonlySet<string>): boolean {
    return !isUploadName(name) && holders.every((holder) => this.#mayTakeOver(holder, unclear));
  }

  /** An order that was accepted is not ordered again, though its files are not known. */
  #mayTakeOver({ id, status, isAccepted, isOver }: Holder, unclear: ReadonlySet<string>): boolean {
    if (isOver) return this.#options.retryEnded;
    if (!this.#options.retryUnclear || status !== 'unclear' || isAccepted) return false;
    return unclear.has(id);
  }

  /**
   * The same, after the service was asked about what is acted on: files that would be ordered again because they have
   * ended, and those of which only the sequence of the ids says whose they are. What it says may lead to others.
   */
  async #heldNow(orders: readonly PlannedOrder[]): Promise<HeldAudios> {
    const { retryEnded, orExisting, refresh } = this.#options;
    const asked = new Set<string>();
    for (;;) {
      const held = await this.#held(orders);
      const isDoubtful = ({ assumed, isAsked, isOver }: Holder): boolean =>
        retryEnded ? isOver || assumed : orExisting && assumed && !isAsked;
      const files = [...held.values()].flatMap(({ holder }) => (isDoubtful(holder) ? [holder.file] : []));
      const unasked = [...new Set(files)].filter((file) => file && !asked.has(file));
      if (!refresh || unasked.length === 0) return held;
      for (const file of unasked) asked.add(file);
      await refresh(unasked);
    }
  }

  /** The audios that other attempts hold; test orders neither hold nor are held up. */
  async #held(orders: readonly PlannedOrder[]): Promise<HeldAudios> {
    const held = new Map<Audio, HeldAudio>();
    if (!this.#ledger) return held;
    const claims = new Claims(this.#ledger);
    const wanted = orders.flatMap(({ test, audios, skus }) =>
      test ? [] : audios.map((audio) => ({ audio, skus })),
    );
    // One order may have a million audios.
    for (let at = 0; at < wanted.length; at += AUDIOS_PER_QUERY) {
      const some = wanted.slice(at, at + AUDIOS_PER_QUERY);
      const holders = await claims.holders(some.flatMap(({ audio }) => audio.names));
      if (holders.size === 0) continue;
      const found = some.flatMap(({ audio, skus }) => {
        const one = strongest(audio, holders);
        return one ? [this.#withOtherGuid(withOtherSkus(one, skus), this.#ledger as Ledger)] : [];
      });
      for (const each of await Promise.all(found)) held.set(each.audio, each);
    }
    return held;
  }

  /** Hosts that move number their guids anew, so the very same URL under a new guid is hardly a new episode. */
  async #withOtherGuid(held: HeldAudio, ledger: Ledger): Promise<HeldAudio> {
    const { audio, name, holder } = held;
    const guid = audio.details?.guid;
    if (!guid || !isUrlName(name) || holder.status !== 'placed') return held;
    const openAttempts = new OpenAttempts(ledger);
    const ordered = (await openAttempts.audios(holder)).find(({ url }) => isSameUrl(url, audio.url));
    const otherGuid = detailsOf(ordered).guid;
    return otherGuid && otherGuid !== openAttempts.kept(guid) ? { ...held, otherGuid } : held;
  }
}

function refuseOtherSkus({ failures }: Standing): void {
  const other = failures.find(({ error }) => error.duplicate?.reason === 'other_skus');
  if (other) throw other.error;
}

function withoutIgnored(
  order: PlannedOrder,
  isIgnored: ((texts: readonly string[]) => boolean) | undefined,
  leftOut: KeptOut[],
): PlannedOrder[] {
  if (!isIgnored) return [order];
  const audios = order.audios.filter((audio) => {
    const ignored = isIgnored(ignorableTexts(audio));
    if (ignored) leftOut.push({ planned: { ...order, audios: [audio] }, why: 'ignored' });
    return !ignored;
  });
  if (audios.length === order.audios.length) return [order];
  return audios.length ? [{ ...order, audios }] : [];
}

/**
 * Its end was written before this command began; by the clock too, because reading the ledger comes later. Not by two
 * clocks: the ledger says how long ago its own clock saw the end.
 */
function addUnclear(unclear: Set<string>, held: HeldAudios, begunAgoMs: number): void {
  for (const { holders } of held.values())
    for (const { id, status, endedAgoMs } of holders)
      if (status === 'unclear' && endedAgoMs > begunAgoMs) unclear.add(id);
}

/** Whole orders, with some thousands of audios at a time: the holders of a million would fill the memory. One at least. */
function* inGroups(orders: readonly PlannedOrder[]): Generator<readonly PlannedOrder[]> {
  let [group, audios]: [PlannedOrder[], number] = [[], 0];
  for (const order of orders) {
    if (audios + order.audios.length > AUDIOS_PER_GROUP && audios > 0) {
      yield group;
      [group, audios] = [[], 0];
    }
    group.push(order);
    audios += order.audios.length;
  }
  yield group;
}

/** Where it is on order with SKUs that do not make up for those that are wanted: with these. */
function withOtherSkus(found: HeldAudio, wanted: readonly string[]): HeldAudio {
  const { status, skus } = found.holder;
  return status === 'placed' && skus.length && !areOrdered(wanted, skus)
    ? { ...found, otherSkus: wanted }
    : found;
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

const kept = ({ id, attempt, order, file, assumed, skus }: Holder): KeptHolder => ({
  ...{ id, attempt, order, file, assumed, skus },
});
