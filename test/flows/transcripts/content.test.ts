/** What came with status 200 is a transcript, unless its content is plainly something else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { streamChecked } from '../../../src/flows/transcripts/content.ts';
import { account } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { runs } from '../../support/runs.ts';

const html = { 'content-type': 'text/html; charset=utf-8' };
const json = { 'content-type': 'application/json' };

const page = '<p>not ready yet</p>';
const xml = '<?xml version="1.0" encoding="utf-8"?>';
const doctype =
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1.dtd">';

/** Runs a body through the check, cut into chunks of this size. */
async function check(body: Buffer | string, ext: string, size = 1 << 20): Promise<Buffer> {
  const bytes = Buffer.from(body as string);
  const passed: Buffer[] = [];
  const stream = async (onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void> => {
    for (let at = 0; at < bytes.length; at += size) await onChunk(bytes.subarray(at, at + size));
  };
  const take = (chunk: Buffer): void => void passed.push(chunk);
  await streamChecked({ status: 200, stream, hide: String }, ext, take);
  return Buffer.concat(passed);
}

describe('a page in place of a text', () => {
  const pages: ReadonlyArray<readonly [string, string]> = [
    ['after a comment', `<!-- error -->\n<!-- 2 --><html><body>${page}`],
    ['after an XML line', `${xml}\n<html xmlns="http://www.w3.org/1999/xhtml">${page}`],
    ['after an XML line, a comment and a doctype', `${xml}<!-- x -->${doctype}<html>${page}`],
    ['after a byte order mark and blank lines', `\ufeff\r\n\r\n  \t<HTML>${page}`],
    ['after very many blanks', `${' \n'.repeat(5000)}<html>${page}`],
    ['that begins with its head', `<head><title>not ready yet</title></head>${page}`],
    ['that begins with a heading', '<h1>not ready yet</h1>'],
    ['that begins with a body', `<body bgcolor="white">${page}`],
    ['that begins with its title', '<title>not ready yet</title>'],
    ['that begins with a block', '<div class="error">not ready yet</div>'],
    ['that begins with a doctype', `${doctype}\n<h1>not ready yet</h1>`],
    ['of XML', `${xml}<Error><Message>not ready yet</Message></Error>`],
    [
      'of XML without its first line',
      '<Error><Code>AccessDenied</Code><Message>not ready yet</Message></Error>',
    ],
    ['that begins with a form', '<form action="/login">not ready yet</form>'],
    ['that begins with a link', '<a href="/login">not ready yet</a>'],
    ['that begins in bold', '<b>Fatal error</b>: not ready yet'],
    ['that begins with a line break', '<br />\n<b>Fatal error</b>: not ready yet'],
    ['of JSON', '{"message":"not ready yet"}'],
    ['of JSON, indented', '\ufeff\n{\n  "status": {"error": "not ready yet"}\n}\n'],
    ['of JSON in an array', '[{"error":"not ready yet"}]'],
    ['of long JSON', `{"message":"not ready yet","trace":"${'x'.repeat(100_000)}"}`],
    ['of long HTML', `<html><h1>not ready yet</h1>${'x'.repeat(100_000)}</html>`],
  ];
  it.each(pages)('%s is refused, however it is cut', async (_, body) => {
    for (const ext of ['txt', 'srt', 'vtt', 'tstxt', 'rtf', 'docx'])
      for (const size of [1 << 20, 1000, 7])
        await expect(check(body, ext, size)).rejects.toThrow('a message');
  });

  it('is refused by the program under any content type, and nothing is kept', async () => {
    const { service, user } = await account();
    for (const [at, headers] of [html, json, { 'content-type': 'text/plain' }, {}].entries()) {
      const [, body = ''] = pages[at] ?? [];
      service.on(`POST /audiofile/${at}/transcript.txt`, { body, headers });
      const { code, stdout, stderr } = await user.run(['transcript', String(at), '-o', 'd/']);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('not ready yet')]);
    }
    expect(listing(join(user.home, 'd'))).toEqual([]);
  });
});

describe('a page in UTF-16', () => {
  const swapped = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
  const text = `<html><body>${page}</body></html>`;
  it.each([
    ['with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['with a mark, the other way round', swapped(`\ufeff${text}`)],
    ['without a mark', Buffer.from(text, 'utf16le')],
    ['without a mark, the other way round', swapped(text)],
  ])('%s is refused', async (_, body) => {
    for (const size of [1 << 20, 3]) await expect(check(body, 'txt', size)).rejects.toThrow('a message');
  });

  it('is told from a transcript in UTF-16', async () => {
    const body = Buffer.from('\ufeffA talk about <html>.', 'utf16le');
    expect((await check(body, 'txt')).equals(body)).toBe(true);
  });
});

describe('a docx file', () => {
  it.each([
    ['plain text', 'Your transcript is not ready yet.'],
    ['plain text that begins like a zip', 'PK says that it is not ready yet.'],
    ['long plain text', 'Not ready yet. '.repeat(10_000)],
    ['text in Latin-1', Buffer.from('Noch nicht verf\u00fcgbar', 'latin1')],
    ['a page', `<html>${page}</html>`],
    ['JSON', '{"state":"Transcribing"}'],
    ['rich text', '{\\rtf1 Not ready yet}'],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d])],
    ['zeros', Buffer.alloc(500)],
  ])('is not made of %s', async (_, body) => {
    await expect(check(body, 'docx')).rejects.toThrow('a message');
  });

  it('is a zip, or an old Word file', async () => {
    for (const body of [
      Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(200_000, '<html>')]),
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0]),
    ])
      for (const size of [1 << 20, 3]) expect((await check(body, 'docx', size)).equals(body)).toBe(true);
  });
});

describe('a transcript is kept', () => {
  it.each([
    ['that talks about HTML', 'txt', 'He wrote <h1> and <html> and then </h1>.'],
    ['that begins with a tag of its own', 'txt', '<laughs> So I said <html>.'],
    ['that begins with a tag that is never closed', 'txt', '<p> is the tag for paragraphs.'],
    ['that begins with the voice of a speaker', 'vtt', '<v Anna>Hello.</v>'],
    ['that begins in italics', 'srt', '<i>Music</i>'],
    ['that begins with a sound', 'txt', '[Music] Good morning.'],
    ['that begins with a gap', 'txt', '{inaudible} "message": no'],
    ['that is nothing but a gap', 'txt', '{inaudible}'],
    ['that is a list to JSON', 'txt', '["Music"]'],
    ['that is a number to JSON', 'txt', '42'],
    ['with a position', 'srt', '{\\an8}Hello.'],
    ['of rich text', 'rtf', '{\\rtf1\\ansi Hello.}'],
    ['of long rich text', 'rtf', `{\\rtf1\\ansi ${'Hello. '.repeat(20_000)}}`],
    ['of long text after a gap', 'txt', `{inaudible}: ${'Hello. '.repeat(20_000)}`],
    ['that is a page where one was asked for', 'html', `${xml}${doctype}<html>${page}`],
    ['that is a page inside an old Word file', 'doc', `<html xmlns:w="x">${page}</html>`],
    ['that is rich text inside an old Word file', 'doc', '{\\rtf1\\ansi Hello.}'],
    ['after a comment that never ends', 'txt', '<!-- and so on'],
    ['that begins and ends with blank lines', 'txt', '\n\n \nHello.\n\n'],
  ])('%s', async (_, ext, body) => {
    for (const size of [1 << 20, 1000, 1]) expect((await check(body, ext, size)).toString()).toBe(body);
  });

  it('under whatever content type it comes', async () => {
    const { service, user } = await account();
    for (const [ext, body, headers] of [
      ['txt', 'Good morning.', html],
      ['srt', '[Music]', json],
      ['doc', `<html>${page}</html>`, html],
      ['rtf', '{\\rtf1 Good morning.}', json],
    ] as const) {
      service.on(`POST /audiofile/5/transcript.${ext}`, { body, headers });
      const { code, stderr } = await user.run(['transcript', '5', '--format', ext]);
      expect([code, stderr]).toEqual([0, '']);
      expect(readFileSync(join(user.home, `5.${ext}`), 'utf8')).toBe(body);
    }
  });

  it('whatever it says, if it does not begin like markup', async () => {
    const isBlankText = (each: string): boolean => /^[\s\0\u200b-\u200f\u2060\ufeff]*$/.test(each);
    const words = fc.constantFrom(
      '<html>',
      '</h1>',
      '{"message":"x"}',
      '[Music]',
      '<!doctype html>',
      '\n',
      '\ufeff',
    );
    const text = fc
      .array(fc.oneof(words, fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 30 })
      .map((parts) => parts.join(''))
      .filter((each) => !isBlankText(each) && !/^[\s\ufeff]*([<{]|\[\s*\{)/.test(each));
    const ext = fc.constantFrom('txt', 'srt', 'vtt', 'tstxt', 'rtf');
    await fc.assert(
      fc.asyncProperty(text, ext, fc.integer({ min: 1, max: 100 }), async (body, format, size) => {
        const bytes = Buffer.from(body);
        expect((await check(bytes, format, size)).equals(bytes)).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });
});
