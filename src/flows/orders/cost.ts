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
import { Invoices, type KeptInvoice } from '../../ledger/invoices.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Cost, type NewPurchase, parseDetails } from '../../ledger/purchase.ts';
import { type Failure, StenoError } from '../../lib/errors.ts';
import {
  type Budget,
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
import {
  type Estimate,
  estimateCost,
  type PlannedAudio,
  type Price,
  pricesFromSettings,
} from '../prices/estimate.ts';
import { fetchInvoices, missingOf } from '../prices/invoices.ts';
import { learnPrices } from '../prices/learn.ts';
import {
  type BudgetInForce,
  budgetState,
  checkBudget,
  checkMaxCost,
  inCurrency,
  NotCovered,
} from '../prices/limits.ts';
import type { OrderGuard } from './guard.ts';
import { nameOf, type PlannedOrder, rowOf, splitRows } from './planned-order.ts';

interface CostSettings {
  /** Prices of a minute by SKU, as they are set. */
  readonly prices: Readonly<Record<string, string>>;
  /** Of amounts that say none; empty where it is not known. */
  readonly currency: string;
  readonly budget: Budget | undefined;
  readonly budgetFrom: 'setting' | 'environment';
}

export function costSettings(settings: Settings): CostSettings {
  const { value: budget, source } = settings.get('budget');
  const { currency } = settings;
  return {
    prices: settings.prices,
    currency,
    budget: budget === undefined ? undefined : withCurrency(parseBudget(budget), currency),
    budgetFrom: source.startsWith('environment') ? 'environment' : 'setting',
  };
}

/** What the ledger knows about costs, all asked for at once: over a network it is one round trip with other questions. */
export interface CostFacts {
  readonly nowMs: number;
  readonly budget: KeptBudget | undefined;
  readonly spent: ReadonlyMap<BudgetPeriod, readonly SpentRow[]>;
  readonly unpriced: ReadonlyMap<BudgetPeriod, readonly UnpricedItem[]>;
  readonly invoices: readonly KeptInvoice[];
  /** Ids of the invoices that files name, of the newest first. */
  readonly named: readonly string[];
  /** In minutes, by file, of the latest files that were delivered. */
  readonly lengths: ReadonlyMap<string, string>;
}

/** `needsPrices`: also where the ledger has no budget, which is not known yet. */
export async function readCostFacts(
  ledger: Ledger,
  { budget }: CostSettings,
  needsPrices: boolean,
): Promise<CostFacts> {
  const budgets = new Budgets(ledger);
  const nowMs = await budgets.nowMs();
  const always = needsPrices || budget !== undefined;
  const ofPeriods = <Row>(read: (since: string, ifPeriod: string) => Promise<Row[]>) =>
    Promise.all(
      budgetPeriods.map(async (period): Promise<[BudgetPeriod, Row[]]> => {
        const ifPeriod = budget?.period === period ? '' : period;
        return [period, await read(periodAt(period, nowMs).start, ifPeriod)];
      }),
    );
  const [kept, spent, unpriced, invoices, named, lengths] = await Promise.all([
    budgets.get(),
    ofPeriods((since, ifPeriod) => budgets.spentSince(since, ifPeriod)),
    ofPeriods((since, ifPeriod) => budgets.unpriced(since, ifPeriod)),
    new Invoices(ledger).all(!always),
    new Files(ledger).invoices(!always),
    lengthsOf(ledger, !always),
  ]);
  return {
    nowMs,
    budget: kept,
    spent: new Map(spent),
    unpriced: new Map(unpriced),
    invoices,
    named,
    lengths,
  };
}

/** Older ones say little about the next order. */
const MAX_FILES = 500;

/** `onlyUnderBudget`: none where the ledger has no budget. */
async function lengthsOf(ledger: Ledger, onlyUnderBudget: boolean): Promise<Map<string, string>> {
  const rows = await new Files(ledger).page({ states: ['Delivered'], onlyUnderBudget }, MAX_FILES);
  return new Map(rows.flatMap(({ id, duration, test }) => (test ? [] : [[id, duration]])));
}

export interface Limits {
  readonly maxCost: Money | undefined;
  /** What has no known cost may be ordered all the same. */
  readonly allowsUnpriced: boolean;
  /** Rows that a budget does not cover are left out. */
  readonly upToBudget?: boolean;
}

/** Whole seconds, rounded up: what plays a little longer is billed as the longer one. */
const minutesOf = (seconds: number | undefined): Fraction | undefined =>
  seconds === undefined ? undefined : Fraction.of(Math.ceil(seconds), 60);

/** A database adds up no larger number; what costs that much is over any budget. */
const boundedMillionths = (amount: Fraction): number => millionthsOf(amount) ?? Number.MAX_SAFE_INTEGER;

/** While others buy all the time, the ledger decides. */
const MAX_READINGS = 5;

/** No sum of a database is larger. */
const MAX_LIMIT = '9'.repeat(18);

function limitText(amount: Fraction): string {
  const text = amount.times(Fraction.of(1_000_000)).floor().toExact() ?? MAX_LIMIT;
  return text.length > MAX_LIMIT.length ? MAX_LIMIT : text;
}

export class OrderCosts {
  /** That of the ledger, and that of the settings: both must hold. */
  readonly budgets: readonly BudgetInForce[];
  readonly #ledger: Ledger | undefined;
  readonly #settings: CostSettings;
  readonly #limits: Limits;
  readonly #prices: ReadonlyMap<string, Price>;
  #facts: CostFacts | undefined;

  private constructor(
    ledger: Ledger | undefined,
    facts: CostFacts | undefined,
    settings: CostSettings,
    limits: Limits,
  ) {
    this.#ledger = ledger;
    this.#facts = facts;
    this.#settings = settings;
    this.#limits = limits;
    this.#prices = knownPrices(facts, settings);
    this.budgets = budgetsInForce(facts?.budget, settings);
  }

  /** `facts`: what the ledger knows; absent where there is none. */
  static async open(
    ledger: Ledger | undefined,
    facts: CostFacts | undefined,
    settings: CostSettings,
    limits: Limits,
  ): Promise<OrderCosts> {
    const costs = new OrderCosts(ledger, facts, settings, limits);
    await costs.#priceUnpriced();
    return costs;
  }

  /** What the ledger must hold each purchase to. */
  get limits(): SpendingLimit[] {
    const nowMs = this.#facts?.nowMs;
    if (nowMs === undefined) return [];
    return this.budgets.map(({ budget }) => ({
      since: periodAt(budget.period, nowMs).start,
      millionths: limitText(budget.limit.amount),
      allowsUnknown: this.#limits.allowsUnpriced,
    }));
  }

  /** Test orders cost nothing. */
  estimate(orders: readonly NewPurchase[]): Estimate {
    return estimateCost(audiosOf(orders), this.#prices, this.#settings.currency);
  }

  /** The order as the ledger keeps it: with what each of its audios is expected to cost. */
  priced(order: NewPurchase): NewPurchase {
    const audios = order.audios.map(({ url, key, names, details, file, totalBefore }, at) => ({
      ...{ url, key, names, details, file, totalBefore },
      cost: this.#costOf(this.estimate([{ ...order, audios: order.audios.slice(at, at + 1) }])),
    }));
    return { ...order, audios };
  }

  /** The upper end of an estimate counts; nothing where a part is not known. */
  #costOf({ total }: Estimate): Cost | undefined {
    return total && { millionths: boundedMillionths(total.high), currency: total.currency };
  }

  /** Throws where all of these together may not be ordered. `sent`: by others, who have them in the budget already. */
  check(orders: readonly NewPurchase[], sent: readonly NewPurchase[] = []): void {
    const { maxCost } = this.#limits;
    if (maxCost) checkMaxCost(this.estimate([...orders, ...sent]), maxCost);
    this.checkBudgets(orders);
  }

  /** What `check` would throw. */
  problemOf(orders: readonly NewPurchase[], sent: readonly NewPurchase[] = []): StenoError | undefined {
    return thrownBy(() => this.check(orders, sent));
  }

  /** Throws where a budget does not cover all of these; tests cost nothing. */
  checkBudgets(orders: readonly NewPurchase[]): void {
    const bought = orders.filter(({ test }) => !test);
    const facts = this.#facts;
    if (!facts || bought.length === 0 || this.budgets.length === 0) return;
    const estimate = this.#counted(bought);
    const { allowsUnpriced } = this.#limits;
    for (const each of this.budgets) {
      const { period } = each.budget;
      const unpriced = (facts.unpriced.get(period) ?? []).map((item) => this.#unpricedOf(item));
      const spent = { amounts: (facts.spent.get(period) ?? []).map(spentOf), unpriced };
      checkBudget({ ...each, spent, estimate, allowsUnpriced, now: facts.nowMs });
    }
  }

  /**
   * What these cost as the ledger adds it up, with each audio rounded up to a millionth: what passes here must pass
   * there, or it would be tried without end.
   */
  #counted(orders: readonly NewPurchase[]): Estimate {
    const estimate = this.estimate(orders);
    const [only, ...more] = estimate.known;
    if (!only || more.length) return estimate;
    let amount = Fraction.zero;
    for (const order of orders)
      for (const audio of order.audios) {
        const [known] = this.estimate([{ ...order, audios: [audio] }]).known;
        if (known) amount = amount.plus(fromMillionths(boundedMillionths(known.amount)));
      }
    const { total } = estimate;
    return { ...estimate, known: [{ ...only, amount }], total: total && { ...total, high: amount } };
  }

  /**
   * Where a budget does not seem to hold what is planned: what others buy meanwhile must not be both in what is planned
   * and in what is spent, nor in neither. So both are read until nothing has changed between.
   */
  async agreeWith(guard: OrderGuard): Promise<void> {
    for (let tries = 0; tries < MAX_READINGS && thrownBy(() => this.checkBudgets(guard.ready)); tries += 1) {
      const before = this.#spentMark();
      await this.#readAgain();
      if (tries > 0 && this.#spentMark() === before) return;
      await guard.sortAgain();
    }
  }

  #spentMark(): string {
    const rows = [...(this.#facts?.spent.values() ?? [])].flat().map(spentOf);
    return rows.map(moneyText).join(' ');
  }

  async #readAgain(): Promise<void> {
    if (this.#ledger) this.#facts = await readCostFacts(this.#ledger, this.#settings, true);
  }

  /** The ledger has refused these: throws if that is because of what others have bought meanwhile. */
  async recheck(orders: readonly NewPurchase[]): Promise<void> {
    if (!this.#ledger || this.budgets.length === 0) return;
    await this.#readAgain();
    this.checkBudgets(orders);
  }

  /**
   * The same for one of many orders, which goes back to the guard without what others have bought. With --up-to-budget it
   * throws nothing: the guard keeps the rows that still fit.
   */
  async goBack(order: PlannedOrder, guard: OrderGuard): Promise<void> {
    if (this.budgets.length === 0) return guard.putBack(order);
    await this.#readAgain();
    await guard.sortAgain(order);
    await this.agreeWith(guard);
    const own = new Set(order.audios);
    if (!this.#limits.upToBudget)
      this.checkBudgets(guard.ready.filter(({ audios }) => audios.some((audio) => own.has(audio))));
    else this.keepWhatFits(guard);
  }

  /** Of what is ready, the guard keeps the rows that the budgets cover. Gives what `upToBudget` does. */
  keepWhatFits(guard: OrderGuard): ReturnType<OrderCosts['upToBudget']> {
    const found = this.upToBudget(guard.ready);
    if (found.firstLeftOut !== undefined) guard.keepRows(guard.ready, found.firstLeftOut);
    return found;
  }

  /** The first row that the budgets do not cover, if there is one, and why; no row is, where `problem` is there. */
  upToBudget(orders: readonly PlannedOrder[]): {
    firstLeftOut?: number;
    why?: NotCovered;
    problem?: StenoError;
  } {
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
    return this.uses('').map(
      ({ left, currency, budget }) =>
        `${moneyText({ amount: left, currency })} left of the budget of ${budget}`,
    );
  }

  /**
   * Each budget in force, what was bought in its period, and what is left: below zero where more was bought. `foreign`:
   * what was bought in other currencies, which it can't count. `source`: where the budget of the settings is set.
   */
  uses(source: string) {
    const facts = this.#facts;
    if (!facts) return [];
    return this.budgets.map(({ budget, from }) => {
      const rows = facts.spent.get(budget.period) ?? [];
      const spent = { amounts: rows.map(spentOf), unpriced: [] };
      const counted = inCurrency(budget, spent);
      const currency = counted.limit.currency || DEFAULT_CURRENCY;
      const { start, end, left, foreign } = budgetState(counted, spent, facts.nowMs);
      const own = rows.filter((row) => !row.currency || row.currency === counted.limit.currency);
      const sum = (part: 'billed' | 'estimated' | 'refunded'): Fraction => sumOf(own.map((row) => row[part]));
      const kept = from === 'ledger' ? facts.budget : undefined;
      return {
        ...{ budget: budgetText(budget), limit: budget.limit.amount, currency, start, end },
        ...{ billed: sum('billed'), estimated: sum('estimated'), refunded: sum('refunded') },
        ...{ unknown: facts.unpriced.get(budget.period)?.length ?? 0, foreign, left },
        ...{ source: kept ? 'ledger' : source, setBy: kept?.setBy ?? '', setAt: kept?.setAt ?? '' },
      };
    });
  }

  #unpricedOf(item: UnpricedItem) {
    const { unpriced } = this.#estimateOf(item);
    const { title } = parseDetails(item.details);
    const name = title || item.url || (item.file ? `audiofile ${item.file}` : '');
    return {
      what: `attempt ${item.attempt}${name ? ` (${name})` : ''}`,
      skus: unpriced.map(({ sku }) => sku),
      lacksLength: lengthOf(item) === undefined,
      hasFile: item.file !== '',
    };
  }

  #estimateOf(item: UnpricedItem): Estimate {
    const audio = { name: item.url, skus: item.skus ? item.skus.split(',') : [], minutes: lengthOf(item) };
    return estimateCost([audio], this.#prices, this.#settings.currency);
  }

  /** A price or a length of earlier purchases may be known by now. */
  async #priceUnpriced(): Promise<void> {
    if (!this.#ledger || !this.#facts || this.budgets.length === 0) return;
    const items = this.budgets.flatMap(({ budget }) => this.#facts?.unpriced.get(budget.period) ?? []);
    const priced = items.flatMap((item) => {
      const cost = this.#costOf(this.#estimateOf(item));
      return cost && item.skus ? [{ ...item, ...cost }] : [];
    });
    if (priced.length === 0) return;
    await new Budgets(this.#ledger).price(priced);
    await this.#readAgain();
  }
}

const spentOf = ({ currency, billed, estimated, refunded }: SpentRow): Money => ({
  amount: billed.plus(estimated).minus(refunded),
  currency,
});

/** What work throws, if it is an error for people. */
function thrownBy(work: () => void): StenoError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof StenoError) return error;
    throw error;
  }
}

/** By the service, else by the feed, the file or the list that it came from. */
function lengthOf({ duration, details }: UnpricedItem): Fraction | undefined {
  const length = parseNumber(duration ?? '');
  return length && length.sign > 0 ? length : minutesOf(parseDetails(details).seconds);
}

function budgetsInForce(
  kept: KeptBudget | undefined,
  { budget, budgetFrom, currency }: CostSettings,
): BudgetInForce[] {
  return [
    ...(kept ? [{ budget: withCurrency(parseBudget(kept.budget), currency), from: 'ledger' as const }] : []),
    ...(budget ? [{ budget, from: budgetFrom }] : []),
  ];
}

function* audiosOf(orders: readonly NewPurchase[]): Generator<PlannedAudio> {
  for (const { test, audios, skus } of orders) {
    if (test) continue;
    for (const audio of audios)
      yield { name: nameOf(audio), skus, minutes: minutesOf(audio.details?.seconds) };
  }
}

/** Price by SKU: those that are set go before those that were learned. */
function knownPrices(facts: CostFacts | undefined, { prices, currency }: CostSettings): Map<string, Price> {
  const set = pricesFromSettings(prices, currency);
  if (!facts) return set;
  const invoices = facts.invoices.flatMap((kept) => decodeKeptInvoice(kept) ?? []);
  const items = invoices.flatMap(({ id, created, items }) =>
    items.map((item) => ({ ...item, invoice: id, created })),
  );
  return new Map([...learnPrices(items, facts.lengths, currency), ...set]);
}

/** More would hold up an order. */
const MAX_INVOICES = 50;

/**
 * Fetches invoices that the ledger knows of and has not kept: without them few prices are known. Connects only where
 * there is one to fetch; no connection means no key. Gives what failed, and nothing where none was fetched.
 */
export async function learnFromService(
  connect: () => Promise<Transport | undefined>,
  ledger: Ledger,
  { named, invoices }: Pick<CostFacts, 'named' | 'invoices'>,
  report?: Report,
): Promise<readonly Failure[] | undefined> {
  const wanted = missingOf(named, invoices).slice(0, MAX_INVOICES);
  const transport = wanted.length ? await connect() : undefined;
  return transport && failures(await fetchInvoices(transport, ledger, wanted, report));
}

export type BudgetUse = ReturnType<OrderCosts['uses']>[number];

export async function budgetReport(ledger: Ledger, settings: Settings): Promise<BudgetUse[]> {
  const known = costSettings(settings);
  const facts = await readCostFacts(ledger, known, false);
  const costs = await OrderCosts.open(ledger, facts, known, { maxCost: undefined, allowsUnpriced: true });
  return costs.uses(settings.get('budget').source);
}
