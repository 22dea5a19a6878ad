/** What was spent, how long transcripts took, and what is late: sums that are exact, and nothing counted twice. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportInput, ReportInvoice } from '../../../src/flows/report/gather.ts';
import { makeReport } from '../../../src/flows/report/report.ts';
import type { SpendRow } from '../../../src/flows/report/spend.ts';
import { amountText, Fraction, sumOf } from '../../../src/lib/money.ts';
import {
  busyInput,
  emptyInput,
  hostileInput,
  invoiceOf,
  NOW,
  reportFile,
} from '../../support/report-samples.ts';

const report = (input: Partial<ReportInput>) => {
  const { groups, ...made } = makeReport({ ...emptyInput, ...input });
  return { ...made, groups, months: groups.month, skus: groups.sku, orders: groups.order };
};

const shown = (rows: readonly SpendRow[]): string[] =>
  rows.map(({ name, spent, refunded, unpaid, currency, minutes, files }) =>
    [
      name || '-',
      amountText(spent),
      refunded.sign ? `-${amountText(refunded)}` : '',
      unpaid.sign ? `+${amountText(unpaid)} unpaid` : '',
      currency === 'USD' ? '' : currency,
      `${minutes.toExact()}m`,
      files,
    ]
      .filter((each) => each !== '')
      .join(' '),
  );

const unbilled = (rows: readonly SpendRow[]): string[] =>
  rows.map((row) =>
    [row.name, amountText(row.spent), amountText(row.estimated), row.currency, row.unbilled].join(' '),
  );

const files = [
  reportFile('1', { order: 'A', skus: ['TRANS14', 'TSTMP1'] }),
  reportFile('2', { order: 'A', duration: '2.5' }),
  reportFile('3', { order: 'B', skus: ['TRANS7'], duration: '' }),
];

describe('spend', () => {
  it('is added up by month, SKU and order, each file once', () => {
    const { months, skus, orders, totals, notes } = report({
      files,
      invoices: [
        invoiceOf('1', '2026-08-30T23:00:00-02:00', [
          ['TRANS14', '1', '10', '0.86'],
          ['TSTMP1', '1', '10', '0.50'],
        ]),
        invoiceOf('2', '2026-09-02', [
          ['TRANS14', '2', '2.5', '0.86'],
          ['TRANS7', '3', '4', '1.25'],
        ]),
      ],
    });
    expect(shown(months)).toEqual(['2026-08 13.60 10m 1', '2026-09 7.15 2.5m 2']);
    expect(shown(skus)).toEqual(['TRANS14 10.75 12.5m 2', 'TRANS6 5.00 0m 1', 'TSTMP1 5.00 10m 1']);
    expect(shown(orders)).toEqual(['A 15.75 12.5m 2', 'B 5.00 0m 1']);
    expect(shown(totals)).toEqual(['- 20.75 12.5m 3']);
    expect(notes).toEqual(['1 file not in the minutes: length not known']);
  });

  it('is what was paid, less credits; those are said apart', () => {
    const { totals, skus } = report({
      files,
      currency: 'USD',
      invoices: [
        invoiceOf('1', '2026-08-01', [
          ['TRANS14', '2', '10', '1'],
          ['TRANS14', '2', '-4', '1'],
        ]),
      ],
    });
    expect(shown(totals)).toEqual(['- 6.00 -4.00 2.5m 1']);
    expect(shown(skus)).toEqual([
      'TRANS14 6.00 -4.00 2.5m 1',
      'TRANS14+TSTMP1 0.00 0m 0',
      'TRANS6 0.00 0m 0',
    ]);
  });

  it('is nothing of a file that was refunded, whether its invoice shows it or not', () => {
    const invoices = [invoiceOf('1', '2026-08-01', [['TRANS14', '1', '10', '1']])];
    const { totals, notes } = report({ files: [reportFile('1', { state: 'Refunded' })], invoices });
    expect([shown(totals), notes]).toEqual([['- 0.00 -10.00 10m 1'], []]);
  });

  it.each(['CREATED', 'OPEN', 'SUBMITTED', 'NEW', ''])(
    'has what is billed and not paid apart: %s',
    (state) => {
      const [a, b] = [invoiceOf('1', '2026-08-01', [['TRANS14', '1', '10', '1']]), { state }];
      const other = { ...invoiceOf('2', '2026-08-01', [['TSTMP1', '1', '10', '0.5']]), ...b };
      expect(shown(report({ files, invoices: [a, other] }).totals)).toEqual(['- 10.00 +5.00 unpaid 10m 1']);
    },
  );

  it.each([
    ['CREATED', '- 0.00 +8.60 unpaid 10m 1'],
    ['PAID', '- 8.60 10m 1'],
  ])('is the total of a file whose invoice, which is %s, has no items', (state, wanted) => {
    const one = [reportFile('1', { total: '8.60', invoices: ['501'] })];
    for (const total of ['', '0', '8.60']) {
      const invoices = [invoiceOf('501', '2026-08-01', [], { state, total })];
      expect(shown(report({ files: one, invoices }).totals)).toEqual([wanted]);
    }
    // Of what the files do not explain, nothing was spent where it came back; else it was billed all the same.
    const back = [...one, reportFile('2', { invoices: ['501'], state: 'Refunded', ended: 'unfinished' })];
    const both = [invoiceOf('501', '2026-08-01', [], { state, total: '10' })];
    expect(shown(report({ files: back, invoices: both }).totals)).toEqual([wanted]);
    const more = [invoiceOf('501', '2026-08-01', [], { state: 'PAID', total: '10' })];
    expect(shown(report({ files: one, invoices: more }).totals)).toEqual(['- 10.00 10m 1']);
  });

  it('counts an invoice once, though it was asked for by two ids', () => {
    const one = [reportFile('1', { invoices: ['A', 'B'], total: '10' })];
    const [old, now] = ['CREATED', 'PAID'].map((state, at) =>
      invoiceOf('501', '2026-08-01', [['TRANS14', '1', '10', '1']], { state, askedAs: at ? 'B' : 'A' }),
    ) as [ReportInvoice, ReportInvoice];
    expect(shown(report({ files: one, invoices: [old, now] }).totals)).toEqual(['- 10.00 10m 1']);
    const empty = { ...now, items: [], total: '10' };
    for (const invoices of [[empty], [{ ...empty, askedAs: 'A' }, empty]]) {
      const named = one.map((file) => ({ ...file, invoices: invoices.map(({ askedAs }) => askedAs) }));
      expect(shown(report({ files: named, invoices }).totals)).toEqual(['- 10.00 10m 1']);
    }
  });

  it('is in one currency where no other is named', () => {
    const invoices = [
      invoiceOf('1', '2026-08-01', [['TRANS14', '1', '1', '$21.00']]),
      invoiceOf('2', '2026-08-01', [['TRANS14', '2', '1', '42']]),
    ];
    expect(shown(report({ files, invoices }).totals)).toEqual(['- 63.00 12.5m 2']);
    const some = [reportFile('1', { total: '$21.00' }), reportFile('2', { total: '42' })];
    expect(shown(report({ files: some }).totals)).toEqual(['- 63.00 20m 2']);
  });

  it('has the cost of an upgrade, and says which purchases have none yet', () => {
    const estimate = { amount: Fraction.of(5), currency: 'USD' };
    const bought = [
      {
        skus: ['TRANS14'],
        by: '',
        totalBefore: undefined,
        estimate: undefined,
        at: '2026-08-01T10:00:00.000Z',
      },
      {
        skus: ['TSTMP1'],
        by: '',
        totalBefore: Fraction.of(860, 100),
        estimate,
        at: '2026-09-01T10:00:00.000Z',
      },
    ];
    const upgraded = (total: string) =>
      report({ files: [reportFile('1', { bought, total })], currency: 'USD' });
    expect(shown(upgraded('13.60').skus)).toEqual(['TRANS14 8.60 10m 1', 'TSTMP1 5.00 10m 1']);
    const before = upgraded('8.60');
    expect([shown(before.totals), before.notes]).toEqual([
      ['- 8.60 10m 1'],
      ['1 purchase not billed yet: about 5.00 USD by estimate'],
    ]);
    const open = reportFile('2', { ended: '', deliveredAt: '', state: 'Transcribing' });
    const notes = report({ files: [reportFile('1', { bought }), open], currency: 'USD' }).notes;
    expect(notes).toEqual([
      '1 delivered file not counted: cost not known yet',
      '2 purchases not billed yet: about 5.00 USD by estimate, 1 of unknown cost',
    ]);
  });

  it('takes the total of an item before price and quantity, and counts what no item explains', () => {
    const invoice = invoiceOf('1', '2026-08-01', [['TRANS14', '2', '3', '0.333']], { total: '1.25' });
    const items = [{ ...invoice.items[0], total: '1.00' }] as typeof invoice.items;
    const billed = files.slice(1, 2);
    expect(shown(report({ files: billed, invoices: [{ ...invoice, items }] }).skus)).toEqual([
      'TRANS14 1.00 2.5m 1',
      '- 0.25 2.5m 1',
    ]);
    expect(shown(report({ files: billed, invoices: [invoice] }).skus)).toEqual([
      'TRANS14 0.999 2.5m 1',
      '- 0.251 2.5m 1',
    ]);
  });

  it('is what files say, in the same currency, where no invoice has them; never both', () => {
    const paid = files.map((file) => ({ ...file, total: '3.30' }));
    expect(shown(report({ files: paid, currency: 'EUR' }).skus)).toEqual([
      'TRANS14 3.30 EUR 2.5m 1',
      'TRANS14+TSTMP1 3.30 EUR 10m 1',
      'TRANS6 3.30 EUR 0m 1',
    ]);
    const named = { invoices: [invoiceOf('1', '2026-08-01', [['TRANS14', '1', '1', '1']])] };
    expect(shown(report({ files: paid, currency: 'USD', ...named }).totals)).toEqual([
      '- 7.60 +2.30 unpaid 12.5m 3',
    ]);
  });

  it('counts no test order, and nothing that was cancelled or refunded before it was billed', () => {
    const some = [
      reportFile('1', { total: '5', test: true }),
      reportFile('2', { total: '0', ended: 'unfinished', state: 'Refunded' }),
      reportFile('3', { total: '', ended: 'unfinished', state: 'Order Cancelled' }),
      reportFile('4', { total: '5' }),
    ];
    const { totals, notes } = report({ files: some });
    expect([shown(totals), notes]).toEqual([['- 5.00 10m 1'], []]);
  });

  it('says what it could not count', () => {
    const { totals, notes, months } = report({
      files: [reportFile('1'), reportFile('2', { total: 'a lot' }), reportFile('3', { total: '0' })],
      invoices: [
        invoiceOf('8', '03/04/2026', [['TRANS14', '4', 'many', '1']], { total: 'a lot' }),
        invoiceOf('9', 'soon', [['TRANS14', '5', '2', '1']]),
      ],
    });
    expect(shown(totals)).toEqual(['- 2.00 0m 1']);
    expect(shown(months)).toEqual(['2026-08 0.00 0m 0', '- 2.00 0m 1']);
    expect(notes).toEqual([
      '3 delivered files not counted: cost not known yet',
      '1 file not in the minutes: length not known',
      'some invoices have no readable date, so they count in no month',
      "not counted, because it can't be read: invoice 8: its total; file 2: its total; invoice 8: TRANS14",
    ]);
  });

  it('adds up no two currencies', () => {
    const invoices = [
      invoiceOf('1', '2026-08-01', [
        ['TRANS14', '1', '1', '€5'],
        ['TRANS14', '1', '1', '$7'],
        ['TRANS14', '1', '1', '9'],
      ]),
    ];
    expect(shown(report({ files, invoices }).totals)).toEqual(['- 5.00 EUR 10m 1', '- 16.00 10m 1']);
    expect(shown(report({ files, invoices, currency: 'EUR' }).totals)).toContain('- 14.00 EUR 10m 1');
  });

  it('has what is not billed yet by the date of its purchase, with its estimate', () => {
    const estimate = { amount: Fraction.of(860, 100), currency: 'USD' };
    const open = (id: string, at: string, more: object = {}) =>
      reportFile(id, {
        ...{ ended: '', deliveredAt: '', state: 'Transcribing', order: 'A', orderedAt: at },
        bought: [{ skus: ['TRANS14'], by: '', totalBefore: undefined, estimate: undefined, at, ...more }],
      });
    const some = [
      open('1', '2026-08-31T23:00:00.000Z', { estimate }),
      open('2', '2026-09-01T00:00:00.000Z', { estimate }),
      open('3', '2026-09-02T00:00:00.000Z'),
      open('4', '2026-09-03T00:00:00.000Z', { refund: { total: undefined } }),
    ];
    const all = report({ files: some });
    expect(unbilled(all.months)).toEqual(['2026-08 0.00 8.60 USD 1', '2026-09 0.00 8.60 USD 2']);
    expect(unbilled(all.skus)).toEqual(['TRANS14 0.00 17.20 USD 3']);
    expect(unbilled(all.orders)).toEqual(['A 0.00 17.20 USD 3']);
    expect(unbilled(all.totals)).toEqual([' 0.00 17.20 USD 3']);
    const since = report({ files: some, since: '2026-09-01T00:00:00.000Z' });
    expect([unbilled(since.months), since.notes]).toEqual([
      ['2026-09 0.00 8.60 USD 2'],
      ['2 purchases not billed yet: about 8.60 USD by estimate, 1 of unknown cost'],
    ]);
  });

  it('is of what came until a time alone', () => {
    const invoices = ['2026-07-31', '2026-08-01', 'soon'].map((created, at) =>
      invoiceOf(String(at), created, [['TRANS14', '2', '1', '1']]),
    );
    const { totals, notes } = report({ files: [], invoices, until: '2026-07-31T23:59:59.999Z' });
    expect(shown(totals)).toEqual(['- 1.00 0m 1']);
    expect(notes.at(-1)).toMatch(/can't be read: invoice 2: its date/);
    expect(report({ files, until: '2026-08-11T09:00:00.000Z' }).turnaround).toEqual([]);
  });

  it('is of what came since a time alone', () => {
    const invoices = ['2026-07-31', '2026-08-01', 'soon'].map((created, at) =>
      invoiceOf(String(at), created, [['TRANS14', '2', '1', '1']]),
    );
    const { totals, notes } = report({ files, invoices, since: '2026-08-01T00:00:00.000Z' });
    expect(shown(totals)).toEqual(['- 1.00 2.5m 1']);
    expect(notes.at(-1)).toMatch(/can't be read: invoice 2: its date/);
  });

  it('has the same sum however it is divided, to the last digit', () => {
    const line = fc.tuple(
      fc.constantFrom('TRANS14', 'TRANS6', 'TRANS7', 'X', ''),
      fc.constantFrom('1', '2', '3', '4', ''),
      fc.integer({ min: -50, max: 500 }).map((n) => String(n / 4)),
      fc.integer({ min: 0, max: 10 ** 6 }).map((n) => `${n}e-3`),
    );
    const invoice = fc.tuple(fc.constantFrom('2026-01-05', '2026-02-28', '2025-12-31', '?'), fc.array(line));
    fc.assert(
      fc.property(fc.array(invoice), (list) => {
        const invoices = list.map(([created, lines], at) => invoiceOf(String(at), created, lines));
        const tagged = files.map((file, at) => ({
          ...file,
          tags: ['tv', 'radio'].slice(at),
          feed: at ? 'A' : '',
        }));
        const { totals, groups } = report({ files: tagged, invoices });
        const net = (rows: readonly SpendRow[]) =>
          (['spent', 'refunded', 'unpaid'] as const).map((part) =>
            amountText(sumOf(rows.map((row) => row[part]))),
          );
        for (const rows of Object.values(groups)) expect(net(rows)).toEqual(net(totals));
        const cents = list
          .flatMap(([, lines]) => lines)
          .map(([, , quantity, price]) => BigInt(Number(quantity) * 4) * BigInt(price.replace('e-3', '')));
        const wanted = Fraction.of(
          cents.reduce((sum, each) => sum + each, 0n),
          4000,
        );
        expect(sumOf(totals.map((row) => row.spent)).equals(wanted)).toBe(true);
      }),
    );
  });
});

describe('turnaround', () => {
  const took = (id: string, days: number, skus = ['TRANS6']) =>
    reportFile(id, {
      skus,
      orderedAt: '2026-08-01T00:00:00.000Z',
      deliveredAt: new Date(Date.parse('2026-08-01T00:00:00Z') + days * 86_400_000).toISOString(),
    });

  it('is the median and the slowest from order to delivery, against the target', () => {
    const list = [took('1', 2), took('2', 4), took('3', 6), took('4', 6.001), took('5', 1, ['TRANS7'])];
    expect(report({ files: list }).turnaround).toEqual([
      {
        sku: 'TRANS6',
        targetDays: 6,
        delivered: 5,
        onTime: 4,
        late: 1,
        medianSeconds: 4 * 86_400,
        slowestSeconds: Math.round(6.001 * 86_400),
        unmeasured: 0,
      },
    ]);
  });

  it('has no target where the document has none, and no time where the ledger has none', () => {
    const list = [
      took('1', 1, ['EMSR02']),
      reportFile('2', { skus: ['EMSR02'], deliveredAt: '' }),
      took('3', -1, ['EMSR02']),
    ];
    expect(report({ files: list }).turnaround).toMatchObject([
      {
        sku: 'EMSR02',
        targetDays: undefined,
        delivered: 3,
        onTime: 0,
        late: 0,
        medianSeconds: 86_400,
        unmeasured: 2,
      },
    ]);
    expect(report({ files: [reportFile('2', { deliveredAt: '' })] }).turnaround).toMatchObject([
      { delivered: 1, onTime: 0, late: 0, medianSeconds: undefined, slowestSeconds: undefined },
    ]);
  });

  it('counts by the faster SKU after an upgrade', () => {
    expect(report({ files: [took('1', 3, ['TRANS14', 'UPGRD2'])] }).turnaround).toMatchObject([
      { sku: 'TRANS2', targetDays: 1, late: 1 },
    ]);
  });

  it('is between the fastest and the slowest', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1 }), (days) => {
        const [row] = report({ files: days.map((each, at) => took(String(at), each)) }).turnaround;
        const sorted = [...days].sort((one, other) => one - other);
        const below = sorted.filter((each) => each * 86_400 < (row?.medianSeconds ?? 0)).length;
        expect(below).toBeLessThanOrEqual(days.length / 2);
        expect(row?.slowestSeconds).toBe((sorted.at(-1) ?? 0) * 86_400);
        expect((row?.onTime ?? 0) + (row?.late ?? 0)).toBe(days.length);
      }),
    );
  });
});

describe('what waits', () => {
  const open = (id: string, daysAgo: number, more = {}) =>
    reportFile(id, {
      ended: '',
      state: 'Transcribing',
      deliveredAt: '',
      orderedAt: new Date(NOW - daysAgo * 86_400_000).toISOString(),
      ...more,
    });

  it('is late once its target is past, the latest first; what is held is not', () => {
    const { waiting, counts } = report({
      files: [
        open('1', 13),
        open('2', 15),
        open('3', 20),
        open('4', 90, { hold: 'billing' }),
        open('5', 90, { skus: ['EMSR02'] }),
        open('6', 90, { test: true }),
        reportFile('7'),
      ],
      unclear: [
        { attempt: '3', at: '2026-11-01T00:00:00Z', url: 'https://example.com/a.mp3', skus: ['TRANS14'] },
      ],
    });
    expect(waiting.map(({ kind, id, lateSeconds }) => [kind, id, lateSeconds / 86_400])).toEqual([
      ['open', '3', 6],
      ['open', '2', 1],
      ['held', '4', 0],
      ['open', '5', 0],
      ['unclear', '', 0],
      ['open', '1', 0],
    ]);
    expect(counts).toEqual({ delivered: 1, open: 4, held: 1, unclear: 1, late: 2 });
  });

  it('is not late at the very end of its target', () => {
    expect(report({ files: [open('1', 14)] }).counts.late).toBe(0);
  });
});

it('makes a report of nothing, of much, and of anything', () => {
  expect(report({})).toMatchObject({ totals: [], months: [], waiting: [], turnaround: [], notes: [] });
  expect(makeReport(busyInput()).groups.month).toHaveLength(13);
  expect(makeReport(hostileInput).counts).toEqual({
    delivered: 10,
    open: 10,
    held: 0,
    unclear: 10,
    late: 10,
  });
});
