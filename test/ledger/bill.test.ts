/** What each purchase of a file costs: nothing is lost, nothing counts twice, and what is not known is not zero. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BilledFile,
  type BillItem,
  type BillLine,
  billFile,
  type Payment,
  paidOf,
  refundedOf,
  unpaidOf,
  unreadOf,
} from '../../src/ledger/bill.ts';
import { amountText, Fraction, sumOf } from '../../src/lib/money.ts';

const cents = (count: number): Fraction => Fraction.of(count, 100);

const line = (sku: string, amount: number | undefined, isPaid = true, currency = ''): BillLine => ({
  ...{ sku, currency, paid: isPaid },
  amount: amount === undefined ? undefined : cents(amount),
});

const item = (skus: readonly string[], totalBefore?: number) => ({
  skus,
  totalBefore: totalBefore === undefined ? undefined : cents(totalBefore),
});

const order = item(['TRANS14']);
const total = (amount: number, currency = '') => ({ amount: cents(amount), currency });

const nothing: BilledFile = {
  ...{ items: [order], lines: [], total: undefined, totalPayment: 'paid', restPayment: 'unpaid' },
  ...{ areInvoicesRead: false, isCancelled: false },
};

/** Bought before a refund, with the total of then. */
const refunded = (items: BilledFile['items'], before?: number): BilledFile['items'] => {
  const refund = { total: before === undefined ? undefined : total(before) };
  return items.map((each) => ({ ...each, refund }));
};

/** `paid, unpaid, refunded` of each purchase, what is unread where there is some, or `unknown`. */
const bills = (file: Partial<BilledFile>): string[] =>
  billFile({ ...nothing, ...file }).map((bill) => {
    const unread = unreadOf(bill).sign ? ` ${amountText(unreadOf(bill))} unread` : '';
    const sums = [paidOf(bill), unpaidOf(bill), refundedOf(bill)].map(amountText).join(' ');
    return bill.isKnown ? `${sums}${unread}` : 'unknown';
  });

describe('the lines of invoices', () => {
  it('are paid or not as their invoice is', () => {
    expect(bills({ lines: [line('TRANS14', 860)] })).toEqual(['8.60 0.00 0.00']);
    expect(bills({ lines: [line('TRANS14', 860, false)] })).toEqual(['0.00 8.60 0.00']);
    const both = [line('TRANS14', 860), line('TSTMP1', 500, false)];
    expect(bills({ items: [item(['TRANS14', 'TSTMP1'])], lines: both })).toEqual(['8.60 5.00 0.00']);
  });

  it('belong to the purchase that asked for their SKU, whatever its alias', () => {
    const items = [item(['TRANS7']), item(['TSTMP1']), item(['CAPTION1'])];
    const lines = [line('CAPTION1', 3), line('TRANS6', 1), line('TSTMP1', 2, false)];
    expect(bills({ items, lines })).toEqual(['0.01 0.00 0.00', '0.00 0.02 0.00', '0.03 0.00 0.00']);
  });

  it('belong to one purchase each where two asked for the same SKU', () => {
    const items = [item(['TRANS14', 'TSTMP1']), item(['TSTMP1'])];
    const lines = [line('TRANS14', 1), line('TSTMP1', 2), line('TSTMP1', 4)];
    expect(bills({ items, lines })).toEqual(['0.03 0.00 0.00', '0.04 0.00 0.00']);
    expect(bills({ items, lines: lines.slice(0, 2) })).toEqual(['0.03 0.00 0.00', 'unknown']);
  });

  it('with a SKU that nobody asked for belong to the purchase without a line, else to the order', () => {
    const items = [order, item(['DIFFQ2'])];
    expect(bills({ items, lines: [line('TRANS14', 860), line('DIFFQ9', 100)] })).toEqual([
      '8.60 0.00 0.00',
      '1.00 0.00 0.00',
    ]);
    const more = [line('TRANS14', 860), line('DIFFQ2', 100), line('TAX', 9)];
    expect(bills({ items, lines: more })).toEqual(['8.69 0.00 0.00', '1.00 0.00 0.00']);
  });

  it('of a SKU that is billed twice do not stand for an upgrade that is not billed yet', () => {
    const lines = [line('TRANS14', 860), line('TRANS14', 40), line('', 9)];
    expect(bills({ items: [order, item(['TSTMP1'])], lines })).toEqual(['9.09 0.00 0.00', 'unknown']);
  });

  it('that can not be read leave what the total says, and else nothing that is known', () => {
    const lines = [line('TRANS14', 860), line('TSTMP1', undefined)];
    expect(bills({ lines })).toEqual(['unknown']);
    expect(bills({ lines, isCancelled: true })).toEqual(['unknown']);
    expect(bills({ lines, total: total(1360) })).toEqual(['13.60 0.00 0.00']);
    expect(bills({ lines: [line('TRANS14', 1, true, 'EUR'), line('X', 1, true, 'USD')] })).toEqual([
      'unknown',
    ]);
  });

  it('are added up with amounts that name no currency', () => {
    const lines = [line('TRANS14', 2100, true, 'USD'), line('TSTMP1', 4200)];
    const [bill] = billFile({ ...nothing, lines });
    expect([bill?.currency, bill && amountText(paidOf(bill))]).toEqual(['USD', '63.00']);
  });

  it('are not held against a total in another currency', () => {
    const items = [order, item(['TSTMP1'])];
    const lines = [line('TRANS14', 860, true, 'EUR')];
    expect(bills({ items, lines, total: total(2000, 'USD') })).toEqual(['8.60 0.00 0.00', 'unknown']);
  });
});

describe('a share of a line that names no file', () => {
  const shared = (sku: string, amount: number, isPaid = true): BillLine => ({
    ...line(sku, amount, isPaid),
    isShared: true,
  });

  it('is of the purchase with its SKU, else of the order', () => {
    const items = [order, item(['TSTMP1'])];
    expect(bills({ lines: [shared('TRANS14', 1200)] })).toEqual(['12.00 0.00 0.00']);
    expect(bills({ items, lines: [line('TRANS14', 860), shared('FEE', 40)] })).toEqual([
      '9.00 0.00 0.00',
      'unknown',
    ]);
    expect(bills({ items, lines: [line('TRANS14', 860), shared('TSTMP1', 40)] })[1]).toBe('0.40 0.00 0.00');
  });

  it('is a discount below zero, and a refund where the file is refunded', () => {
    const lines = [line('TRANS14', 1200), shared('DISCOUNT', -200)];
    expect(bills({ lines })).toEqual(['10.00 0.00 0.00']);
    expect(bills({ lines: [line('TRANS14', 1200, false), shared('DISCOUNT', -200, false)] })).toEqual([
      '0.00 10.00 0.00',
    ]);
    expect(bills({ lines: [line('TRANS14', 100), shared('DISCOUNT', -300)] })).toEqual(['0.00 0.00 2.00']);
    expect(bills({ lines, items: refunded([order]) })).toEqual(['12.00 0.00 12.00']);
  });
});

describe('a total that is more than the lines', () => {
  const lines = [line('TRANS14', 860)];

  it('has what is not on an invoice yet', () => {
    const items = [order, item(['TSTMP1'], 860)];
    expect(bills({ items, lines, total: total(1360) })).toEqual(['8.60 0.00 0.00', '0.00 5.00 0.00']);
    expect(bills({ items, lines, total: total(1360), restPayment: 'paid' })).toEqual([
      '8.60 0.00 0.00',
      '5.00 0.00 0.00',
    ]);
    expect(bills({ items, lines, total: total(1360), restPayment: 'unread' })).toEqual([
      '8.60 0.00 0.00',
      '0.00 0.00 0.00 5.00 unread',
    ]);
  });

  it('does not have what was bought since, where it has not grown', () => {
    const items = [order, item(['TSTMP1'], 860)];
    expect(bills({ items, lines, total: total(860) })).toEqual(['8.60 0.00 0.00', 'unknown']);
    expect(bills({ items, lines, total: total(800) })).toEqual(['8.60 0.00 0.00', 'unknown']);
    expect(bills({ items, lines })).toEqual(['8.60 0.00 0.00', 'unknown']);
  });

  it('has what a line says for two purchases', () => {
    const items = [order, item(['UPGRD1'], 860)];
    const one = [line('TRANS6', 1250)];
    expect(bills({ items, lines: one, total: total(1250) })).toEqual(['12.50 0.00 0.00', '0.00 0.00 0.00']);
  });

  it('has the SKUs that are not on the invoice yet', () => {
    const items = [item(['TRANS14', 'TSTMP1'])];
    expect(bills({ items, lines, total: total(1360) })).toEqual(['8.60 5.00 0.00']);
    // All of them are: what is left is of another file of the invoice.
    expect(bills({ lines, total: total(1360) })).toEqual(['8.60 0.00 0.00']);
  });
});

describe('a total without lines', () => {
  it('is paid or not as the invoices are', () => {
    expect(bills({ total: total(860) })).toEqual(['8.60 0.00 0.00']);
    expect(bills({ total: total(860), totalPayment: 'unpaid' })).toEqual(['0.00 8.60 0.00']);
    expect(bills({ total: total(860), totalPayment: 'unread' })).toEqual(['0.00 0.00 0.00 8.60 unread']);
    expect(bills({})).toEqual(['unknown']);
  });

  it('is the cost of upgrades by what it has grown', () => {
    const items = [order, item(['TSTMP1'], 860), item(['CAPTION1'], 1360)];
    expect(bills({ items, total: total(1500) })).toEqual([
      '8.60 0.00 0.00',
      '5.00 0.00 0.00',
      '1.40 0.00 0.00',
    ]);
    expect(bills({ items, total: total(1360) })).toEqual(['8.60 0.00 0.00', '5.00 0.00 0.00', 'unknown']);
    expect(bills({ items, total: total(860) })).toEqual(['8.60 0.00 0.00', 'unknown', 'unknown']);
  });

  it('has an upgrade that was bought before any total was known', () => {
    expect(bills({ items: [order, item(['TSTMP1'])], total: total(1360) })).toEqual([
      '13.60 0.00 0.00',
      '0.00 0.00 0.00',
    ]);
  });

  it('that has become less is what all of it costs', () => {
    const items = [order, item(['TSTMP1'], 860), item(['CAPTION1'], 700)];
    expect(bills({ items, total: total(900) })).toEqual([
      '7.00 0.00 0.00',
      '0.00 0.00 0.00',
      '2.00 0.00 0.00',
    ]);
  });
});

describe('what comes back', () => {
  it('is a credit on a paid invoice; on another one there is less to pay', () => {
    expect(bills({ lines: [line('TRANS14', 860), line('TRANS14', -200)] })).toEqual(['8.60 0.00 2.00']);
    expect(bills({ lines: [line('TRANS14', 860, false), line('TRANS14', -200, false)] })).toEqual([
      '0.00 6.60 0.00',
    ]);
    expect(bills({ lines: [line('TRANS14', 860), line('TRANS14', -200, false)] })).toEqual([
      '8.60 0.00 0.00',
    ]);
    expect(bills({ lines: [line('TRANS14', 860, false), line('X', -200)] })).toEqual(['0.00 6.60 0.00']);
    expect(bills({ lines: [line('TRANS14', 860), line('X', -1000)] })).toEqual(['8.60 0.00 10.00']);
  });

  it('is of the purchase with its SKU', () => {
    const items = [order, item(['TSTMP1'])];
    const lines = [line('TRANS14', 860), line('TSTMP1', 500), line('TSTMP1', -600)];
    expect(bills({ items, lines })).toEqual(['8.60 0.00 1.00', '5.00 0.00 5.00']);
  });

  it('of a cost that is not known leaves that unknown', () => {
    const [bill] = billFile({ ...nothing, lines: [line('TRANS14', -200)] });
    expect([bill?.isKnown, bill && amountText(refundedOf(bill))]).toEqual([false, '2.00']);
  });

  it('is everything that is known to be charged before a refund that no invoice shows', () => {
    const items = refunded([order, item(['TSTMP1'])]);
    const lines = [line('TRANS14', 860), line('TSTMP1', 500, false)];
    expect(bills({ items, lines })).toEqual(['8.60 0.00 8.60', '0.00 0.00 0.00']);
    expect(bills({ items, total: total(1360) })).toEqual(['13.60 0.00 13.60', '0.00 0.00 0.00']);
    expect(bills({ items, total: total(1360), totalPayment: 'unread' })[0]).toBe('13.60 0.00 13.60');
    expect(bills({ items })).toEqual(['unknown', 'unknown']);
    expect(bills({ items, areInvoicesRead: true })).toEqual(['0.00 0.00 0.00', '0.00 0.00 0.00']);
  });

  it('is the total before the refund, where the service says none since', () => {
    const items = refunded([order, item(['TSTMP1'], 860)], 860);
    expect(bills({ items })).toEqual(['8.60 0.00 8.60', 'unknown']);
  });

  it('is what the invoice says, where it shows a refund', () => {
    const items = refunded([order], 1000);
    const lines = [line('TRANS14', 1000), line('TRANS14', -400)];
    expect(bills({ items, lines, total: total(600) })).toEqual(['10.00 0.00 4.00']);
    const both = refunded([order, item(['TSTMP1'], 860)], 1360);
    const some = [line('TRANS14', 860), line('TRANS14', -860)];
    expect(bills({ items: both, lines: some, total: total(1360) })).toEqual(['8.60 0.00 8.60', 'unknown']);
  });

  it('is nothing of what was bought after the refund', () => {
    const upgrade = item(['TSTMP1']);
    const items = [...refunded([order], 860), upgrade];
    expect(bills({ items })).toEqual(['8.60 0.00 8.60', 'unknown']);
    expect(bills({ items, total: total(500) })).toEqual(['8.60 0.00 8.60', '5.00 0.00 0.00']);
    expect(bills({ items: [...refunded([order]), upgrade, upgrade], total: total(500) })).toEqual([
      'unknown',
      '5.00 0.00 0.00',
      '0.00 0.00 0.00',
    ]);
    const known = [...refunded([order]), item(['TSTMP1'], 860)];
    expect(bills({ items: known, total: total(1360) })).toEqual(['8.60 0.00 8.60', '5.00 0.00 0.00']);
    expect(bills({ items: known, total: total(860) })).toEqual(['8.60 0.00 8.60', 'unknown']);
    const lines = [line('TRANS14', 860), line('TRANS14', -860)];
    expect(bills({ items, lines, total: total(500) })).toEqual(['8.60 0.00 8.60', 'unknown']);
    const more = [...lines, line('TSTMP1', 500)];
    expect(bills({ items, lines: more, total: total(500) })).toEqual(['8.60 0.00 8.60', '5.00 0.00 0.00']);
  });

  it('is nothing where nothing was billed and the order is cancelled', () => {
    expect(bills({ isCancelled: true })).toEqual(['0.00 0.00 0.00']);
    expect(bills({ isCancelled: true, total: total(860) })).toEqual(['8.60 0.00 0.00']);
    expect(bills({ isCancelled: true, lines: [line('TRANS14', 860)] })).toEqual(['8.60 0.00 0.00']);
  });
});

describe('whatever the service says', () => {
  const sku = fc.constantFrom('TRANS14', 'TRANS6', 'TRANS7', 'TSTMP1', 'DIFFQ2', 'CAPTION1', 'OTHER', '');
  const amount = fc.integer({ min: -2_000, max: 5_000 });
  const lines = fc.array(
    fc
      .tuple(sku, amount, fc.boolean(), fc.boolean())
      .map(([name, each, paid, isShared]) => ({ ...line(name, each, paid), isShared })),
    { maxLength: 6 },
  );
  const items = fc
    .array(
      fc
        .tuple(fc.uniqueArray(sku.filter(Boolean), { minLength: 1, maxLength: 3 }), fc.option(fc.nat(5_000)))
        .map(([skus, before]) => item(skus, before ?? undefined)),
      { minLength: 1, maxLength: 4 },
    )
    .map(([first = order, ...more]) => [{ ...first, totalBefore: undefined }, ...more]);
  /** Some of them are bought before a refund. */
  const boughtAndRefunded = fc
    .tuple(items, fc.nat(4), fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }))
    .map(([all, count, before]): BillItem[] => [
      ...refunded(all.slice(0, count), before),
      ...all.slice(count),
    ]);
  const payment = fc.constantFrom<Payment>('paid', 'unpaid', 'unread');
  const someTotal = fc.option(
    fc.integer({ min: 1, max: 9_000 }).map((each) => total(each)),
    { nil: undefined },
  );
  const file = fc.record({
    ...{ items: boughtAndRefunded, lines, total: someTotal, totalPayment: payment, restPayment: payment },
    ...{ areInvoicesRead: fc.boolean(), isCancelled: fc.boolean() },
  });
  const unrefunded = file.map((some) => ({
    ...some,
    items: some.items.map((each) => ({ ...each, refund: undefined })),
  }));
  const hasCredit = ({ lines: given }: BilledFile): boolean =>
    given.some((each) => (each.amount?.sign ?? 0) < 0 && !each.isShared);

  const sums = (given: BilledFile) => {
    const all = billFile(given);
    return [paidOf, unpaidOf, refundedOf, unreadOf].map((part) => sumOf(all.map(part)).toNumber());
  };
  const sumWhere = (given: readonly BillLine[], test: (each: BillLine, amount: number) => boolean): number =>
    given.reduce((sum, each) => {
      const own = Math.round((each.amount ?? Fraction.zero).toNumber() * 100);
      return test(each, own) ? sum + own : sum;
    }, 0);

  it('no sum is below zero', () => {
    fc.assert(
      fc.property(file, (given) => {
        for (const bill of billFile(given))
          for (const part of bill.parts)
            for (const each of [part.paid, part.unpaid, part.unread, part.refunded])
              expect(each.sign).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('purchases cost together what the lines say', () => {
    fc.assert(
      fc.property(file, (some) => {
        const given = { ...some, total: undefined };
        fc.pre(hasCredit(given) || !given.items[0]?.refund);
        const [paid, unpaid] = [true, false].map((which) =>
          sumWhere(given.lines, (each, own) => each.paid === which && own > 0),
        ) as [number, number];
        const [paidBack, unpaidBack] = [true, false].map(
          (which) => 0 - sumWhere(given.lines, (each, own) => each.paid === which && own < 0),
        ) as [number, number];
        const owed = Math.max(0, unpaid - unpaidBack);
        const settled = Math.min(owed, Math.max(0, paidBack - paid));
        const discount = given.items[0]?.refund
          ? 0
          : 0 - sumWhere(given.lines, (each, own) => each.paid && own < 0 && each.isShared === true);
        const off = Math.min(discount, paid);
        expect(sums(given)).toEqual([
          ...[(paid - off) / 100, (owed - settled) / 100, (paidBack - settled - off) / 100],
          0,
        ]);
      }),
    );
  });

  it('purchases cost together the total, where there is no line', () => {
    fc.assert(
      fc.property(unrefunded, (some) => {
        const given = { ...some, lines: [] };
        const [paid, unpaid, , unread] = sums(given);
        const { totalPayment, total: all } = given;
        expect({ paid, unpaid, unread }).toEqual({
          ...{ paid: 0, unpaid: 0, unread: 0 },
          [totalPayment]: all?.amount.toNumber() ?? 0,
        });
      }),
    );
  });

  it('never cost more together than the lines and the total', () => {
    fc.assert(
      fc.property(file, (given) => {
        const [paid = 0, unpaid = 0, , unread = 0] = sums(given);
        const billed = sumWhere(given.lines, (_, own) => own > 0) / 100;
        const before = given.items.map(
          (each) => each.refund?.total ?? (each.totalBefore && { amount: each.totalBefore }),
        );
        const earlier = given.items[0]?.refund
          ? Math.max(...before.map((each) => each?.amount.toNumber() ?? 0))
          : 0;
        const most = Math.max(billed, (given.total?.amount.toNumber() ?? 0) + earlier);
        expect(paid + unpaid + unread).toBeLessThanOrEqual(most + 1e-9);
      }),
    );
  });

  it('a refund that no invoice shows leaves nothing spent and nothing to pay of what was bought before', () => {
    fc.assert(
      fc.property(file, (given) => {
        fc.pre(!hasCredit(given));
        for (const [at, bill] of billFile(given).entries())
          if (given.items[at]?.refund) {
            expect([unpaidOf(bill).sign, unreadOf(bill).sign]).toEqual([0, 0]);
            expect(refundedOf(bill).compare(paidOf(bill))).toBeGreaterThanOrEqual(0);
          }
      }),
    );
  });

  it('a refund makes nothing known, and returns nothing of what was bought after it', () => {
    fc.assert(
      fc.property(file, fc.integer({ min: 1, max: 9_000 }), (given, all) => {
        const bought = [order, item(['EDIT01'])];
        const later = {
          ...given,
          items: [...refunded(bought), item(['EDIT02'])],
          lines: [],
          total: undefined,
        };
        const isKnown = (of: BilledFile): boolean[] => billFile(of).map((bill) => bill.isKnown);
        expect(isKnown({ ...later, isCancelled: false })).toEqual([false, false, false]);
        const last = billFile({ ...later, total: total(all) }).at(-1);
        expect(
          last && [refundedOf(last).sign, paidOf(last).plus(unpaidOf(last)).plus(unreadOf(last)).toNumber()],
        ).toEqual([0, all / 100]);
      }),
    );
  });

  it('the order of lines does not matter', () => {
    fc.assert(
      fc.property(file, fc.nat(), (given, by) => {
        // Of two lines with one SKU, the first is of the first purchase.
        fc.pre(hasCredit(given) || given.items[0]?.refund === given.items.at(-1)?.refund);
        const at = by % (given.lines.length || 1);
        const turned = [...given.lines.slice(at), ...given.lines.slice(0, at)].reverse();
        expect(sums({ ...given, lines: turned })).toEqual(sums(given));
      }),
    );
  });

  it('what no line has, and a total had before, is not known', () => {
    fc.assert(
      fc.property(file, fc.boolean(), (some, hasLine) => {
        const upgrade = { skus: ['EDIT01'], totalBefore: cents(3_000) };
        const given = {
          ...some,
          items: [order, upgrade],
          lines: hasLine ? [line('TRANS14', 3_000)] : [],
          total: total(3_000),
        };
        expect(billFile(given).map(({ isKnown }) => isKnown)).toEqual([true, false]);
      }),
    );
  });
});
