/** A ledger of either kind, and what a test does with its attempts. */

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { SpentRow } from '../../src/ledger/budgets.ts';
import { Budgets, type SpendingLimit } from '../../src/ledger/budgets.ts';
import { Claims, type Holder, type TakeOver } from '../../src/ledger/claims.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { type Attempt, OpenAttempts } from '../../src/ledger/open-attempts.ts';
import type { OrderedFile, OrderedFiles } from '../../src/ledger/ordered-files.ts';
import {
  type Audio,
  type Begun,
  makeAudio,
  type NewPurchase,
  type PlacedOrder,
} from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import type { LedgerStore } from '../../src/ledger/stores/store.ts';
import { millionthsOf } from '../../src/lib/money.ts';
import type { LedgerPlace, StoreKind } from './open-ledger.ts';

export const url = (name: string): string => `https://e.example/${name}.mp3`;
export const audioOf = (name: string): Audio => makeAudio(url(name));
export const newOrder = (names: string, more: Partial<NewPurchase> = {}): NewPurchase => ({
  ...{ audios: names.split(' ').map(audioOf), skus: ['TRANS14', 'SPKR2'], names: ['Ann', 'Bob'] },
  ...{ notes: 'loud', test: false },
  ...more,
});
/** An order of one audio that costs this much. */
export const costing = (name: string, millionths: number, currency = 'USD'): NewPurchase => {
  const { url: from, names } = audioOf(name);
  return newOrder(name, { audios: [{ url: from, names, cost: { millionths, currency } }] });
};
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

/** A purchase that was begun, with what it is of. */
export interface Sent extends Begun {
  readonly purchase: NewPurchase;
}

export async function begin(
  ledger: Ledger,
  purchase: NewPurchase,
  from: TakeOver = [],
  limits: readonly SpendingLimit[] = [],
): Promise<Sent | undefined> {
  const begun = await new Purchases(ledger).begin(purchase, from, limits);
  return begun && { ...begun, purchase };
}

/** Begins a purchase of what nothing holds. */
export async function beginFree(ledger: Ledger, purchase: NewPurchase): Promise<Sent> {
  const sent = await begin(ledger, purchase);
  if (!sent) throw new Error('something holds it');
  return sent;
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

  get attempts(): OpenAttempts {
    return new OpenAttempts(this.ledger);
  }

  get purchases(): Purchases {
    return new Purchases(this.ledger);
  }

  get claims(): Claims {
    return new Claims(this.ledger);
  }

  get budgets(): Budgets {
    return new Budgets(this.ledger);
  }

  /** The same ledger for another account. */
  other(): Promise<Ledger> {
    return this.another('other');
  }

  /** The same ledger once more, over a connection of its own. */
  async another(profile = 'default'): Promise<Ledger> {
    const another = await this.#now.place.open(profile);
    this.#now.others.push(another);
    return another;
  }

  async store(): Promise<LedgerStore> {
    this.#now.store ??= await this.#now.place.store();
    return this.#now.store;
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.store()).all(sql);
  }

  /** Begins an order of what nothing holds. */
  begin(names: string, more: Partial<NewPurchase> = {}): Promise<Sent> {
    return beginFree(this.ledger, newOrder(names, more));
  }

  /** Begins one that may take over names. */
  again(
    names: string,
    from: readonly Sent[] | 'any' = [],
    more: Partial<NewPurchase> = {},
  ): Promise<Sent | undefined> {
    const ids = from === 'any' ? from : from.map(({ id }) => id);
    return begin(this.ledger, newOrder(names, more), ids);
  }

  /** Orders what is on order, as `--again` does. */
  async anyway(names: string): Promise<Sent> {
    const sent = await this.again(names, 'any');
    if (!sent) throw new Error('it was not begun');
    return sent;
  }

  async place(name: string, order: string, ...files: string[]): Promise<Sent> {
    const sent = await this.begin(name);
    await this.markPlaced(sent, placedAs(order, ...files));
    return sent;
  }

  async unclear(names: string): Promise<Sent> {
    const sent = await this.begin(names);
    await this.markUncertain(sent);
    return sent;
  }

  markPlaced(sent: Sent, placed: PlacedOrder): Promise<OrderedFiles> {
    return this.purchases.markPlaced(sent, sent.purchase, placed);
  }

  markRefused(sent: Sent, detail = 'no'): Promise<void> {
    return this.purchases.markRefused(sent, sent.purchase, detail);
  }

  markUncertain(sent: Sent, detail = 'no answer'): Promise<void> {
    return this.purchases.markUncertain(sent, sent.purchase, detail);
  }

  renew(sent: Sent): Promise<boolean> {
    return this.purchases.renew(sent, sent.purchase);
  }

  /** An attempt as people see it. */
  async attempt({ attempt }: Begun): Promise<Attempt> {
    const found = await this.attempts.get(attempt);
    if (!found) throw new Error(`there is no attempt ${attempt}`);
    return found;
  }

  async settlePlaced(begun: Begun, order: string, files: readonly OrderedFile[] = []): Promise<boolean> {
    return this.attempts.settlePlaced(await this.attempt(begun), order, files);
  }

  async settleNotPlaced(begun: Begun): Promise<boolean> {
    return this.attempts.settleNotPlaced(await this.attempt(begun));
  }

  async reopen(begun: Begun): Promise<boolean> {
    return this.attempts.reopen(await this.attempt(begun));
  }

  async holderOf(name: string, from = this.ledger): Promise<Holder | undefined> {
    return (await new Claims(from).holders(audioOf(name).names)).get(`url ${url(name)}`);
  }
}

/** What was spent, as numbers that tests compare. */
export const inMillionths = ({ currency, billed, estimated, refunded }: SpentRow) => ({
  ...{ currency, billed: millionthsOf(billed), estimated: millionthsOf(estimated) },
  refunded: millionthsOf(refunded),
});
