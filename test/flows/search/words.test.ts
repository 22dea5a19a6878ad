/** Words as search compares them, the query language, and what FTS5 makes of both. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ftsQuery, marksOf, parseQuery } from '../../../src/flows/search/query.ts';
import { forIndex, wordsOf } from '../../../src/flows/search/words.ts';
import { openScratch } from '../../../src/lib/sqlite.ts';

const words = (text: string): string[] => wordsOf(text).map((word) => word.text);

const marked = (text: string, ...query: string[]): string[] | undefined =>
  marksOf(parseQuery(query), wordsOf(text))?.map(([start, end]) => text.slice(start, end));

describe('words', () => {
  it.each([
    ["Don't panic, R2-D2!", ['don', 't', 'panic', 'r2', 'd2']],
    ['Café, cafe\u0301, CAFÉ', ['cafe', 'cafe', 'cafe']],
    ['Straße ΟΔΟΣ Ёлка', ['strasse', 'οδοσ', 'елка']],
    ['STRAẞE bud\u00adget\u00ad é\u00ad', ['strasse', 'budget', 'e']],
    ['東京都は', ['東', '京', '都', 'は']],
    ['がか', ['が', 'か']],
    ['กิน AIは', ['ก', 'ิ', 'น', 'ai', 'は']],
    ['हिन्दी שָׁלוֹם', ['हिन्दी', 'שלום']],
    ['ＡＢＣ ①', ['abc', '1']],
    ['“curly” — dash…\0nul', ['curly', 'dash', 'nul']],
    ['', []],
  ])('are folded: %s', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('stand where they are marked, also where folding changes their length', () => {
    expect(marked('Die Straße nach Kraków', 'krakow', 'STRASSE')).toEqual(['Straße', 'Kraków']);
    expect(marked('今日は東京都です', '東京')).toEqual(['東京']);
  });

  it('are the same in the index', async () => {
    const db = await openScratch();
    db.exec(
      "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='ascii'); CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')",
    );
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        'Café ',
        'ß',
        'ẞ',
        'a\u00ad',
        '東京',
        'กิน',
        '⑴½',
        ' ',
        "n't ",
        '’',
        'Ａ',
        'a\u0301',
        'ﾊﾟ',
        '\0',
        'ﷺ',
        'ŉ',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const text = parts.join('');
        db.run('DELETE FROM t');
        db.run('INSERT INTO t (text) VALUES (?)', forIndex(text));
        const rows = db.all<{ term: string }>('SELECT term FROM v ORDER BY offset');
        expect(rows.map(({ term }) => term)).toEqual(words(text));
      }),
    );
    db.close();
  });
});

describe('a query', () => {
  it.each([
    [['plum', 'jam'], 'jam of a plum', ['jam', 'plum']],
    [['plum jam'], 'a plum jam', ['plum jam']],
    [['plum jam'], 'jam of a plum', undefined],
    [['"plum jam" -tea'], 'plum jam, no tea', undefined],
    [['jam -tea'], 'jam', ['jam']],
    [['jam', '-tea'], 'jam and tea', undefined],
    [['-"plum jam"', 'jam'], 'plum jam', undefined],
    [['ja*'], 'jam, jar, tea', ['jam', 'jar']],
    [['plum ja*'], 'plum jar', ['plum jar']],
    [['"plum jam'], 'plum jam', ['plum jam']],
    [["don't"], 'I don’t', ['don’t']],
    [['a', 'a b'], 'a b', ['a b']],
  ])('%j finds in %s', (query, text, expected) => {
    expect(marked(text, ...query)).toEqual(expected);
  });

  it.each([[[]], [['!!!']], [['-jam']], [['""']]])('needs a word: %j', (query) => {
    expect(() => parseQuery(query)).toThrow(/word/);
  });

  it('that matches a text finds it in the index too, whatever is in it', async () => {
    const db = await openScratch();
    db.exec("CREATE VIRTUAL TABLE t USING fts5(text, content='', contentless_delete=1, tokenize='ascii')");
    const word = fc.constantFrom(
      'plum',
      'Jam',
      'Straße',
      '東京',
      'AND',
      'NOT',
      '"',
      '-tea',
      'ja*',
      '(',
      'NEAR',
      'x:y',
      "'",
    );
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 40 }),
        fc.array(word, { maxLength: 30 }),
        (asked, said) => {
          if (!asked.some((each) => words(each).length > 0 && !each.startsWith('-'))) return;
          const text = [...said, ...asked].join(' ');
          const query = parseQuery(asked);
          db.run('DELETE FROM t');
          db.run('INSERT INTO t (rowid, text) VALUES (1, ?)', forIndex(text));
          const found = db.all('SELECT rowid FROM t WHERE t MATCH ?', ftsQuery(query.wanted));
          if (marksOf(query, wordsOf(text))) expect(found).toHaveLength(1);
        },
      ),
    );
    db.close();
  });
});
