/** What planned orders will cost, from the prices that are set and those that were learned; and whether they may. */
import { decodeKeptInvoice } from '../../api/account.ts';
import type { Transport } from '../../api/http/transport.ts';
import {
  Budgets,
  type KeptBudget,
  type SpendingLimit,
  type SpentRow,
  type UnpricedItem,
} from '../../ledger/budgets.ts';
import { Files } from '../../ledger/files.ts';
import { Invoices } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Cost, detailsOf, type NewPurchase } from '../../ledger/purchase.ts';
import { type Failure, StenoError, usage } from '../../lib/errors.ts';
import {
  type BudgetPeriod,
  budgetPeriods,
  budgetText,
  DEFAULT_CURRENCY,
  Fraction,
  fromMillionths,
  type Money,
  millionthsOf,
  moneyText,
  parseBudget,
  parseNumber,
  periodAt,
  sumOf,
  withCurrency,
} from '../../lib/money.ts';
import type { Report } from '../../lib/progress.ts';
import type { Settings } from '../../settings/settings.ts';
import { failures } from '../bulk.ts';
import { type Estimate, estimateCost, type Price, pricesFromSettings } from '../prices/estimate.ts';
import { fetchInvoices, missingOf } from '../prices/invoices.ts';
import { learnPrices } from '../prices/learn.ts';
import {
  type BudgetInForce,
  budgetState,
  checkBudget,
  checkMaxCost,
  NotCovered,
  type Spent,
} from '../prices/limits.ts';
import { nameOf, type PlannedOrder, rowOf, splitRows } from './planned-order.ts';

interface CostOptions {
  readonly maxCost?: Money | undefined;
  /** Allows orders of unknown cost. */
  readonly unpriced: boolean;
  readonly upToBudget?: boolean;
  readonly isShown?: boolean;
}

interface CostFacts {
  readonly nowMs: number;
  readonly budget: KeptBudget | undefined;
  readonly spent: ReadonlyMap<BudgetPeriod, readonly SpentRow[]>;
  readonly unpriced: ReadonlyMap<BudgetPeriod, readonly UnpricedItem[]>;
  /** Ids of invoices that files name and that are to be fetched, of the newest file first. */
  readonly missing: readonly string[];
}

/** Older ones say little about the next order. */
const MAX_FILES = 500;
/** Fetching more would delay the order. */
const MAX_INVOICES = 50;
/** The largest sum that the database can hold. */
const MAX_LIMIT = '9'.repeat(18);

/** Which rows the budgets cover; without a `firstLeftOut` all of them. No row is covered where `problem` is there. */
interface Coverage {
  readonly firstLeftOut?: number;
  readonly why?: NotCovered;
  readonly problem?: StenoError;
}

export class OrderCosts {
  readonly #ledger: Ledger | undefined;
  readonly #settings: Settings;
  readonly #options: CostOptions;
  readonly #budget: BudgetInForce | undefined;
  /** By SKU; those that are set go before those that were learned. */
  #prices: ReadonlyMap<string, Price>;
  #facts: CostFacts | undefined;

  constructor(ledger: Ledger | undefined, settings: Settings, options: CostOptions) {
    const { currency } = settings;
    const { maxCost } = options;
    this.#ledger = ledger;
    this.#settings = settings;
    this.#options = {
      ...options,
      maxCost: maxCost && { ...maxCost, currency: maxCost.currency || currency },
    };
    this.#prices = pricesFromSettings(settings.prices, currency);
    const { value, source } = settings.get('budget');
    const from = source.startsWith('environment') ? 'environment' : 'setting';
    this.#budget = value === undefined ? undefined : { budget: this.#parse(value), from };
  }

  #parse = (text: string) => withCurrency(parseBudget(text), this.#settings.currency);

  /** The ledger's budget and the one in the settings: an order must fit both. */
  get #budgets(): BudgetInForce[] {
    const kept = this.#facts?.budget;
    return [
      ...(kept ? [{ budget: this.#parse(kept.budget), from: 'ledger' as const }] : []),
      ...(this.#budget ? [this.#budget] : []),
    ];
  }

  get isLimited(): boolean {
    return this.#budgets.length > 0;
  }

  /** Reads what the ledger says now; a price or a length of earlier purchases may be known by now. */
  async read(): Promise<void> {
    if (!this.#ledger) return;
    await this.#readFacts(this.#ledger);
    const items = this.#budgets.flatMap(({ budget }) => this.#facts?.unpriced.get(budget.period) ?? []);
    const priced = items.flatMap((item) => {
      const cost = costOf(this.#estimateOf(item));
      return cost && item.skus ? [{ ...item, ...cost }] : [];
    });
    if (priced.length === 0) return;
    await new Budgets(this.#ledger).price(priced);
    await this.#readFacts(this.#ledger);
  }

  /** All is asked for at once: over a network it is one round trip with other questions. */
  async #readFacts(ledger: Ledger): Promise<void> {
    const { isShown, maxCost } = this.#options;
    const budgets = new Budgets(ledger);
    const nowMs = await budgets.nowMs();
    // Whether the ledger has a budget is not known yet.
    const onlyUnderBudget = !isShown && maxCost === undefined && this.#budget === undefined;
    const ofPeriods = <Row>(read: (since: string, ifPeriod: string) => Promise<Row[]>) =>
      Promise.all(
        budgetPeriods.map(async (period): Promise<[BudgetPeriod, Row[]]> => {
          const ifPeriod = this.#budget?.budget.period === period ? '' : period;
          return [period, await read(periodAt(period, nowMs).start, ifPeriod)];
        }),
      );
    const [budget, spent, unpriced, kept, named, delivered] = await Promise.all([
      budgets.get(),
      ofPeriods((since, ifPeriod) => budgets.spentSince(since, ifPeriod)),
      ofPeriods((since, ifPeriod) => budgets.unpriced(since, ifPeriod)),
      new Invoices(ledger).all(onlyUnderBudget),
      new Files(ledger).invoices(onlyUnderBudget),
      new Files(ledger).page({ states: ['Delivered'], onlyUnderBudget }, MAX_FILES),
    ]);
    const lengths = new Map(delivered.flatMap(({ id, duration, test }) => (test ? [] : [[id, duration]])));
    const items = kept.flatMap((each) => {
      const { id = '', created = '', items = [] } = decodeKeptInvoice(each) ?? {};
      return items.map((item) => ({ ...item, invoice: id, created }));
    });
    const { currency, prices } = this.#settings;
    this.#prices = new Map([
      ...learnPrices(items, lengths, currency),
      ...pricesFromSettings(prices, currency),
    ]);
    const missing = missingOf(named, kept).slice(0, MAX_INVOICES);
    this.#facts = {
      ...{ nowMs, budget, spent: new Map(spent), unpriced: new Map(unpriced), missing },
    };
  }

  /**
   * Where costs count, fetches invoices that the ledger knows of and has not kept: without them few prices are known.
   * Connects only where there is one to fetch; no connection means no key. Gives what failed.
   */
  async learn(connect: () => Promise<Transport | undefined>, report?: Report): Promise<readonly Failure[]> {
    const { missing = [] } = this.#facts ?? {};
    const { isShown, maxCost } = this.#options;
    const counts = isShown || maxCost !== undefined || this.isLimited;
    if (!this.#ledger || !counts || missing.length === 0) return [];
    const transport = await connect();
    if (!transport) return [];
    const outcomes = await fetchInvoices(transport, this.#ledger, missing, report);
    await this.read();
    return failures(outcomes);
  }

  requireBudget(): void {
    const { unpriced, upToBudget } = this.#options;
    if ((unpriced || upToBudget) && !this.isLimited)
      throw usage(
        `${unpriced ? '--unpriced' : '--up-to-budget'} requires a budget`,
        'set one with: steno budget set 200/month   (or leave out the flag)',
      );
  }

  get limits(): SpendingLimit[] {
    const nowMs = this.#facts?.nowMs;
    if (nowMs === undefined) return [];
    return this.#budgets.map(({ budget }) => ({
      since: periodAt(budget.period, nowMs).start,
      millionths: limitText(budget.limit.amount),
      allowsUnknown: this.#options.unpriced,
    }));
  }

  /** Test orders cost nothing. */
  estimate(orders: readonly NewPurchase[]): Estimate {
    return estimateCost(audiosOf(orders), this.#prices, this.#settings.currency);
  }

  #costOfAudio(order: NewPurchase, audio: NewPurchase['audios'][number]): Cost | undefined {
    return costOf(this.estimate([{ ...order, audios: [audio] }]));
  }

  /** The order as the ledger keeps it: with what each of its audios is expected to cost. */
  priced(order: NewPurchase): NewPurchase {
    const audios = order.audios.map((audio) => {
      const { url, key, names, details, file, totalBefore } = audio;
      return { url, key, names, details, file, totalBefore, cost: this.#costOfAudio(order, audio) };
    });
    return { ...order, audios };
  }

  /** Throws where all of these together may not be ordered. `sent`: by others, who have them in the budget already. */
  check(orders: readonly NewPurchase[], sent: readonly NewPurchase[] = []): void {
    const { maxCost } = this.#options;
    if (maxCost) checkMaxCost(this.estimate([...orders, ...sent]), maxCost);
    this.checkBudgets(orders);
  }

  problemOf(orders: readonly NewPurchase[], sent: readonly NewPurchase[] = []): StenoError | undefined {
    return thrownBy(() => this.check(orders, sent));
  }

  /** Throws where a budget does not cover all of these; tests cost nothing. */
  checkBudgets(orders: readonly NewPurchase[]): void {
    const bought = orders.filter(({ test }) => !test);
    const facts = this.#facts;
    if (!facts || bought.length === 0 || !this.isLimited) return;
    const estimate = this.#counted(bought);
    const allowsUnpriced = this.#options.unpriced;
    for (const each of this.#budgets)
      checkBudget({ ...each, spent: this.#spentOf(each, facts), estimate, allowsUnpriced, now: facts.nowMs });
  }

  #spentOf({ budget: { period } }: BudgetInForce, { spent, unpriced }: CostFacts): Spent {
    return {
      amounts: (spent.get(period) ?? []).map(({ currency, billed, estimated, refunded }) => ({
        amount: billed.plus(estimated).minus(refunded),
        currency,
      })),
      unpriced: (unpriced.get(period) ?? []).map((item) => {
        const lacking = this.#estimateOf(item).unpriced;
        const name = detailsOf(item).title || item.url || (item.file && `audiofile ${item.file}`);
        return {
          what: `attempt ${item.attempt}${name ? ` (${name})` : ''}`,
          skus: lacking.map(({ sku }) => sku),
          lacksLength: lengthOf(item) === undefined,
          hasFile: item.file !== '',
        };
      }),
    };
  }

  /**
   * What these cost as the ledger adds it up, with each audio rounded up to a millionth: what passes here must pass
   * there, or it would be tried without end.
   */
  #counted(orders: readonly NewPurchase[]): Estimate {
    const estimate = this.estimate(orders);
    const [only, ...more] = estimate.known;
    if (!only || more.length) return estimate;
    const costs = orders.flatMap((order) =>
      order.audios.map((audio) => this.#costOfAudio(order, audio)?.millionths ?? 0),
    );
    const amount = sumOf(costs.map(fromMillionths));
    const { total } = estimate;
    return { ...estimate, known: [{ ...only, amount }], total: total && { ...total, high: amount } };
  }

  /** With --up-to-budget: the rows from the top that the budgets cover. */
  coverage(orders: readonly PlannedOrder[]): Coverage {
    if (!this.#options.upToBudget) return {};
    const rows = orders.flatMap(({ audios }) => audios.map(rowOf)).sort((one, other) => one - other);
    const problemOf = (count: number): StenoError | undefined =>
      thrownBy(() => this.checkBudgets(splitRows(orders, rows[count]).before));
    // What fits is a beginning: a longer one costs more.
    let [fits, tooMany] = [0, rows.length + 1];
    while (tooMany - fits > 1) {
      const middle = Math.floor((fits + tooMany) / 2);
      if (problemOf(middle)) tooMany = middle;
      else fits = middle;
    }
    const firstLeftOut = rows[fits];
    if (firstLeftOut === undefined) return {};
    const why = problemOf(fits + 1);
    if (why instanceof NotCovered) return { firstLeftOut, why };
    return fits === 0 && why ? { firstLeftOut, problem: why } : { firstLeftOut };
  }

  /** `20.00 EUR left of the budget of 100.00 EUR/month`: of each. */
  get leftTexts(): string[] {
    return this.uses().map(
      ({ left, currency, budget }) =>
        `${moneyText({ amount: left, currency })} left of the budget of ${budget}`,
    );
  }

  /**
   * Each budget in force, what was bought in its period, and what is left: below zero where more was bought. `foreign`:
   * what was bought in other currencies, which it can't count.
   */
  uses() {
    const facts = this.#facts;
    if (!facts) return [];
    return this.#budgets.map((inForce) => {
      const { budget, from } = inForce;
      const state = budgetState(budget, this.#spentOf(inForce, facts), facts.nowMs);
      const { start, end, left, foreign, currency } = state;
      const rows = facts.spent.get(budget.period) ?? [];
      const own = rows.filter((row) => !row.currency || row.currency === (currency || DEFAULT_CURRENCY));
      const sum = (part: 'billed' | 'estimated' | 'refunded'): Fraction => sumOf(own.map((row) => row[part]));
      const kept = from === 'ledger' ? facts.budget : undefined;
      return {
        ...{ budget: budgetText(budget), limit: budget.limit.amount, currency: currency || DEFAULT_CURRENCY },
        ...{ start, end, left, foreign, unknown: facts.unpriced.get(budget.period)?.length ?? 0 },
        ...{ billed: sum('billed'), estimated: sum('estimated'), refunded: sum('refunded') },
        source: kept ? 'ledger' : this.#settings.get('budget').source,
        ...{ setBy: kept?.setBy ?? '', setAt: kept?.setAt ?? '' },
      };
    });
  }

  #estimateOf(item: UnpricedItem): Estimate {
    const audio = { name: item.url, skus: item.skus ? item.skus.split(',') : [], minutes: lengthOf(item) };
    return estimateCost([audio], this.#prices, this.#settings.currency);
  }
}

export type BudgetUse = ReturnType<OrderCosts['uses']>[number];

export async function budgetReport(ledger: Ledger, settings: Settings): Promise<BudgetUse[]> {
  const costs = new OrderCosts(ledger, settings, { unpriced: true });
  await costs.read();
  return costs.uses();
}

/** The upper end of an estimate counts; nothing where a part is not known. More than a database adds up is over any budget. */
const costOf = ({ total }: Estimate): Cost | undefined =>
  total && { millionths: millionthsOf(total.high) ?? Number.MAX_SAFE_INTEGER, currency: total.currency };

function limitText(amount: Fraction): string {
  const text = amount.times(Fraction.of(1_000_000)).floor().toExact() ?? MAX_LIMIT;
  return text.length > MAX_LIMIT.length ? MAX_LIMIT : text;
}

function* audiosOf(orders: readonly NewPurchase[]) {
  for (const { test, audios, skus } of orders) {
    if (test) continue;
    for (const audio of audios)
      yield { name: nameOf(audio), skus, minutes: minutesOf(audio.details?.seconds) };
  }
}

/** Whole seconds, rounded up: what plays a little longer is billed as the longer one. */
const minutesOf = (seconds: number | undefined): Fraction | undefined =>
  seconds === undefined ? undefined : Fraction.of(Math.ceil(seconds), 60);

/** By the service, else by the feed, the file or the list that it came from. */
function lengthOf(item: UnpricedItem): Fraction | undefined {
  const length = parseNumber(item.duration ?? '');
  return length && length.sign > 0 ? length : minutesOf(detailsOf(item).seconds);
}

/** The StenoError that `work` throws, if any. */
function thrownBy(work: () => void): StenoError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof StenoError) return error;
    throw error;
  }
}
