/**
 * Outcomes of orders that the ledger could not take: kept on this machine, and handed over by the next command that
 * reaches the ledger. What the service has accepted must not be forgotten because a database went away.
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
import { makeFolder } from '../lib/folders.ts';
import type { NewOrder, PlacedOrder } from './new-order.ts';

export type Outcome =
  | { readonly kind: 'placed'; readonly order: NewOrder; readonly placed: PlacedOrder }
  | { readonly kind: 'refused' | 'uncertain'; readonly detail: string };

/** An attempt of which it is not known whether the ledger has it, and which was not sent. */
export interface UnsentAttempt {
  readonly account: string;
  readonly unsent: string;
}

export interface AttemptOutcome {
  /** Rows of another account are handed over by a command of that account. */
  readonly account: string;
  readonly attempt: number;
  readonly outcome: Outcome;
}

export type KeptOutcome = AttemptOutcome | UnsentAttempt;

const SUFFIX = '.json';

export class Outbox {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** On disk when this returns. */
  add(kept: KeptOutcome): void {
    makeFolder(this.#folder, 0o700);
    const { randomUUID } = process.getBuiltinModule('node:crypto');
    const draft = join(this.#folder, `${randomUUID()}.new`);
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, JSON.stringify(kept));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, draft.replace(/\.new$/, SUFFIX));
  }

  /** Hands over each outcome of the account; one that can't be taken stays. */
  async handOver(account: string, take: (kept: KeptOutcome) => Promise<void>): Promise<void> {
    for (const path of this.#paths()) {
      const kept = JSON.parse(readFileSync(path, 'utf8')) as KeptOutcome;
      if (kept.account !== account) continue;
      await take(kept);
      rmSync(path, { force: true });
    }
  }

  #paths(): string[] {
    try {
      const names = readdirSync(this.#folder).filter((name) => name.endsWith(SUFFIX));
      return names.map((name) => join(this.#folder, name));
    } catch {
      // Mostly there is no such folder.
      return [];
    }
  }
}
