import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatJson, JsonNumber, parseJson, toJson } from '../../src/lib/json.ts';
import { forRow, hasHidden } from '../../src/lib/text.ts';
import { runs } from '../support/runs.ts';

describe('lossless JSON', () => {
  it('keeps every digit of every number', () => {
    const text = '[12345678901234567890123, 1.00, -0, 1e400, 0.10000000000000000000000001, 1E+2]';
    expect(formatJson(parseJson(text), 0)).toBe(text.replaceAll(' ', ''));
  });

  it('keeps the order of keys, also of those that look like numbers', () => {
    const text = '{"b":1,"10":2,"2":3,"__proto__":{"x":1},"a":null}';
    expect(formatJson(parseJson(text), 0)).toBe(text);
  });

  it('takes and refuses what JSON.parse takes and refuses', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.json(), fc.string(), fc.stringMatching(/^[[\]{}",:0-9eE+\-.tfn\\u ]{0,12}$/)),
        (text) => {
          let expected: unknown;
          try {
            expected = JSON.parse(text);
          } catch {
            expect(() => parseJson(text)).toThrow(SyntaxError);
            return;
          }
          expect(JSON.parse(formatJson(parseJson(text)))).toEqual(expected);
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  it('prints as JSON.stringify prints, at any indent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, '?');
        expect(formatJson(parseJson(text), 0)).toBe(JSON.stringify(JSON.parse(text)));
        expect(formatJson(parseJson(text), 2)).toBe(JSON.stringify(JSON.parse(text), null, 2));
      }),
    );
  });

  it('refuses a depth that would overflow the stack, and takes a string of many megabytes', () => {
    expect(() => parseJson('['.repeat(1e6))).toThrow(SyntaxError);
    const long = `"${'a\\n'.repeat(3e6)}"`;
    expect((parseJson(long) as string).length).toBe(6e6);
  });

  it('escapes what could drive a terminal', () => {
    expect(formatJson('\u001b[31m\u009b\u007f', 0)).toBe('"\\u001b[31m\\u009b\\u007f"');
  });

  it('shows what a terminal hides, and keeps every value', () => {
    const hidden = '1\u200b2\u202e3\ufeff4\u2060\u{e0041}5';
    const text = formatJson(hidden, 0);
    expect(text).toBe('"1\\u200b2\\u202e3\\ufeff4\\u2060\\udb40\\udc415"');
    expect(JSON.parse(text)).toBe(hidden);
    const others = '\u00ad\u034f\u115f\u17b4\u180f\u3164\ufe00\uffa0\ufff9\u{1d173}\u{e0100}';
    expect(formatJson(others, 0)).toMatch(/^"(\\u[0-9a-f]{4})+"$/);
    expect(JSON.parse(formatJson(others, 0))).toBe(others);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const written = formatJson(any, 0);
        expect(JSON.parse(written)).toBe(any);
        expect(hasHidden(written)).toBe(false);
      }),
    );
  });

  it('shows joiners and the selector of emoji where they join nothing, as rows do', () => {
    expect(formatJson('a\ufe0fb\u200cc', 0)).toBe('"a\\ufe0fb\u200cc"');
    expect(formatJson('1\u200d2 \u200c', 0)).toBe('"1\\u200d2 \\u200c"');
    expect(formatJson('\n\u200ca', 0)).toBe('"\\n\\u200ca"');
    expect(formatJson('a\u200c\u115f\u034f\u200d', 0)).toBe('"a\\u200c\\u115f\\u034f\\u200d"');
    const needed = '\u{1f3f3}\ufe0f\u200d\u{1f308} 1\ufe0f\u20e3 \u0645\u06cc\u200c\u062e \u0d28\u0d4d\u200d';
    expect(formatJson(needed, 0)).toBe(`"${needed}"`);
    const unit = fc.constantFrom(
      ...[
        '\u200c',
        '\u200d',
        '\ufe0f',
        '\u034f',
        '\u115f',
        '\u{e0100}',
        '\u{1d173}',
        '\ud834',
        '\udb40',
        '\udc41',
      ],
      ...[
        '\u0645',
        '\u0d4d',
        '\u{1f469}',
        '\u{1f3fd}',
        '\u20e3',
        '\u009b',
        '\u2028',
        '\n',
        '"',
        '\\',
        '1',
        'e',
      ],
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (any) => {
        const written = formatJson(any, 0);
        expect(JSON.parse(written)).toBe(any);
        expect(hasHidden(written)).toBe(false);
        expect(written).not.toMatch(/[\u007f-\u009f\u2028\u2029]/);
        // Where rows replace nothing, nothing more is escaped than JSON has to.
        if (forRow(any) === any) expect(written).toBe(JSON.stringify(any));
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('leaves out undefined and keeps given numbers', () => {
    expect(formatJson(toJson({ a: undefined, b: [1, new JsonNumber('1.50')] }), 0)).toBe('{"b":[1,1.50]}');
  });
});
