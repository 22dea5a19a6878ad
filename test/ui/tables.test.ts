/** Every command's table on a real terminal: no line wraps, no id or state is cut, whatever the width. */
import stringWidth from 'string-width';
import { beforeAll, describe, expect, it } from 'vitest';
import { type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';
import { sliceOf } from '../support/slices.ts';
import type { User } from '../support/steno.ts';

const widths = [30, 40, 60, 80, 120, 200];
const states = [
  'Awaiting Final Approval',
  'Delivered',
  'On Hold',
  'Technical Difficulty',
  'A New State Of The Service',
];
const titles = [
  '日本語のとても長いタイトル'.repeat(4),
  'שלום עולם '.repeat(9),
  'Zoe\u0308 👩‍💻 und 👨‍👩‍👧‍👦 🇩🇪',
  'x'.repeat(5000),
  '\u202eevil\u2066 ق',
];
const names = ['talk-one-with-a-name.mp3', 'b.mp3', '日本.mp3', 'episode-0004.mp3', 'e.mp3'];
const ids = ['1001', '1002', '1003', '1004', '1005'];

let shop: OrderingAccount;

/** Five files, delivered and not, with untrusted text. */
beforeAll(async () => {
  shop = await orderingAccount({ NO_COLOR: '1', STENO_PAGER: 'cat' });
  const { user, service } = shop;
  await user.run(['files']);
  for (const [at, id] of ids.entries()) {
    const audiofile = {
      ...{
        id,
        statename: states[at],
        title: titles[at],
        duration: '64.5',
        total: '1234.5',
        quality_stars: 4,
      },
      ...{ orders: ['o1'], notes: 'many notes '.repeat(20), names: 'Ada|Grace' },
      originallink: `https://media.example.com/podcasts/2026/november/${names[at]}`,
    };
    service.allow(`GET /audiofile/${id}`, { body: { audiofile } });
    await user.run(['track', id]);
    queryLedger(
      user,
      `UPDATE purchase_items SET url = 'https://media.example.com/podcasts/2026/november/week-46/${names[at]}' WHERE file = '${id}'`,
    );
  }
  service.allow('POST /invoice/7', {
    body: {
      ...{ id: 7, state: 'PAID', createtime: '2026-01-02T03:04:05Z', total: '1,230.5' },
      items: [
        { id: 1, sku: 'TRANS14', quantity: 2, price: '15', audiofile: 1001, total: '30.00' },
        { id: 2, sku: 'TSTMP1', quantity: 64, price: '18.7578', audiofile: 1002, total: '1200.50' },
      ],
    },
  });
}, 60_000);

const shownOn = async (user: User, line: string, columns: number): Promise<string[]> => {
  // A busy machine would show what it waits for.
  const { stdout } = await user.onTerminal(`${line} --no-progress`, { columns });
  return stdout.trimEnd().split(/\r?\n/);
};

describe('a table', () => {
  it.each(
    sliceOf(
      [
        ...[
          'files',
          `file ${ids.join(' ')}`,
          'file 1001',
          'attempts',
          'events',
          'invoice 7',
          'states',
          'skus',
          'formats',
        ],
        ...[
          'config list',
          'whoami',
          'ledger status',
          'report',
          'order https://h/a.mp3 --sku TRANS14 --dry-run',
        ],
      ],
      3,
    ),
  )(
    'of steno %s never wraps',
    async (line) => {
      for (const columns of sliceOf(widths, 2)) {
        for (const shown of await shownOn(shop.user, `steno ${line} 2>/dev/null`, columns)) {
          expect([columns, shown, stringWidth(shown) <= columns]).toEqual([columns, shown, true]);
        }
      }
    },
    120_000,
  );

  it('never cuts a state or an id', async () => {
    for (const columns of widths) {
      const text = (await shownOn(shop.user, 'steno files', columns)).join(' ').replace(/\s+/g, ' ');
      for (const whole of [...states, ...ids])
        expect([columns, text.includes(whole)]).toEqual([columns, true]);
    }
  }, 60_000);

  it('is a list of short blocks where a state has no room, whatever the titles', async () => {
    const lines = await shownOn(shop.user, 'steno files', 20);
    const text = lines.join(' ').replace(/\s+/g, ' ');
    for (const whole of [...states, ...ids]) expect([whole, text.includes(whole)]).toEqual([whole, true]);
    expect(lines.filter((line) => line.includes('xxxx')).length).toBeLessThan(8);
  });

  it('has no place for the one URL of webhook get, which is shown whole', async () => {
    const webhook = `https://hooks.example.com/${'a'.repeat(150)}/end`;
    shop.service.allow('GET /webhook', { body: { webhook } });
    const shown = (await shownOn(shop.user, 'steno webhook get', 60)).map((line) =>
      line.slice('url  '.length),
    );
    expect(shown.join('')).toBe(webhook);
  });

  it('leaves out columns by importance', async () => {
    const headers = await Promise.all(
      [60, 80, 120, 200].map(async (columns) =>
        (await shownOn(shop.user, 'steno files', columns))[0]?.split(/\s+/),
      ),
    );
    expect(headers).toEqual([
      ['AUDIOFILE', 'STATE', 'TITLE'],
      ['AUDIOFILE', 'STATE', 'TITLE', 'TOTAL'],
      // They were tracked: when they were ordered is not known.
      expect.arrayContaining(['AUDIOFILE', 'STATE', 'TITLE', 'LENGTH', 'TOTAL']),
      ['AUDIOFILE', 'STATE', 'TITLE', 'LENGTH', 'TOTAL', 'ORDER', 'CHANGED', 'URL'],
    ]);
  }, 60_000);

  it('is coloured by what a state means', async () => {
    const { stdout } = await shop.user.onTerminal('steno files', { columns: 40, env: { NO_COLOR: '' } });
    expect(stdout).toContain('\u001b[32mDelivered\u001b[39m');
    expect(stdout).toContain('\u001b[33mOn Hold\u001b[39m');
    expect(stdout).toContain('\u001b[34mA New State Of The Service\u001b[39m');
  });
});

describe('amounts, lengths, times', () => {
  it('of an invoice stand below each other, with the currency that is known', async () => {
    const { user } = shop;
    await user.run(['config', 'set', 'currency', 'EUR']);
    const lines = await shownOn(user, 'steno invoice 7', 80);
    expect(lines.join('\n')).toMatch(/^created +\d+\w ago \(2026-01-02T03:04:05Z\)$/m);
    expect(lines.join('\n')).toMatch(/^total +1230\.50 EUR$/m);
    expect(lines.slice(-4)).toEqual([
      'ITEM   SKU      QUANTITY        PRICE  AUDIOFILE        TOTAL',
      '1      TRANS14         2  15.0000 EUR  1001         30.00 EUR',
      '2      TSTMP1         64  18.7578 EUR  1002       1200.50 EUR',
      'total                                             1230.50 EUR',
    ]);
    await user.run(['config', 'unset', 'currency']);
  });

  it('of a file are for people, and exact too', async () => {
    const text = (await shownOn(shop.user, 'steno file 1001', 60)).join('\n');
    expect(text).toMatch(/^length +1 h 05 min \(64\.5 minutes\)$/m);
    expect(text).toMatch(/^notes +many notes.*\n {2,}(many )?notes/m);
  });
});

describe('file --watch on a terminal', () => {
  it('shows a line for each change, with time, state and title', async () => {
    const it = await orderingAccount();
    it.states.set('1', ['Transcribing', 'Transcribing', 'Delivered']);
    await it.user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14']);
    const { code, stdout } = await it.user.onTerminal('steno file 1 --watch --interval 50ms', {
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    const lines = stdout
      .replace(/\u001b\[[\d?]*[A-Za-z]/g, '')
      .split(/[\r\n]+/)
      .filter((line) => /Transcribing|Delivered/.test(line));
    for (const line of lines)
      expect(line).toMatch(/^\d{4}-\d\d-\d\d {2}\d\d:\d\d:\d\d {2}(Transcribing|Delivered)/);
    expect(lines).toHaveLength(2);
  });
});
