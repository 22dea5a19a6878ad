/** Parses the form of a delivery, compared with Node's own parser. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countUnlistedFields, parseFields, parseForm } from '../../src/listen/event.ts';

const names = ['event', 'webhook_version', 'audiofile', 'order', 'hold', 'original_audiofile'] as const;

const name = fc.oneof(fc.constantFrom(...names, 'audiofiles', 'originallink', ''), fc.string());
const value = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[a-z0-9 +%\0é-]{0,20}$/),
);

/** Encoded as a browser does, as curl does, or not at all. */
const written = fc.oneof(
  fc.tuple(name, value).map(([key, text]) => new URLSearchParams([[key, text]]).toString()),
  fc.tuple(name, value).map(([key, text]) => `${encodeLoosely(key)}=${encodeLoosely(text)}`),
  fc.tuple(name, value).map(([key, text]) => `${key}=${text}`),
  value,
);

const encodeLoosely = (text: string): string =>
  [...text].map((each) => (/[\w ]/.test(each) ? each : escapeBytes(each))).join('');
const escapeBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

const form = fc.array(written, { maxLength: 12 }).map((fields) => Buffer.from(fields.join('&')));

const plain = (text: string): string => text.replaceAll('\0', '\ufffd').trim().slice(0, 256);

describe('the form of an event', () => {
  it('is read as Node reads it: of each field the first value', () => {
    fc.assert(
      fc.property(form, (body) => {
        const parsed = parseForm(body);
        const theirs = new URLSearchParams(`&${body.toString('utf8')}`);
        const first = (key: string): string => plain(theirs.get(key) ?? '');
        expect([
          parsed.event,
          parsed.version,
          parsed.audiofile,
          parsed.order,
          parsed.hold,
          parsed.original,
        ]).toEqual(names.map(first));
        const ids = [first('audiofile'), ...(theirs.get('audiofiles') ?? '').split(',').map(plain)];
        if (theirs.has('audiofiles')) expect(parsed.files).toEqual([...new Set(ids)].filter(Boolean));
        else expect(parsed.files).toEqual([first('audiofile')]);
      }),
    );
  });

  it('is the same in a part of a larger buffer', () => {
    fc.assert(
      fc.property(form, (body) => {
        const larger = new Uint8Array(body.length + 20).fill(0x26);
        larger.set(body, 10);
        const part = larger.subarray(10, 10 + body.length);
        expect([parseForm(part), parseFields(part)]).toEqual([parseForm(body), parseFields(body)]);
      }),
    );
  });

  it('is parsed up to its 65,536th byte', () => {
    const late = Buffer.from(`event=A&x=${'y'.repeat(70_000)}&order=late`);
    expect(parseForm(late)).toMatchObject({ event: 'A', order: '' });
    expect(parseFields(late).get('order')).toEqual(['late']);
    const odd = Buffer.from('?event=A&order=1');
    expect([parseForm(odd).event, parseFields(odd).get('?event')]).toEqual(['', ['A']]);
    expect(parseForm(Buffer.alloc(0))).toMatchObject({ event: '', files: [''] });
  });

  it('lists a thousand fields, and counts those after them', () => {
    const body = (count: number): Buffer =>
      Buffer.from(Array.from({ length: count }, (_, n) => `f${n}=${n}`).join('&'));
    expect([parseFields(body(1000)).size, countUnlistedFields(body(1000))]).toEqual([1000, 0]);
    expect([...parseFields(body(1234)).keys()].at(-1)).toBe('f999');
    expect(countUnlistedFields(body(1234))).toBe(234);
    expect(parseForm(Buffer.from(`${'a&'.repeat(999)}event=A&order=late`))).toMatchObject({
      event: 'A',
      order: '',
    });
    expect(countUnlistedFields(Buffer.alloc(0))).toBe(0);
  });
});
