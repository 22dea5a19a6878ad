/** A ledger of either kind, and what a test does with its attempts. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Audio, makeAudio } from '../../src/ledger/audio-names.ts';
import type { Holder } from '../../src/ledger/claims.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { NewOrder, PlacedOrder } from '../../src/ledger/new-order.ts';
import type { LedgerStore } from '../../src/ledger/store.ts';
import type { LedgerPlace, StoreKind } from './open-ledger.ts';

export const url = (name: string): string => `https://e.example/${name}.mp3`;
export const audioOf = (name: string): Audio => makeAudio(url(name));
export const newOrder = (names: string, more: Partial<NewOrder> = {}): NewOrder => ({
  ...{ audios: names.split(' ').map(audioOf), skus: ['TRANS14', 'SPKR2'], names: ['Ann', 'Bob'] },
  ...{ notes: 'loud', test: false },
  ...more,
});
export const placedAs = (id: string, ...audiofiles: string[]): PlacedOrder => ({
  id,
  audiofiles,
  hold: undefined,
});

interface Opened {
  readonly place: LedgerPlace;
  readonly ledger: Ledger;
  store: LedgerStore | undefined;
  readonly others: Ledger[];
}

/** A fresh ledger for each test. */
export class TestLedger {
  #opened: Opened | undefined;

  constructor(kind: StoreKind) {
    beforeAll(() => kind.start(), 60_000);
    afterAll(() => kind.stop());
    beforeEach(async () => {
      const place = kind.newPlace();
      this.#opened = { place, ledger: await place.open(), store: undefined, others: [] };
    });
    afterEach(async () => {
      const { ledger, store, others = [] } = this.#opened ?? {};
      for (const each of [ledger, store, ...others]) await each?.close();
    });
  }

  get #now(): Opened {
    if (!this.#opened) throw new Error('no test is running');
    return this.#opened;
  }

  get ledger(): Ledger {
    return this.#now.ledger;
  }

  /** The same ledger for another account. */
  async other(): Promise<Ledger> {
    const other = await this.#now.place.open('other');
    this.#now.others.push(other);
    return other;
  }

  async store(): Promise<LedgerStore> {
    this.#now.store ??= await this.#now.place.store();
    return this.#now.store;
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.store()).all(sql);
  }

  /** Begins an attempt at what nothing holds. */
  async begin(names: string, more: Partial<NewOrder> = {}): Promise<number> {
    return Number(await this.again(names, [], more));
  }

  /** Begins one that may take over names. */
  again(
    names: string,
    from: readonly number[] | 'any' = [],
    more: Partial<NewOrder> = {},
  ): Promise<number | undefined> {
    return this.ledger.attempts.begin(newOrder(names, more), from);
  }

  async place(name: string, order: string, ...files: string[]): Promise<number> {
    const attempt = await this.begin(name);
    await this.ledger.attempts.markPlaced(attempt, newOrder(name), placedAs(order, ...files));
    return attempt;
  }

  async unclear(names: string): Promise<number> {
    const attempt = await this.begin(names);
    await this.ledger.attempts.markUncertain(attempt, 'no answer');
    return attempt;
  }

  async holderOf(name: string, from = this.ledger): Promise<Holder | undefined> {
    return (await from.claims.holders(audioOf(name).names)).get(`url ${url(name)}`);
  }
}
