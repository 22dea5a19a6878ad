/**
 * Outcomes of purchases until the ledger has them: kept on this machine, and handed over by the next command that can
 * write to the ledger. What the service has accepted must not be forgotten because a ledger is locked or went away, or a
 * disk is full: the room for it is taken before the purchase is sent.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode, systemReason } from '../lib/errors.ts';
import { makeFolder, syncFolder, throwUnlessUnableToSync } from '../lib/fs.ts';
import { isRunning } from '../lib/processes.ts';
import { shellWord } from '../lib/text.ts';
import type { Begun, NewPurchase, PlacedOrder, PurchaseSender } from './purchase.ts';

export type PurchaseOutcome =
  | { readonly kind: 'placed'; readonly placed: PlacedOrder }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' | 'uncertain'; readonly detail: string };

export interface KeptOutcome {
  readonly begun: Begun;
  /** By the clock of the ledger. */
  readonly at: string;
  readonly sender: PurchaseSender;
  /** All of it: a ledger that was restored, or has failed over, may have lost it. */
  readonly purchase: NewPurchase;
  readonly outcome: PurchaseOutcome;
}

/** Whose outcomes these are: another account, or another ledger, takes none of them. */
export interface OutboxOwner {
  readonly account: string;
  readonly ledger: string;
}

/** The line that tells the ledger what only this process knows. */
export function howToRecord({ attempt }: Begun, outcome: PurchaseOutcome): string {
  const settle = `when the ledger is writable again, run: steno attempts settle ${attempt}`;
  if (outcome.kind === 'refused') return `${settle} --not-placed`;
  const { id = '', audiofiles = [] } = outcome.kind === 'placed' ? outcome.placed : {};
  if (!id) return 'until the ledger is writable again, its outcome is unknown; see: steno attempts';
  const files = audiofiles.map((file) => ` --file ${shellWord(file)}`);
  return `${settle} --placed ${shellWord(id)}${files.join('')}`;
}

/** What can't be handed over is told, and stays. */
export type OnTrouble = (text: string, hint?: string) => Promise<void>;

/** Room for the order and a hold, and for each of its files. */
const ANSWER_BYTES = 4096;
const FILE_BYTES = 128;

const SUFFIX = '.json';
const DRAFT = /\.(\d+)\.new$/;

/** Each outcome is in a file that is named for its purchase, and in a draft of it before. */
export class Outbox {
  readonly #folder: string;
  readonly #owner: () => OutboxOwner;

  /** `owner` is asked when it is needed: which ledger it is, is known when it was reached. */
  constructor(folder: string, owner: () => OutboxOwner) {
    this.#folder = folder;
    this.#owner = owner;
  }

  /** Makes room for the outcome of a purchase; not synced, because it is only there to be written over. */
  reserve(purchase: NewPurchase, id: string): void {
    const bytes = JSON.stringify(purchase).length * 2 + ANSWER_BYTES + purchase.audios.length * FILE_BYTES;
    this.#write(id, (file) => writeAll(file, Buffer.alloc(bytes, ' ')));
  }

  /** On disk when this returns. */
  keep(kept: KeptOutcome): void {
    const { id } = kept.begun;
    const bytes = Buffer.from(JSON.stringify({ ...this.#owner(), ...kept }));
    this.#write(id, (file) => {
      writeAll(file, bytes);
      ftruncateSync(file, bytes.length);
      sync(file);
    });
    renameSync(this.#draftOf(id), this.#pathOf(id));
    syncFolder(this.#folder);
  }

  /** Gives back the room; an outcome that is kept stays. */
  release(id: string): void {
    rmSync(this.#draftOf(id), { force: true });
  }

  /** The ledger has the outcome. */
  remove(id: string): void {
    this.release(id);
    rmSync(this.#pathOf(id), { force: true });
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }

  #draftOf(id: string): string {
    return `${this.#pathOf(id)}.${process.pid}.new`;
  }

  #write(id: string, work: (file: number) => void): void {
    makeFolder(this.#folder, 0o700);
    // Over what is there: a disk that is full has room for that.
    const file = openSync(this.#draftOf(id), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      work(file);
    } finally {
      closeSync(file);
    }
  }

  /** Hands over each outcome; another process may do so at the same time, so `take` may see one twice. */
  async handOver(take: (kept: KeptOutcome) => Promise<void>, onTrouble: OnTrouble): Promise<void> {
    this.#removeDrafts();
    for (const path of this.#paths()) {
      try {
        const text = readIfThere(path);
        const kept = text === undefined ? undefined : parse(text);
        if (!kept || !this.#isOurs(kept)) continue;
        await take(kept);
        rmSync(path, { force: true });
      } catch (error) {
        await onTrouble(
          `the outcome of a purchase, saved in ${path}, could not be written to the ledger: ${systemReason(error)}`,
          'until then, the outcome of the purchase counts as unknown; see: steno attempts',
        );
      }
    }
  }

  #isOurs({ account, ledger }: OutboxOwner): boolean {
    const own = this.#owner();
    return account === own.account && ledger === own.ledger;
  }

  /** How many wait for a command of this account, whichever ledger they are for. */
  static count(folder: string, account: string): number {
    return new Outbox(folder, () => ({ account, ledger: '' })).#countOf(account);
  }

  #countOf(account: string): number {
    const texts = this.#paths().map((path) => readIfThere(path));
    return texts.filter((text) => text !== undefined && asObject(text).account === account).length;
  }

  /** A process that was killed before an outcome was whole: its order is unclear. */
  #removeDrafts(): void {
    for (const name of this.#names()) {
      const [, pid] = DRAFT.exec(name) ?? [];
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(this.#folder, name), { force: true });
    }
  }

  #paths(): string[] {
    const names = this.#names().filter((name) => name.endsWith(SUFFIX));
    return names.map((name) => join(this.#folder, name));
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      // Mostly there is no such folder.
      return [];
    }
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  // A disk that is nearly full takes a part.
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
}

function sync(file: number): void {
  try {
    fsyncSync(file);
  } catch (error) {
    throwUnlessUnableToSync(error);
  }
}

/** Another process may have handed it over meanwhile. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): KeptOutcome & OutboxOwner {
  const found = asObject(text);
  const { account, ledger, begun, at, sender, purchase, outcome } = found;
  const texts = [account, ledger, begun?.id, begun?.startedAt, at, sender?.host, outcome?.kind];
  const lacks = {
    placed: () => !Array.isArray((outcome as { placed?: PlacedOrder }).placed?.audiofiles),
    done: () => false,
    refused: () => typeof (outcome as { detail?: string }).detail !== 'string',
    uncertain: () => typeof (outcome as { detail?: string }).detail !== 'string',
  }[outcome?.kind ?? 'done'];
  if (texts.some((each) => typeof each !== 'string') || !Array.isArray(purchase?.audios) || !lacks || lacks())
    throw new Error('it is damaged');
  return found as KeptOutcome & OutboxOwner;
}

function asObject(text: string): Partial<KeptOutcome & OutboxOwner> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<KeptOutcome & OutboxOwner>;
  } catch {
    throw new Error('it is damaged');
  }
}
