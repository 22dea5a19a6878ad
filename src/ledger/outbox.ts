/**
 * Outcomes of purchases until the ledger has them: kept on this machine, and handed over by the next command that can
 * write to the ledger. What the service has accepted must not be forgotten because a database went away or a disk is full.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { throwUnlessUnableToSync } from '../lib/disk-reasons.ts';
import { errorCode, errorMessage } from '../lib/errors.ts';
import { makeFolder, syncFolder } from '../lib/folders.ts';
import { isRunning } from '../lib/processes.ts';
import type { Begun, NewPurchase, PlacedOrder } from './purchase.ts';

export type Outcome =
  | { readonly kind: 'placed'; readonly placed: PlacedOrder }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused' | 'uncertain'; readonly detail: string };

export interface KeptOutcome {
  readonly begun: Begun;
  /** By the clock of the ledger. */
  readonly at: string;
  /** All of it: a ledger that was restored, or has failed over, may have lost it. */
  readonly purchase: NewPurchase;
  readonly outcome: Outcome;
}

/** Whose outcomes these are: another account, or another ledger, takes none of them. */
export interface OutboxOwner {
  readonly account: string;
  readonly ledger: string;
}

/** What can't be handed over is told, and stays. */
export type OnTrouble = (text: string, hint?: string) => Promise<void>;

const SUFFIX = '.json';
const DRAFT = /\.(\d+)\.new$/;

export class Outbox {
  readonly #folder: string;
  readonly #owner: () => OutboxOwner;

  /** `owner` is asked when it is needed: which ledger it is, is known when it was reached. */
  constructor(folder: string, owner: () => OutboxOwner) {
    this.#folder = folder;
    this.#owner = owner;
  }

  /** On disk when this returns; gives what removes it again. */
  add(kept: KeptOutcome): () => void {
    makeFolder(this.#folder, 0o700);
    const { randomUUID } = process.getBuiltinModule('node:crypto');
    const path = join(this.#folder, `${randomUUID()}${SUFFIX}`);
    const draft = `${path}.${process.pid}.new`;
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeAndSync(file, Buffer.from(JSON.stringify({ ...this.#owner(), ...kept })));
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    syncFolder(this.#folder);
    return () => rmSync(path, { force: true });
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
          `what became of a purchase is in ${path}, and the ledger could not take it: ${errorMessage(error)}`,
          'it is unclear until then: steno attempts',
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

function writeAndSync(file: number, bytes: Uint8Array): void {
  // A disk that is nearly full takes a part.
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
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
  const { account, ledger, begun, at, purchase, outcome } = found;
  const texts = [account, ledger, begun?.id, begun?.startedAt, at, outcome?.kind];
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
