/** Widths and cuts hold for every text, untrusted ones too. */
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { findFileState } from '../../src/catalog/states.ts';
import { forTerminal } from '../../src/lib/text.ts';
import type { Column } from '../../src/lib/view.ts';
import { cutEnd, cutLink, widestOf, widthOf, wrap } from '../../src/ui/fit.ts';
import { Paint } from '../../src/ui/paint.ts';
import { columnWidths, drawRecords, drawTable, GAP_WIDTH } from '../../src/ui/table.ts';
import { runs } from '../support/runs.ts';

const snippets = [
  'talk',
  ' ',
  'Ä',
  'e\u0301',
  '日本語',
  'ｱｲｳ',
  '한국어',
  'שלום',
  'مرحبا',
  '👩‍💻',
  '👨‍👩‍👧‍👦',
  '🇩🇪',
  '1️⃣',
  '👍🏽',
  'क्षि',
  '\u202eevil',
  '\u2066x',
  '\u200f',
  '\u0000',
  '\u001b[31m',
  '\t',
  '…',
  '/',
  '\ud800',
];
/** As a table gets it. */
const text = fc
  .array(fc.oneof(fc.constantFrom(...snippets), fc.string({ unit: 'grapheme', maxLength: 6 })), {
    maxLength: 30,
  })
  .map((parts) => forTerminal(parts.join('')));
const width = fc.integer({ min: 2, max: 120 });

describe('a cut text', () => {
  it('is no wider than its room, and whole where it fits', () => {
    fc.assert(
      fc.property(text, width, (given, room) => {
        for (const cut of [cutEnd, cutLink]) {
          const shown = cut(given, room);
          expect(stringWidth(shown)).toBeLessThanOrEqual(room);
          if (stringWidth(given) <= room) expect(shown).toBe(given);
          // A link may be its file name alone.
          else if (cut === cutEnd || !given.includes(shown)) expect(shown).toContain('…');
        }
      }),
    );
  });

  it('is cut between characters, never within one', () => {
    fc.assert(
      fc.property(text, width, (given, room) => {
        const kept = cutEnd(given, room).replace(/…$/, '');
        const starts = [...new Intl.Segmenter().segment(given)].map(({ index }) => index);
        expect([...starts, given.length]).toContain(kept.length);
      }),
    );
  });

  it('of a URL keeps the file name', () => {
    const word = fc.stringMatching(/^[a-z0-9-]{1,30}$/);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 8 }),
        word,
        fc.constantFrom('', '?x=1', '?token=abcdefghijklmnop#t'),
        (folders, name, query) => {
          const shown = cutLink(`https://${folders.join('/')}/${name}.mp3${query}`, 40);
          expect(shown).toContain(`${name}.mp3`);
          expect(shown.length).toBeLessThanOrEqual(40);
        },
      ),
    );
  });

  it.each([
    ['https://media.example.com/podcasts/2026/talk-one.mp3', 30, 'https://media.ex…/talk-one.mp3'],
    ['https://media.example.com/podcasts/2026/talk-one.mp3?id=7', 30, 'https://med…/talk-one.mp3?id=7'],
    ['https://media.example.com/talk-one.mp3?token=a-very-long-one', 30, 'https://media.e…/talk-one.mp3…'],
    ['https://media.example.com/an-episode-with-a-very-long-name.mp3', 30, 'an-episode-with-a-v…g-name.mp3'],
    ['https://media.example.com/podcasts/feed/', 24, 'https://media.exa…/feed/'],
    ['transcripts/2026/november/1001.txt', 20, 'transcript…/1001.txt'],
    ['C:\\Users\\ada\\transcripts\\1001.txt', 20, 'C:\\Users\\a…/1001.txt'],
    ['https://example.com', 10, 'examp….com'],
  ])('%s in %i columns is %s', (url, room, shown) => {
    expect(cutLink(url, room)).toBe(shown);
  });
});

describe('a wrapped text', () => {
  it('loses nothing but spaces, and each line fits that is more than one character', () => {
    fc.assert(
      fc.property(text, width, (given, room) => {
        const lines = wrap(given, room);
        const isOne = (line: string): boolean => [...new Intl.Segmenter().segment(line)].length === 1;
        for (const line of lines) expect(isOne(line) || widthOf(line) <= room).toBe(true);
        expect(lines.join('').replaceAll(' ', '')).toBe(given.replaceAll(' ', ''));
      }),
    );
  });
});

describe('the columns of a table', () => {
  const size = fc
    .record({
      natural: fc.nat(60),
      wanted: fc.nat(60),
      least: fc.nat(60),
      importance: fc.constantFrom(1, 2, 3, 50, Number.POSITIVE_INFINITY),
    })
    .map((each) => {
      // As ids and states are: the whole of them or nothing.
      if (each.importance === Number.POSITIVE_INFINITY)
        return { ...each, wanted: each.natural, least: each.natural };
      const wanted = Math.min(each.wanted, each.natural);
      return { ...each, wanted, least: Math.min(each.least, wanted) };
    });

  it('fit into the terminal; each has what it needs, and those that must stay are there', () => {
    fc.assert(
      fc.property(
        fc.array(size, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 200 }),
        (sizes, room) => {
          const widths = columnWidths(sizes, room);
          const needed = sizes.filter(({ importance }) => importance === Number.POSITIVE_INFINITY);
          const least = needed.reduce((sum, each) => sum + each.least + GAP_WIDTH, -GAP_WIDTH);
          if (!widths) {
            expect(least > room || needed.length === 0).toBe(true);
            return;
          }
          const shown = widths.filter((each) => each !== undefined);
          expect(shown.reduce((sum, each) => sum + each + GAP_WIDTH, -GAP_WIDTH)).toBeLessThanOrEqual(room);
          for (const [at, { least, natural, importance }] of sizes.entries()) {
            const given = widths[at];
            if (given === undefined) expect(importance).not.toBe(Number.POSITIVE_INFINITY);
            else expect(given >= least && given <= natural).toBe(true);
          }
        },
      ),
    );
  });
});

const columns: readonly Column[] = [
  { name: 'id', kind: 'id' },
  { name: 'state', kind: 'state' },
  { name: 'title', importance: 90 },
  { name: 'total', kind: 'amount', importance: 60 },
  { name: 'ordered', kind: 'time', importance: 80 },
  { name: 'url', kind: 'link', importance: 70 },
];
const paint = new Paint(false);
const cell = fc.oneof(text, fc.constant(''), fc.constant('Awaiting Final Approval'));

describe('a table', () => {
  it('has no line wider than the terminal, and never cuts an id or a state', () => {
    const row = fc.tuple(cell, cell, cell, cell, cell, cell);
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 4, max: 200 }),
        (rows, room) => {
          const drawn = drawTable({ columns, rows }, room, paint, 0);
          for (const line of drawn.split('\n'))
            expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(room, 7));
          const squeezed = drawn.replace(/\s+/g, '');
          for (const [id, state] of rows)
            for (const whole of [id, state]) expect(squeezed).toContain(whole.replace(/\s+/g, ''));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('fits a terminal that draws joined characters apart too, and lines up in one that does not', () => {
    const rows = [
      ['1', 'Delivered', 'x'.repeat(100), '1.00', '', ''],
      ['2', 'On Hold', 'Zoë 👩‍💻 👨‍👩‍👧‍👦 🇩🇪 👍🏽', '22.00', '', ''],
      ['3', 'Delivered', 'क्षि', '3.00', '', ''],
    ];
    const lines = drawTable({ columns, rows }, 60, paint, 0).trimEnd().split('\n');
    for (const line of lines) expect(widestOf(line)).toBeLessThanOrEqual(60);
    expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1);
    const state = 'देवनागरी क्षि 👨‍👩‍👧‍👦';
    const strange = drawTable(
      { columns, rows: [['1', state, 'x'.repeat(100), '1.00', '', '']] },
      60,
      paint,
      0,
    );
    expect(strange).toContain(state);
    const many = [['1', 'Delivered', '👨‍👩‍👧‍👦'.repeat(50), '1.00', '', '']];
    for (const line of drawTable({ columns, rows: many }, 60, paint, 0).split('\n'))
      expect(widestOf(line)).toBeLessThanOrEqual(60);
  });

  it('is a page for each row where not even ids and states fit', () => {
    const rows = [['1001', 'Waiting For A Person To Look At It', 'A talk', '1.00', '', 'https://h/a.mp3']];
    expect(drawTable({ columns, rows }, 30, paint, 0)).toBe(drawRecords({ columns, rows }, 30, paint, 0));
    expect(drawTable({ columns, rows }, 30, paint, 0)).toContain(
      'state    Waiting For A Person\n         To Look At It\n',
    );
  });

  it('takes a megabyte in a cell without pushing out the rest', () => {
    const rows = [
      [
        '1',
        'Delivered',
        'x'.repeat(1e6),
        '9'.repeat(1e6),
        '2'.repeat(1e6),
        `https://h/${'y'.repeat(1e6)}/name.mp3`,
      ],
      ['2', 'On Hold', 'A talk', '12.00', '', 'https://h/b.mp3'],
    ];
    const lines = drawTable({ columns, rows }, 200, paint, 0).split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(200);
    expect(lines[2]).toMatch(/^2 +On Hold +A talk +12\.00 +https:\/\/h\/b\.mp3$/);
  });

  it('colours a state by the whole of it', () => {
    const painted = new Paint(true);
    expect(findFileState('Delivered')?.end).toBe('delivered');
    expect(painted.forCell('state', 'Delivered')('Deliv…')).toBe(painted.good('Deliv…'));
    expect(painted.forCell('state', 'Delivered to nobody')('Delivered')).not.toBe(painted.good('Delivered'));
  });
});
