/** The quotations of a document, and where they stand. */
import { describe, expect, it } from 'vitest';
import { type DocumentFormat, quotationsOf } from '../../../src/flows/quote/document.ts';
import { excessGrowth } from '../../support/growth.ts';

const found = (text: string, format: DocumentFormat = 'markdown', minWords = 2): string[] =>
  quotationsOf(text, format, minWords).map((each) => each.text);

describe('quotation marks', () => {
  it.each([
    ['“a b” and "c d", “e ‘f’ g”', ['a b', 'c d', 'e ‘f’ g']],
    ['« a b » et puis … « c d »', ['a b', 'c d']],
    ['«a b» et «c d»', ['a b', 'c d']],
    ['»a b« und … »c d«', ['a b', 'c d']],
    ['„a b“ und „c d“, „e f” y', ['a b', 'c d', 'e f']],
    ['”a b” och ”c d”', ['a b', 'c d']],
    ['»a b» ja »c d»', ['a b', 'c d']],
    ['‘we don’t go’ and ‚ja ja‘', ['we don’t go', 'ja ja']],
    ["'a b c' and don't", []],
    ['「東京」と『京都』', ['東京', '京都']],
    ['a 5" pipe and "c d e"', ['c d e']],
    ['"open and "c d"', ['c d']],
    ['“open\n\n“c d”', ['c d']],
    ['« a « b c » d »', ['a « b c » d']],
    ['“a b', []],
    ['a” b” c', []],
    ['“a\nb”', ['a b']],
  ])('in %s', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('of any number take linear time', () => {
    const units = [
      '“',
      '”',
      '"',
      '« ',
      '» ',
      '“a ',
      '„‘»',
      '“”',
      '"a" ',
      '> “',
      '`“',
      '```\n“',
      '[',
      '](',
      '<q>',
      '<',
      '<p "',
      '<!--',
      '&',
      '“a b c d e” said Bob. ',
    ];
    for (const unit of units)
      for (const format of ['markdown', 'html'] as const) {
        const make = (length: number): string => unit.repeat(Math.ceil(length / unit.length));
        expect([unit, format, excessGrowth((text) => found(text, format), make)]).toEqual([
          unit,
          format,
          undefined,
        ]);
      }
    const begun = process.cpuUsage();
    for (const unit of ['“', '“”', '"', '»']) found(unit.repeat(1_000_000 / unit.length), 'text');
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(10_000);
  }, 120_000);
});

describe('a document', () => {
  it('has quotations with line and column, apart from code', () => {
    const text = `---
title: "not said here"
---
# “In a title”

Text “one
two” \`“code in line”\` and [“in a link”](https://x.example/"a b c").

\`\`\`
“code in a fence”
\`\`\`

    “code that is indented”

- “in a list”

<b title="an attribute here">“bold **and** so”</b>

[1]: https://e.example "a title here"
`;
    const all = quotationsOf(text, 'markdown', 2);
    expect(all.map(({ text: each, line, column }) => [each, line, column])).toEqual([
      ['In a title', 4, 4],
      ['one two', 6, 7],
      ['in a link', 7, 29],
      ['in a list', 15, 4],
      ['bold **and** so', 17, 31],
    ]);
  });

  it('has block quotes, with who said them', () => {
    const text =
      'Ada said:\n\n> we had\n> more\n>\n> Bob: and less\n\n> third one\n> — Eve Ross\n\n> [!NOTE]\n> no quote\n';
    expect(quotationsOf(text, 'markdown', 2).map((each) => [each.text, each.around])).toEqual([
      ['we had more', 'Ada said:'],
      ['and less', expect.stringContaining('Bob')],
      ['third one', expect.stringContaining('Eve Ross')],
    ]);
  });

  it('has footnotes and block quotes of HTML, apart from code between more backticks', () => {
    const text = 'Text.[^1] ``a `“b c”` d`` “e f”\n\n<blockquote>g h</blockquote>\n\n[^1]: “i j”\n';
    expect(found(text)).toEqual(['e f', 'g h', 'i j']);
  });

  it('is HTML', () => {
    const text =
      '<html><head><title>"no title here"</title></head><body><p>Ada: &ldquo;one &amp; two&rdquo; <q>three <b>four</b></q></p>\n' +
      '<blockquote><p>five six</p></blockquote><p>“not</p><p>closed” here</p><pre>“code is code”</pre><script>"a b c"</script></body>';
    expect(found(text, 'html')).toEqual(['one & two', 'three four', 'five six']);
  });

  it('is quoted across line breaks of HTML and tags that are none', () => {
    expect(found('<p>“one<br>two <br/>three</x-y> four”</p>', 'html')).toEqual(['one two three four']);
    expect(found('He said "never said these words</v>" today.')).toEqual(['never said these words']);
  });

  it('says what stands around a quotation', () => {
    const around = (text: string): string | undefined => quotationsOf(text, 'text', 2)[0]?.around;
    expect(around('Eve left. Ada said, “a b,” to Bob. Joe ran.')).toBe('Ada said, “ to Bob');
    expect(around('Eve left. “A b.” Joe ran.')).not.toMatch(/Eve|Joe/);
    expect(around('“A b?” asked Joe. Eve left.')).toMatch(/asked Joe/);
  });
});
