/** Histories of one account that meet again: whichever comes first, the same is known, and nothing is bought twice. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Budgets } from '../../src/ledger/budgets.ts';
import { Downloads } from '../../src/ledger/downloads.ts';
import { importLines } from '../../src/ledger/dump/import.ts';
import { Files } from '../../src/ledger/files.ts';
import { Invoices } from '../../src/ledger/invoices.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { type Attempt, OpenAttempts } from '../../src/ledger/open-attempts.ts';
import { makeAudio, type NewPurchase } from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { TrackedFiles } from '../../src/ledger/tracked-files.ts';
import { refundName, upgradeNames } from '../../src/lib/names.ts';
import { storeKinds } from '../support/open-ledger.ts';
import { linesOf, sourceOf } from '../support/random-ledger.ts';
import { runs, timeLimit } from '../support/runs.ts';

const options = { signal: new AbortController().signal };
const time = (n: number): string => new Date(Date.UTC(2030, 0, 1, 0, n)).toISOString();

/** What happens on one machine; the numbers choose what it happens to. */
const step = fc.record({
  what: fc.constantFrom(
    ...(['order', 'order', 'order', 'upgrade', 'refund', 'placed', 'not placed', 'reopen'] as const),
    ...(['refresh', 'refresh', 'track', 'invoice', 'budget', 'download'] as const),
  ),
  which: fc.nat(5),
  answer: fc.constantFrom('placed', 'without id', 'without files', 'refused', 'unclear', 'none'),
  again: fc.boolean(),
  at: fc.nat(4),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The files of an order, whoever names them. */
const fileOf = (purchase: string): string => `f ${purchase}`;

class Machine {
  readonly ledger: Ledger;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  async do(step: Step): Promise<void> {
    const { what, which, at } = step;
    const files = new Files(this.ledger);
    const budgets = new Budgets(this.ledger);
    const trackedFiles = new TrackedFiles(this.ledger);
    if (what === 'order') return this.#order(step);
    if (what === 'placed' || what === 'not placed' || what === 'reopen') return this.#settle(step);
    if (what === 'budget') return budgets.set(which ? `${which} a month` : undefined, 'me');
    if (what === 'track')
      return trackedFiles.add({
        ...{ id: `t${which}`, order: at ? `o${at}` : '', link: urlOf(which), names: '', notes: '' },
      });
    const all = (await files.page({}, 100)).map(({ id }) => id).sort();
    const file = all[which % Math.max(all.length, 1)];
    if (file !== undefined) await this.#onFile(file, step);
  }

  async #onFile(id: string, step: Step): Promise<void> {
    const { what, which, at } = step;
    const files = new Files(this.ledger);
    const invoices = new Invoices(this.ledger);
    const downloads = new Downloads(this.ledger);
    if (what === 'upgrade' || what === 'refund') return this.#change(what, id, step);
    if (what === 'download')
      return downloads.add(id, 'txt', `/d/${id}.txt`, { bytes: at, sha256: `${at}`, isDraft: false });
    if (what === 'invoice')
      return invoices.keep(
        { id: `v${which}`, ownId: `v${which % 2}`, state: 'PAID', isFinal: at > 2, answer: `{"n":${at}}` },
        Array.from({ length: at }, () => ({ file: id, sku: 'TRANS14', amount: 5_000_000, currency: 'USD' })),
      );
    await files.update({
      ...{ id, state: ['Transcribing', 'Delivered', 'On Hold', 'Order Cancelled'][which % 4] ?? '' },
      ...{ title: `t${which}`, duration: '30', total: at ? `${at}.00` : '' },
      ...{ invoices: at ? [`v${which}`] : [], link: '', answer: `{"at":${at}}`, askedAt: time(at) },
    });
  }

  async #order({ which, answer, again }: Step): Promise<void> {
    const { url, names } = makeAudio(urlOf(which));
    const order: NewPurchase = {
      audios: [{ url, names, cost: which ? { millionths: which, currency: 'USD' } : undefined }],
      ...{ skus: ['TRANS14'], names: [], test: which === 5 },
    };
    const begun = await new Purchases(this.ledger).begin(order, again ? 'any' : []);
    if (!begun || answer === 'none') return;
    const purchases = new Purchases(this.ledger);
    if (answer === 'refused') return purchases.markRefused(begun, order, 'no');
    if (answer === 'unclear') return purchases.markUncertain(begun, order, 'no answer');
    const placed = {
      id: answer === 'without id' ? '' : `o ${begun.id}`,
      audiofiles: answer === 'without files' ? [] : [fileOf(begun.id)],
      hold: which % 2 ? 'a reason' : undefined,
    };
    await purchases.markPlaced(begun, order, placed);
  }

  async #change(kind: 'upgrade' | 'refund', file: string, { answer, again }: Step): Promise<void> {
    const names = kind === 'upgrade' ? upgradeNames(file, ['SPKR2']) : [refundName(file)];
    const change: NewPurchase = {
      ...{ kind, audios: [{ url: '', names, file }], skus: kind === 'upgrade' ? ['SPKR2'] : [] },
      ...{ names: [], test: false },
    };
    const purchases = new Purchases(this.ledger);
    const begun = await purchases.begin(change, again ? 'any' : []);
    if (!begun || answer === 'none') return;
    if (answer === 'refused') return purchases.markRefused(begun, change, 'no');
    if (answer === 'unclear') return purchases.markUncertain(begun, change, 'no answer');
    await purchases.markDone(begun, change);
  }

  async #settle({ what, which }: Step): Promise<void> {
    const openAttempts = new OpenAttempts(this.ledger);
    const all: Attempt[] = [];
    for (let n = 1; n < 40; n += 1) {
      const found = await openAttempts.get(n);
      if (found && (what === 'reopen' ? found.isSettled : found.status === 'unclear')) all.push(found);
    }
    // By id: the numbers are those of the machine.
    all.sort((one, other) => (one.id < other.id ? -1 : 1));
    const attempt = all[which % Math.max(all.length, 1)];
    if (!attempt) return;
    if (what === 'reopen') await openAttempts.reopen(attempt);
    else if (what === 'not placed') await openAttempts.settleNotPlaced(attempt);
    else {
      const file = { id: `${fileOf(attempt.id)} ${which}`, position: 0, known: true };
      await openAttempts.settlePlaced(attempt, `o ${attempt.id}`, [file]);
    }
  }
}

const urlOf = (n: number): string => `https://e.example/${n % 4}.mp3`;

interface Row {
  readonly table: string;
  readonly [column: string]: unknown;
}

/** The rows of an export, without the numbers that each ledger gives. */
const rowsOf = (lines: string): Row[] =>
  lines
    .trim()
    .split('\n')
    .slice(1, -1)
    .map((line) => {
      const { number: _, seq: __, ...row } = JSON.parse(line);
      return row as Row;
    });

const sorted = (rows: readonly Row[]): string[] =>
  rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).sort()))).sort();

const isSaid = (row: Row, verdict: string): boolean => row.table === 'settlements' && row.verdict === verdict;

function expectNothingLost(histories: readonly Row[][], merged: readonly Row[]): void {
  const all = histories.flat();
  const reopened = all.filter((row) => isSaid(row, 'reopened'));
  const isUndone = ({ purchase, said_at: at }: Row): boolean =>
    reopened.some((later) => later.purchase === purchase && String(later.said_at) > String(at));
  const placed = new Set([
    ...all.filter((row) => row.table === 'purchases' && row.outcome === 'placed').map(({ id }) => id),
    ...all.filter((row) => isSaid(row, 'placed') && !isUndone(row)).map(({ purchase }) => purchase),
  ]);
  const purchases = new Map(merged.filter(({ table }) => table === 'purchases').map((row) => [row.id, row]));
  for (const id of placed) expect(purchases.get(id)?.status).toBe('placed');
  // What the service named was placed, or is at least not free.
  for (const row of all)
    if (row.table === 'purchases' && row.named) expect(purchases.get(row.id)?.status).not.toBe('refused');
  const names = merged.filter(({ table }) => table === 'item_names');
  const holders = new Map(names.filter(({ holds }) => holds).map((row) => [row.name, row.purchase]));
  for (const { purchase, name } of names) {
    const { kind, test, status } = purchases.get(purchase) ?? ({} as Partial<Row>);
    if (kind !== 'order' || test !== 0 || status === 'refused') continue;
    const holder = purchases.get(holders.get(name));
    expect(holder).toMatchObject(status === 'placed' ? { status: 'placed', test: 0 } : { test: 0 });
  }
}

const plain: Step = { what: 'order', which: 1, answer: 'placed', again: false, at: 3 };

describe.each(storeKinds.filter(({ isThere }) => isThere))('records of one account $name', (kind) => {
  beforeAll(() => kind.start(), 60_000);
  const open: Ledger[] = [];
  const closeAll = async (): Promise<void> => {
    for (const ledger of open.splice(0)) await ledger.close();
  };
  afterEach(closeAll);
  afterAll(() => kind.stop());

  async function newLedger(...exports: readonly string[]): Promise<Ledger> {
    const ledger = await kind.newPlace().open();
    open.push(ledger);
    for (const lines of exports) await importLines(ledger, sourceOf(lines), options);
    return ledger;
  }

  it('cost the same where one machine has refunded a file that the other has upgraded', async () => {
    const machines = [new Machine(await newLedger())];
    for (const what of ['order', 'refresh'] as const) await machines[0]?.do({ ...plain, what });
    const before = await linesOf(machines[0]?.ledger as Ledger);
    machines.push(new Machine(await newLedger(before)));
    await machines[0]?.do({ ...plain, what: 'upgrade', which: 0 });
    await machines[1]?.do({ ...plain, what: 'refund', which: 0 });
    const exports = await Promise.all(machines.map(({ ledger }) => linesOf(ledger)));
    const forth = rowsOf(await linesOf(await newLedger(...exports)));
    expect(forth.filter(({ table, billed }) => table === 'purchase_items' && billed !== null)).not.toEqual(
      [],
    );
    expect(sorted(rowsOf(await linesOf(await newLedger(...exports.toReversed()))))).toEqual(sorted(forth));
  });

  it(
    'are the same in whichever order they meet: what was placed stays so, and holds its names',
    async () => {
      const steps = (maxLength: number) => fc.array(step, { maxLength });
      await fc.assert(
        fc.asyncProperty(
          steps(6),
          fc.array(steps(5), { minLength: 2, maxLength: 3 }),
          async (before, after) => {
            const first = await newLedger();
            for (const each of before) await new Machine(first).do(each);
            const beginning = await linesOf(first);
            const exports: string[] = [];
            for (const history of after) {
              const ledger = await newLedger(beginning);
              for (const each of history) await new Machine(ledger).do(each);
              exports.push(await linesOf(ledger));
            }
            const forth = rowsOf(await linesOf(await newLedger(...exports)));
            const back = rowsOf(await linesOf(await newLedger(...exports.toReversed())));
            expect(sorted(back)).toEqual(sorted(forth));
            const [one = '', ...rest] = exports;
            const others = await linesOf(await newLedger(...rest));
            const again = rowsOf(await linesOf(await newLedger(others, one, one, beginning)));
            expect(sorted(again)).toEqual(sorted(forth));
            expectNothingLost(exports.map(rowsOf), forth);
            await closeAll();
          },
        ),
        { numRuns: runs(kind.isShared ? 2 : 10) },
      );
    },
    timeLimit(120_000),
  );
});
