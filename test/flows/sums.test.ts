/** `budget`, `report`, `log`, `files` and the balance of the service say the same, to the cent, whatever was done. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { BillingService, invoiceStates, type Manner } from '../support/billing-service.ts';
import { type InProcessResult, runInProcess } from '../support/in-process.ts';
import { runs } from '../support/runs.ts';
import { KEY, User } from '../support/steno.ts';

interface LogEntry {
  readonly status: string;
  readonly kind: string;
  readonly cost: number | null;
  readonly cost_source: string;
  readonly unpaid: number;
  readonly audiofiles: readonly string[];
}

interface FileDocument {
  readonly audiofile: string;
  readonly order: string;
  readonly total: number | null;
  readonly state: string;
}

/** Amounts of the tests are whole cents. */
const cents = (amount: number | string): number => Math.round(Number(amount) * 100);
const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

class Person {
  readonly user: User;

  constructor(env: Readonly<Record<string, string>>) {
    this.user = new User({ ...env, STENO_MAX_RETRIES: '0' });
  }

  run(args: readonly string[]): Promise<InProcessResult> {
    return runInProcess(args, { env: this.user.env });
  }

  async json<Document>(args: readonly string[]): Promise<Document> {
    const { code, stdout, stderr } = await this.run([...args, '--json']);
    expect([args, code, stderr]).toEqual([args, 0, '']);
    return JSON.parse(stdout) as Document;
  }

  files(): Promise<FileDocument[]> {
    return this.json<FileDocument[]>(['files', '--limit', '1000']);
  }

  async balance(): Promise<number> {
    return cents((await this.run(['balance', '--quiet'])).stdout);
  }

  /** What each says that was spent, and what of it is to be paid; the service is asked first. */
  async sums() {
    const { code, stderr } = await this.run(['files', '--refresh', '--limit', '1000']);
    expect([code, stderr]).toEqual([0, '']);
    const report = await this.json<{
      totals: Array<{ spent: number; refunded: number; unpaid: number }>;
      orders: Array<{ order: string; spent: number; unpaid: number }>;
      notes: string[];
    }>(['report']);
    const log = await this.json<LogEntry[]>(['log', '--limit', '1000']);
    // Under a budget, nothing of unknown cost would have been ordered.
    await this.run(['budget', 'set', '100000/year']);
    const { budgets } = await this.json<{
      budgets: Array<{ billed: number; estimated: number; refunded: number; unknown: number }>;
    }>(['budget']);
    return { report, log, budget: budgets[0] ?? { billed: 0, estimated: 0, refunded: 0, unknown: 0 } };
  }

  /** Checks all sums against what the service says was paid, in cents; everything is known by then. */
  async checkSums(spent: number, hasNetTotals = true): Promise<void> {
    const { report, log, budget } = await this.sums();
    const { totals } = report;
    const unpaid = sum(totals.map((row) => cents(row.unpaid)));
    expect(sum(totals.map((row) => cents(row.spent)))).toBe(spent);
    expect(cents(budget.billed) - cents(budget.refunded) - unpaid).toBe(spent);
    expect([budget.estimated, budget.unknown]).toEqual([0, 0]);
    expect(
      sum(log.map(({ cost }) => cost ?? 0).map(cents)) - sum(log.map((each) => cents(each.unpaid))),
    ).toBe(spent);
    expect(sum(log.map((each) => cents(each.unpaid)))).toBe(unpaid);
    expect(
      log.map(({ cost_source: source }) => source).filter((each) => each !== 'billed' && each !== 'none'),
    ).toEqual([]);
    expect(report.notes.filter((note) => /not counted|not billed/.test(note))).toEqual([]);
    await this.#checkOrders(report.orders, hasNetTotals);
  }

  /** The files and the log of each order have the same sum. */
  async #checkOrders(
    orders: ReadonlyArray<{ order: string; spent: number; unpaid: number }>,
    hasNetTotals: boolean,
  ): Promise<void> {
    const files = await this.files();
    for (const { order, spent, unpaid } of orders) {
      const billed = cents(spent) + cents(unpaid);
      const own = files.filter((file) => file.order === order);
      if (hasNetTotals)
        expect([order, sum(own.map(({ total }) => cents(total ?? 0)))]).toEqual([order, billed]);
      const log = await this.json<LogEntry[]>(['log', '--order', order]);
      expect([order, sum(log.map(({ cost }) => cents(cost ?? 0)))]).toEqual([order, billed]);
    }
  }
}

/** Which of those that are there. */
const nth = <Item>(list: readonly Item[], at: number): Item | undefined => list[at % (list.length || 1)];

const which = fc.nat(20);
const orderStep = (words: readonly string[]) =>
  fc.record({
    do: fc.constant('order' as const),
    words: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 2 }),
    minutes: fc.constantFrom('1', '2.5', '10', '33.34'),
    skus: fc.constantFrom('TRANS14', 'TRANS14,TSTMP1', 'TRANS6,DIFFQ2', 'EMSR02'),
  });
const upgradeStep = fc.record({
  ...{ do: fc.constant('upgrade' as const), which },
  skus: fc.constantFrom('TSTMP1', 'CAPTION1', 'UPGRD1', 'DIFFQ2,EDIT01'),
});
const step = <Name extends string>(name: Name) => fc.record({ do: fc.constant(name), which });

type OrderStep = typeof orderStep extends (words: never) => fc.Arbitrary<infer Step> ? Step : never;
type UpgradeStep = typeof upgradeStep extends fc.Arbitrary<infer Step> ? Step : never;

let urls = 0;
const urlOf = (word: string, minutes: string): string => {
  urls += 1;
  return `https://example.com/${word}-${urls}.mp3?minutes=${minutes}`;
};

type Do<Step> = (step: Step, person: Person, file: string) => unknown;

/** What is done to the account, whatever the service is. */
const calls = {
  order: (({ words, minutes, skus }, person) =>
    person.run(['order', ...words.map((word) => urlOf(word, minutes)), '--sku', skus])) as Do<OrderStep>,
  upgrade: (({ skus }, person, file) =>
    file && person.run(['upgrade', file, '--sku', skus])) as Do<UpgradeStep>,
  refund: ((_, person, file) => file && person.run(['refund', file, '--yes'])) as Do<unknown>,
  refresh: ((_, person) => person.run(['files', '--refresh'])) as Do<unknown>,
  report: ((_, person) => person.run(['report'])) as Do<unknown>,
};

describe('all sums agree', () => {
  const steps = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: orderStep(['talk', 'talk', 'hold', 'unpaid', 'hold-unpaid', 'refund', 'cancel', 'error']),
      },
      { weight: 2, arbitrary: step('release') },
      { weight: 3, arbitrary: upgradeStep },
      { weight: 2, arbitrary: step('refund') },
      { weight: 4, arbitrary: step('advance') },
      { weight: 1, arbitrary: step('refresh') },
      { weight: 1, arbitrary: step('report') },
    ),
    { minLength: 2, maxLength: 14 },
  );

  it('in the sandbox', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const person = new Person({});
        const sandbox = await startSandbox({ folder: person.user.env.STENO_STATE_DIR ?? '', speed: 0 });
        Object.assign(person.user.env, { STENO_API_KEY: sandbox.apiKey, STENO_BASE_URL: sandbox.baseUrl });
        try {
          const before = await person.balance();
          const own = {
            ...calls,
            advance: (({ which: at }, _, file) =>
              person.run(['sandbox', 'advance', ...(at % 2 && file ? [file] : [])])) as Do<{ which: number }>,
            release: (async (_, __, file) => {
              const { order } = (await person.files()).find(({ audiofile }) => audiofile === file) ?? {};
              if (order) await person.run(['sandbox', 'release', order]);
            }) as Do<unknown>,
          };
          for (const each of list) {
            const id = 'which' in each ? nth(await person.files(), each.which)?.audiofile : undefined;
            await own[each.do](each as never, person, id ?? '');
          }
          await person.checkSums(before - (await person.balance()));
        } finally {
          await sandbox.close();
        }
      }),
      { numRuns: Math.ceil(runs() / 20) },
    );
  });

  const manner: fc.Arbitrary<Manner> = fc
    .record({
      ...{
        hasItems: fc.boolean(),
        hasTotals: fc.boolean(),
        newInvoice: fc.boolean(),
        otherSku: fc.boolean(),
      },
      ...{
        halfBack: fc.boolean(),
        upgradesRefunded: fc.boolean(),
        namesNoFile: fc.boolean(),
        discounts: fc.boolean(),
      },
      ...{ credits: fc.boolean(), otherId: fc.boolean(), sign: fc.constantFrom('' as const, '$' as const) },
    })
    // Without items, the total is all that tells a cost, and one invoice all that tells whether it is paid.
    .map((each) =>
      each.hasItems
        ? each
        : { ...each, ...{ hasTotals: true, newInvoice: false, upgradesRefunded: false, discounts: false } },
    )
    .map((each) => ({
      ...each,
      halfBack: each.halfBack && each.hasItems && each.credits && !each.namesNoFile,
      // What is taken off twice is not told apart from what is bought later.
      discounts: each.discounts && each.credits && !each.upgradesRefunded && !each.namesNoFile,
    }));
  const serviceSteps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: orderStep(['talk']) },
      { weight: 3, arbitrary: upgradeStep },
      { weight: 2, arbitrary: step('refund') },
      { weight: 3, arbitrary: step('pay') },
      { weight: 2, arbitrary: step('deliver') },
      { weight: 2, arbitrary: step('next state') },
      { weight: 1, arbitrary: step('refresh') },
      { weight: 1, arbitrary: step('report') },
    ),
    { minLength: 2, maxLength: 14 },
  );

  it('with a service that bills in any way', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(manner, serviceSteps, async (how, list) => {
        const service = await BillingService.start(how);
        const person = new Person({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
        const own = {
          ...calls,
          // Without items of each file, nothing tells what of an invoice came back.
          order: ((each, _, file) =>
            calls.order(
              how.hasItems && !how.namesNoFile ? each : { ...each, words: each.words.slice(0, 1) },
              person,
              file,
            )) as Do<OrderStep>,
          pay: ((_, __, file) => service.moveInvoices(file)) as Do<unknown>,
          deliver: ((_, __, file) => service.setState(file, 'Delivered')) as Do<unknown>,
          'next state': (({ which: at }) => {
            service.nextState = nth(invoiceStates, at) ?? 'PAID';
          }) as Do<{ which: number }>,
        };
        for (const each of list)
          await own[each.do](
            each as never,
            person,
            'which' in each ? (nth(service.files, each.which) ?? '') : '',
          );
        await person.checkSums(service.spent, how.hasTotals && how.credits && !how.discounts);
      }),
      { numRuns: Math.ceil(runs() / 10) },
    );
  });
});
