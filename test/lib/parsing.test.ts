/** Small readers of what people and services write. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../src/api/http/failures.ts';
import { messageInText } from '../../src/api/http/message.ts';
import { compareAmounts, isAmount } from '../../src/lib/money.ts';
import { didYouMean, nearest } from '../../src/lib/text.ts';
import { parseDuration } from '../../src/lib/time.ts';
import { processorTimeOf } from '../support/processor-time.ts';

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
    ['7', 7000],
    ['1.5h', 5_400_000],
    ['0', 0],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    '',
    ' ',
    '-1',
    '-5s',
    's',
    '5 s',
    '5x',
    '1h30m',
    '1e3',
    'NaN',
    'Infinity',
    '١s',
    '5s;',
    '0x10',
    '.5s',
    '99999999d',
  ])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow(/is not a duration/);
  });
});

describe('an amount', () => {
  it.each([
    ['1.00', '1'],
    ['$1,234.50', '1234.5'],
    ['1e3', '1000.000'],
    ['.5', '0.50'],
    ['5.', '5'],
    ['12 USD', '12.0'],
    ['-$3', '-3.00'],
    ['+7', '7'],
    ['-0', '0'],
    ['15e-1', '1.5'],
  ])('%s equals %s', (a, b) => {
    expect(compareAmounts(a, b)).toBe(0);
  });

  it.each(['', '.', '-', '1,5', 'ten', '1.2.3', '0x10', '1 000', 'NaN', '1e9999', '€5'])(
    '%j is none',
    (text) => {
      expect(isAmount(text)).toBe(false);
      expect(compareAmounts(text, '1')).toBeUndefined();
    },
  );
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-10T12:00:00Z');

  it('is seconds or a date, and anything else is nothing', () => {
    expect(parseRetryAfter('5', now)).toBe(5000);
    expect(parseRetryAfter(' 1.5 ', now)).toBe(1500);
    expect(parseRetryAfter('Sat, 10 Jan 2026 12:00:07 GMT', now)).toBe(7000);
    // A pause that is over, or none at all, is left to us.
    for (const text of [undefined, '', '-5', 'soon', '5,5', '0x5', '0', 'Sat, 10 Jan 2026 11:00:00 GMT'])
      expect(parseRetryAfter(text, now)).toBeUndefined();
  });

  it('is a time that can be waited for, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^\d{1,400}$/), fc.date({ noInvalidDate: true }).map(String)),
        (text) => {
          const pause = parseRetryAfter(text, now);
          if (pause !== undefined) expect(Number.isFinite(pause) && pause > 0).toBe(true);
        },
      ),
    );
  });
});

describe('the message of an answer', () => {
  it('is one short line, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.json(),
          fc.string().map((text) => `<html><h1>${text}</h1>&#${text.length};&amp;`),
        ),
        (text) => {
          const message = messageInText(text);
          expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          expect([...message].length).toBeLessThanOrEqual(201);
        },
      ),
    );
  });

  it('is found under the usual keys, however deep, the best one first', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]{1,20}$/),
        fc.constantFrom('message', 'error', 'detail', 'reason'),
        (said, key) => {
          expect(messageInText(JSON.stringify({ status: 'failed', code: 7, [key]: said }))).toBe(said);
          expect(messageInText(JSON.stringify({ error: { [key]: said } }))).toBe(said);
          expect(messageInText(JSON.stringify({ errors: [{ [key]: said }] }))).toBe(said);
        },
      ),
    );
    expect(messageInText('{"error":"b","message":"a"}')).toBe('a');
    expect(messageInText('{"code":7}')).toBe('');
    expect(messageInText('')).toBe('');
  });

  it('is the heading of a page, or its title, or its text without scripts and tags', () => {
    const code = '<script>x</script><STYLE a>y</style>';
    expect(messageInText(`<p>${code}<title>T</title><H1 class="b">No &lt;<b>way</b></h1>`)).toBe('No < way');
    expect(messageInText(`<p>${code}<h1>never closed<title>T</title>`)).toBe('T');
    expect(messageInText(`<p>${code}some <b>text</b> <`)).toBe('some text <');
  });

  it.each(['<script', '<script>', '<h1', '<h1>', '<title>', '<', '<p '])(
    'takes time in proportion to a page of %s',
    (tag) => {
      const read = (times: number): number => processorTimeOf(() => messageInText(`<p>${tag.repeat(times)}`));
      read(100);
      const [short, long] = [read(5_000), read(80_000)];
      expect(long).toBeLessThan(Math.max(64 * short, 500));
    },
  );

  it('is cut only after what is secret is taken out', () => {
    const said = `${'x'.repeat(190)}SECRETSECRETSECRET`;
    expect(messageInText(said, (text) => text.replace('SECRETSECRETSECRET', '****'))).toBe(
      `${'x'.repeat(190)}****`,
    );
  });
});

describe('a suggestion', () => {
  const words = ['balance', 'invoice', 'order', 'webhook', 'TRANSCRIPT_COMPLETE'];

  it('finds a word with one letter missing, doubled, swapped or in the wrong case', () => {
    fc.assert(
      fc.property(fc.constantFrom(...words), fc.nat(), (word, seed) => {
        const at = seed % (word.length - 1);
        const mistakes = [
          word.slice(0, at) + word.slice(at + 1),
          word.slice(0, at) + word[at] + word.slice(at),
          word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2),
          word.toUpperCase(),
          word.toLowerCase(),
        ];
        for (const mistake of mistakes) expect(nearest(mistake, words)).toBe(word);
      }),
    );
  });

  it('is not made for something else', () => {
    expect(nearest('zzzzzz', words)).toBeUndefined();
    expect(nearest('x'.repeat(10_000), words)).toBeUndefined();
    expect(didYouMean('zzzzzz', words, 'see the list')).toBe('see the list');
    expect(nearest('', [])).toBeUndefined();
  });
});
