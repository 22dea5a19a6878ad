/** What planned orders will cost, from the prices that are set and those that were learned; and whether they may. */

import type { Transport } from '../../api/http/transport.ts';
import { decodeKeptInvoice } from '../../api/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OrderCost, SpendingLimit } from '../../ledger/new-order.ts';
import { type Budget, parseBudget, periodAt, withCurrency } from '../../lib/budget.ts';
import { nowMs } from '../../lib/clock.ts';
import type { Failure } from '../../lib/errors.ts';
import { Fraction } from '../../lib/fraction.ts';
import type { Money } from '../../lib/money.ts';
import type { Report } from '../../lib/progress.ts';
import type { Settings } from '../../settings/settings.ts';
import { failures } from '../bulk.ts';
import { fetchInvoices, missingInvoices } from '../invoices/keep.ts';
import { billedFiles } from '../prices/billed-files.ts';
import { type Estimate, estimateCost, type PlannedAudio, pricesFromSettings } from '../prices/estimate.ts';
import { learnPrices } from '../prices/learn.ts';
import { checkBudget, checkMaxCost } from '../prices/limits.ts';
import type { Price } from '../prices/price.ts';
import { nameOf, type PlannedOrder } from './planned-order.ts';

export interface CostSettings {
  /** Prices of a minute by SKU, as they are set. */
  readonly prices: Readonly<Record<string, string>>;
  /** Of amounts that say none; empty where it is not known. */
  readonly currency: string;
  readonly budget: Budget | undefined;
}

export function costSettings(settings: Settings): CostSettings {
  const budget = settings.get('budget').value;
  const { currency } = settings;
  return {
    prices: settings.prices,
    currency,
    budget: budget === undefined ? undefined : withCurrency(parseBudget(budget), currency),
  };
}

export interface Limits {
  readonly maxCost: Money | undefined;
  /** What has no known price may be ordered all the same. */
  readonly allowsUnpriced: boolean;
}

/** Whole seconds, rounded up: what plays a little longer is billed as the longer one. */
const minutesOf = (seconds: number | undefined): Fraction | undefined =>
  seconds === undefined ? undefined : Fraction.of(Math.ceil(seconds), 60);

const MILLION = Fraction.of(1_000_000);
/** A database holds no larger number; what costs that much is over any budget. */
const millionthsOf = (amount: Fraction): number =>
  Math.min(Number(amount.times(MILLION).ceiling().toExact()), Number.MAX_SAFE_INTEGER);

export class OrderCosts {
  /** What the ledger must hold each order to; absent without a budget. */
  readonly limit: SpendingLimit | undefined;
  readonly #ledger: Ledger | undefined;
  readonly #settings: CostSettings;
  readonly #limits: Limits;
  readonly #prices: ReadonlyMap<string, Price>;

  private constructor(
    ledger: Ledger | undefined,
    settings: CostSettings,
    limits: Limits,
    prices: ReadonlyMap<string, Price>,
  ) {
    const { budget } = settings;
    this.#ledger = ledger;
    this.#settings = settings;
    this.#limits = limits;
    this.#prices = prices;
    this.limit = budget && {
      since: periodAt(budget.period, nowMs()).start,
      millionths: millionthsOf(budget.limit.amount),
    };
  }

  /** Prices that were learned are read only where the cost counts: each order would wait for them. */
  static async open(
    ledger: Ledger | undefined,
    settings: CostSettings,
    limits: Limits & { readonly learns: boolean },
  ): Promise<OrderCosts> {
    const prices = await knownPrices(limits.learns ? ledger : undefined, settings);
    return new OrderCosts(ledger, settings, limits, prices);
  }

  /** Test orders cost nothing. */
  estimate(orders: readonly PlannedOrder[]): Estimate {
    return estimateCost(audiosOf(orders), this.#prices, this.#settings.currency);
  }

  /** What an order counts for in the ledger: the upper end of its estimate; with --unpriced, what is known of it. */
  costOf(order: PlannedOrder): OrderCost | undefined {
    const { total, known } = this.estimate([order]);
    const [part, ...more] = known;
    if (total) return { millionths: millionthsOf(total.high), currency: total.currency };
    return part && more.length === 0
      ? { millionths: millionthsOf(part.amount), currency: part.currency }
      : undefined;
  }

  /** Throws where all of these together may not be ordered. */
  async check(orders: readonly PlannedOrder[]): Promise<void> {
    const { maxCost } = this.#limits;
    if (maxCost) checkMaxCost(this.estimate(orders), maxCost);
    await this.checkBudget(orders);
  }

  /** Throws where the budget does not reach for these. */
  async checkBudget(orders: readonly PlannedOrder[]): Promise<void> {
    const { budget } = this.#settings;
    if (!budget || !this.limit || !this.#ledger || orders.every(({ test }) => test)) return;
    const rows = await this.#ledger.spending.since(this.limit.since);
    const amounts = rows.map(({ currency, millionths }) => ({
      amount: Fraction.of(millionths, 1_000_000),
      currency,
    }));
    const spent = { amounts, unpriced: rows.reduce((sum, { unknown }) => sum + unknown, 0) };
    const { allowsUnpriced } = this.#limits;
    checkBudget({ budget, spent, estimate: this.estimate(orders), allowsUnpriced, now: nowMs() });
  }
}

function* audiosOf(orders: readonly PlannedOrder[]): Generator<PlannedAudio> {
  for (const { test, audios, skus } of orders) {
    if (test) continue;
    for (const audio of audios)
      yield { name: nameOf(audio), skus, minutes: minutesOf(audio.details?.seconds) };
  }
}

/** Price by SKU: those that are set go before those that were learned. */
async function knownPrices(
  ledger: Ledger | undefined,
  { prices, currency }: CostSettings,
): Promise<Map<string, Price>> {
  const set = pricesFromSettings(prices, currency);
  if (!ledger) return set;
  const invoices = (await ledger.invoices.all()).flatMap((kept) => decodeKeptInvoice(kept) ?? []);
  const items = invoices.flatMap(({ id, created, items }) =>
    items.map((item) => ({ ...item, invoice: id, created })),
  );
  const learned = learnPrices({ items, files: await billedFiles(ledger) }, currency);
  return new Map([...learned, ...set]);
}

/** More would hold up an order. */
const MAX_INVOICES = 50;

/**
 * Fetches invoices that the ledger knows of and has not kept: without them few prices are known. Connects only where
 * there is one to fetch, and gives what failed; no connection means no key.
 */
export async function learnFromService(
  connect: () => Promise<Transport | undefined>,
  ledger: Ledger,
  report?: Report,
): Promise<readonly Failure[]> {
  if ((await missingInvoices(ledger)).length === 0) return [];
  const transport = await connect();
  return transport ? failures(await fetchInvoices(transport, ledger, { limit: MAX_INVOICES, report })) : [];
}
