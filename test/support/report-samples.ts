/** Reports to show: of nothing, of one file, of a busy year, and of names that people did not mean well. */
import type { ReportFile, ReportInput, ReportInvoice } from '../../src/flows/report/gather.ts';

export const NOW = Date.parse('2026-11-15T12:00:00Z');
const DAY_MS = 86_400_000;

export const emptyInput: ReportInput = {
  files: [],
  invoices: [],
  unclear: [],
  since: undefined,
  until: undefined,
  now: NOW,
  currency: '',
};

export const reportFile = (id: string, more: Partial<ReportFile> = {}): ReportFile => ({
  id,
  title: `Episode ${id}`,
  url: `https://example.com/${id}.mp3`,
  order: `9${id}`,
  feed: '',
  tags: [],
  skus: ['TRANS14'],
  state: 'Delivered',
  ended: 'delivered',
  hold: '',
  test: false,
  orderedAt: '2026-08-01T10:00:00.000Z',
  dueFrom: more.orderedAt ?? '2026-08-01T10:00:00.000Z',
  deliveredAt: '2026-08-11T10:00:00.000Z',
  duration: '10',
  total: '',
  invoices: [],
  bought: [
    {
      ...{ by: 'ada@office', skus: more.skus ?? ['TRANS14'], totalBefore: undefined, estimate: undefined },
      at: more.orderedAt ?? '2026-08-01T10:00:00.000Z',
      refund: more.state === 'Refunded' ? { total: undefined } : undefined,
    },
  ],
  ...more,
});

export const invoiceOf = (
  id: string,
  created: string,
  lines: ReadonlyArray<readonly [sku: string, audiofile: string, quantity: string, price: string]>,
  more: Partial<ReportInvoice> = {},
): ReportInvoice => ({
  id,
  askedAs: id,
  state: 'PAID',
  isFinal: true,
  created,
  total: '',
  items: lines.map(([sku, audiofile, quantity, price]) => ({ sku, audiofile, quantity, price, total: '' })),
  ...more,
});

export const oneInput: ReportInput = {
  ...emptyInput,
  currency: 'USD',
  files: [reportFile('1')],
  invoices: [invoiceOf('1', '2026-08-11', [['TRANS14', '1', '10', '0.86']])],
};

const skus = [
  ['TRANS14'],
  ['TRANS14', 'TSTMP1'],
  ['TRANS6'],
  ['TRANS2', 'VERBATIM1'],
  ['EMSR02'],
  ['TRANS6', 'CAPTION1'],
];
const prices: Readonly<Record<string, string>> = {
  TRANS14: '0.86',
  TRANS6: '1.25',
  TRANS2: '2.50',
  EMSR02: '0.10',
  TSTMP1: '0.50',
  CAPTION1: '1.00',
  VERBATIM1: '0.50',
};
const targetDays: Readonly<Record<string, number>> = { TRANS14: 11, TRANS6: 5, TRANS2: 1, EMSR02: 0.02 };

/** A year of an account that orders a few times a week; `count` files. */
export function busyInput(count = 160): ReportInput {
  const files = Array.from({ length: count }, (_, at): ReportFile => {
    const own = skus[(at * 7) % skus.length] ?? [];
    const orderedAt = new Date(NOW - (count - at) * (365 / count) * DAY_MS).toISOString();
    const took = (targetDays[own[0] ?? ''] ?? 1) * DAY_MS * (0.6 + ((at * 37) % 90) / 100);
    const delivered = Date.parse(orderedAt) + took;
    const isHeld = at === count - 2;
    const isOpen = delivered > NOW || at % 41 === 40 || isHeld;
    return reportFile(String(1001 + at), {
      title: `Town council, session ${at + 1}`,
      order: String(501 + Math.floor(at / 4)),
      skus: own,
      orderedAt,
      deliveredAt: isOpen ? '' : new Date(delivered).toISOString(),
      ended: isOpen ? '' : 'delivered',
      state: isOpen ? 'Transcribing' : 'Delivered',
      hold: isHeld ? 'billing' : '',
      duration: String(12 + ((at * 13) % 48)),
    });
  });
  const delivered = files.filter(({ ended }) => ended === 'delivered');
  const invoices = delivered.map((file, at) =>
    invoiceOf(
      String(7001 + at),
      file.deliveredAt,
      file.skus.map((sku) => [sku, file.id, file.duration, prices[sku] ?? '1'] as const),
    ),
  );
  return {
    ...emptyInput,
    currency: 'USD',
    files,
    invoices: [...invoices, invoiceOf('7999', '2026-06-03', [['TRANS14', '1002', '-12', '0.86']])],
    unclear: [
      {
        attempt: '17',
        at: '2026-11-14T09:00:00.000Z',
        url: 'https://example.com/talks/keynote.mp3',
        skus: ['TRANS14'],
      },
    ],
  };
}

export const hostileTexts = [
  '<script>document.title="owned"</script>',
  '"><img src=x onerror="document.title=\'owned\'">',
  "</title></style></svg><style>*{display:none}</style>'",
  '&lt;b&gt; & &amp; ]]> --> {{x}} %00 \\',
  'null\u0000 bell\u0007 escape\u001b[31m \u202egnp.exe\u202c \u2066x\u2069 lone\ud800',
  'A title without any spaces: '.replaceAll(' ', '') + 'https://example.com/'.repeat(30),
  '東京都議会 定例会 第四回 一般質問および委員会報告'.repeat(6),
  'جلسة مجلس المدينة رقم ١٢ عن الميزانية العامة (mp3) ',
  'פגישת מועצה 2026: תקציב, תחבורה וחינוך',
  '👩‍👩‍👧‍👦 family 🇸🇪 e\u0301 zalgo\u0335\u0336\u0337\u0338',
];

/** Names of all kinds in each place that takes one. */
export const hostileInput: ReportInput = {
  ...busyInput(30),
  currency: '',
  files: hostileTexts.flatMap((text, at) => [
    reportFile(`d${at}`, { title: text, order: text, skus: [text] }),
    reportFile(text, {
      title: text,
      order: text,
      skus: ['TRANS2', text],
      state: text,
      ended: '',
      deliveredAt: '',
    }),
  ]),
  invoices: hostileTexts.map((text, at) =>
    invoiceOf(text, at % 2 ? '2026-09-01' : text, [
      [text, `d${at}`, '10', at % 3 ? `${at + 1}.125` : `€${at + 1}`],
      ['TRANS14', `d${at}`, 'many', text],
    ]),
  ),
  unclear: hostileTexts.map((text) => ({ attempt: text, at: text, url: text, skus: [text] })),
};
