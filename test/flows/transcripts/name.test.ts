import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkTemplate, fileName, Names } from '../../../src/flows/transcripts/name.ts';
import { runs } from '../../support/runs.ts';

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({
    unit: fc.constantFrom(
      '.',
      '/',
      '\\',
      ' ',
      '-',
      ':',
      '\u0000',
      '\n',
      '\u202e',
      'é',
      '日',
      '\ud800',
      'a',
      'C',
      'O',
      'N',
    ),
    maxLength: 60,
  }),
  fc.constantFrom(
    'CON',
    'nul.txt',
    'com1',
    'LPT9.',
    'aux ',
    'CONIN$',
    '..',
    '../../etc',
    '/',
    '~',
    '-rf',
    '',
    ' ',
    '\u200b',
    'x'.repeat(5000),
    '日'.repeat(500),
  ),
);
const parts = fc.record({
  id: hostile,
  title: hostile,
  order: hostile,
  guid: hostile,
  date: hostile,
  ext: fc.constantFrom('txt', 'docx', 'tstxt'),
});
const template = fc.constantFrom(
  '{title}.{ext}',
  '{title}',
  '{order}/{title}-{id}.{ext}',
  '{id}',
  'a{order}b.{ext}',
  '{title}/{order}/{id}',
  '{guid}.{ext}',
  '{date} {title}.{ext}',
  '{date}/{guid}',
);

const unknown = { id: '1', title: '', order: '', guid: '', date: '', ext: 'txt' };

describe('a file name made of data', () => {
  it('is safe on every system, whatever the data holds', () => {
    fc.assert(
      fc.property(template, parts, (shape, data) => {
        const name = fileName(shape, data);
        const steps = name.split('/');
        expect(steps).toHaveLength(shape.split('/').length);
        for (const step of steps) {
          expect(step).not.toBe('');
          expect(step).not.toMatch(
            /[\\/:*?"<>|\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/,
          );
          expect(step).not.toMatch(/^[.\s-]|[.\s]$/);
          expect(step).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)\s*(\.|$)/i);
          expect(Buffer.byteLength(step)).toBeLessThanOrEqual(200);
          expect(Buffer.from(step).toString()).toBe(step);
        }
      }),
      { numRuns: runs(1500) },
    );
  });

  it('keeps its extension, however long the title is', () => {
    const name = fileName('{title}.{ext}', { ...unknown, title: '日'.repeat(500), ext: 'docx' });
    expect(name).toMatch(/^日+\.docx$/);
  });

  it.each(['title', 'order', 'guid', 'date'])('has the id in place of a %s that is not known', (part) => {
    expect(fileName(`{${part}}.{ext}`, unknown)).toBe('1.txt');
    expect(fileName(`{${part}}.{ext}`, { ...unknown, [part]: '\u200b ..' })).toBe('1.txt');
    expect(fileName(`{${part}}.{ext}`, { ...unknown, [part]: 'a/b' })).toBe('a_b.txt');
  });

  const several = fc.uniqueArray(parts, {
    ...{ minLength: 2, maxLength: 12, selector: ({ id, ext }) => `${ext} ${id}` },
  });

  it('is told from others that a file system may take for the same', async () => {
    await fc.assert(
      fc.asyncProperty(template, several, async (shape, many) => {
        const names = new Names();
        const claimed = await Promise.all(many.map((data) => names.claim(fileName(shape, data), data)));
        expect(new Set(claimed.map((name) => name.normalize('NFC').toLowerCase())).size).toBe(many.length);
        for (const name of claimed)
          for (const step of name.split('/')) expect(Buffer.byteLength(step)).toBeLessThanOrEqual(255 - 40);
      }),
    );
  });

  it('is told from those of other transcripts, before the extension', async () => {
    const names = new Names();
    const claim = (name: string, id: string, ext: string) => names.claim(name, { id, ext });
    const all = [claim('Talk.txt', '5', 'txt'), claim('Talk.txt', '6', 'txt'), claim('Talk.txt', '6', 'srt')];
    expect(await Promise.all(all)).toEqual(['Talk.txt', 'Talk-6.txt', 'Talk-6-2.txt']);
    expect(await claim('TALK.TXT', '7', 'txt')).toBe('TALK-7.TXT');
    expect(await claim('Talk.txt', '5', 'txt')).toBe('Talk.txt');
  });
});

describe('a template', () => {
  it.each([
    '',
    '.',
    '..',
    '../{id}',
    '{id}/..',
    '/{id}',
    '{id}/',
    'a//b',
    'C:{id}',
    '\\x',
    'a/ /b',
    '{nope}',
    '{}',
    '{ID}',
  ])('%j is refused', (text) => {
    expect(() => checkTemplate(text)).toThrow();
  });

  it.each(['{id}', '{date} {guid}.{ext}', '{order}/{title}.{ext}', 'talk {id}.txt', '{id', 'a.b'])(
    '%j is taken',
    (text) => {
      expect(() => checkTemplate(text)).not.toThrow();
    },
  );
});
