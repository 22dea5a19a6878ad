/** Opens transcripts with readers that are not ours: Python's zip, XML and HTML modules, and LibreOffice. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { zip } from '../../src/sandbox/transcripts/docx.ts';
import { renderTranscript, type TranscriptSource } from '../../src/sandbox/transcripts/index.ts';
import { freshFolder } from '../support/files.ts';

const hostile: TranscriptSource = {
  id: '5\u0000<id>',
  title: 'A <b>"title"</b> & 😀 }{\\par ]]>\n\u0007second line\ud800\uffff',
  names: ['Zoë & <Co>', '小林 😀', '{x}\\par "q" \'r\' -->\n\u0000y', 'عمر'],
  link: 'https://example.com/a b?x=<1>&y="2"',
  minutes: 3,
  fake: true,
};

/** Runs a Python function `read` over each of the documents, and gives back what it returned. */
function python<T>(read: string, documents: readonly Buffer[]): T[] {
  const script = [
    'import base64, io, json, sys, zipfile',
    'import html.parser',
    'import xml.etree.ElementTree as tree',
    read,
    'print(json.dumps([read(base64.b64decode(each)) for each in json.load(sys.stdin)]))',
  ].join('\n');
  const input = JSON.stringify(documents.map((each) => each.toString('base64')));
  return JSON.parse(execFileSync('python3', ['-c', script], { input, encoding: 'utf8', maxBuffer: 1 << 28 }));
}

/** The paragraphs of a transcript: what each rich format must show. */
function paragraphs(source: TranscriptSource): string[] {
  return renderTranscript('txt', source)
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}

const readZip = `
def read(data):
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    return [[info.filename, base64.b64encode(archive.read(info)).decode()] for info in archive.infolist()]
`;

const readDocx = `
W = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'
def read(data):
    archive = zipfile.ZipFile(io.BytesIO(data))
    parts = {name: tree.fromstring(archive.read(name)) for name in archive.namelist()}
    body = parts['word/document.xml']
    return {
        'parts': list(parts),
        'types': [each.get('PartName') for each in parts['[Content_Types].xml'] if each.get('PartName')],
        'targets': [each.get('Target') for each in parts['_rels/.rels']],
        'style': body.find('.//' + W + 'pStyle').get(W + 'val'),
        'styles': [each.get(W + 'styleId') for each in parts['word/styles.xml'].iter(W + 'style')],
        'text': [''.join(t.text for t in p.iter(W + 't')) for p in body.iter(W + 'p')],
    }
`;

const readHtml = `
class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], []
    def handle_starttag(self, tag, attributes):
        if tag in ('h1', 'p'): self.text.append('')
        if tag not in ('meta', 'br'): self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag
    def handle_data(self, data):
        if 'h1' in self.open or 'p' in self.open: self.text[-1] += data
def read(data):
    reader = Reader()
    reader.feed(data.decode('utf-8'))
    reader.close()
    assert reader.open == []
    return [line for each in reader.text for line in each.split('\\n')]
`;

interface Docx {
  parts: string[];
  types: string[];
  targets: string[];
  style: string;
  styles: string[];
  text: string[];
}

describe('an independent reader', () => {
  test('finds in a zip what was put into it', () => {
    const data = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const name = fc.stringMatching(/^[a-z0-9é😀_]{1,12}(\/[a-z.]{1,8})?$/u);
    const entries = fc.uniqueArray(fc.record({ name, data }), {
      selector: (entry) => entry.name,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(entries, { minLength: 20, maxLength: 40 }), (archives) => {
        const listed = archives.map((each) =>
          each.map((entry) => [entry.name, entry.data.toString('base64')]),
        );
        expect(python(readZip, archives.map(zip))).toEqual(listed);
      }),
      { numRuns: 5 },
    );
  });

  test('finds a sound docx with the title, the names and all that is said', () => {
    const [document] = python<Docx>(readDocx, [renderTranscript('docx', hostile)]);
    expect(document?.parts[0]).toBe('[Content_Types].xml');
    for (const part of document?.types ?? []) expect(document?.parts).toContain(part.slice(1));
    for (const target of document?.targets ?? []) expect(document?.parts).toContain(target);
    expect(document?.styles).toContain(document?.style);
    expect(document?.text).toEqual(paragraphs(hostile));
  });

  test('finds the same in the html', () => {
    expect(python(readHtml, [renderTranscript('html', hostile)])).toEqual([paragraphs(hostile)]);
  });

  test('reads docx and html whatever an order holds', () => {
    const text = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 9 })
      .map((all) => String.fromCharCode(...all));
    const names = fc.array(fc.oneof(text, fc.string({ unit: 'binary' })), { maxLength: 4 });
    const source = fc.record({ id: text, title: text, names, link: text, minutes: fc.constant(1) });
    fc.assert(
      fc.property(fc.array(source, { minLength: 30, maxLength: 30 }), (sources) => {
        const expected = sources.map(paragraphs);
        const files = sources.map((each) => renderTranscript('docx', each));
        expect(python<Docx>(readDocx, files).map((document) => document.text)).toEqual(expected);
        const pages = sources.map((each) => renderTranscript('html', each));
        expect(python(readHtml, pages)).toEqual(expected);
      }),
      { numRuns: 4 },
    );
  });
});

const missing = spawnSync('sh', ['-c', 'command -v soffice']).status !== 0;
if (missing)
  console.warn('soffice is missing: install libreoffice-writer-nogui to open transcripts with LibreOffice');

/** Where CI is set a missing LibreOffice is a failure. */
test.skipIf(missing && !process.env.CI)(
  'LibreOffice opens doc, docx, rtf and html',
  { timeout: 120_000 },
  () => {
    const opened = openedByLibreOffice(freshFolder(), ['doc', 'docx', 'rtf', 'html']);
    for (const text of opened.values()) {
      expect(text).toContain('This is a fake transcript for testing.');
      expect(text).toMatch(/\n小林 😀: \S/);
      expect(text.split('\n').filter((line) => line !== '')).toEqual(paragraphs(hostile));
    }
    expect(opened.size).toBe(4);
  },
);

function openedByLibreOffice(folder: string, extensions: readonly string[]): Map<string, string> {
  const files = extensions.map((ext) => join(folder, `as-${ext}.${ext}`));
  for (const [index, ext] of extensions.entries()) {
    writeFileSync(files[index] ?? '', renderTranscript(ext, hostile));
  }
  const out = join(folder, 'out');
  mkdirSync(out);
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile'))}`;
  const task = ['--headless', '--norestore', '--convert-to', 'txt:Text', '--outdir', out];
  execFileSync('soffice', [profile, ...task, ...files], { stdio: 'pipe', timeout: 110_000 });
  const read = (ext: string): string =>
    readFileSync(join(out, `as-${ext}.txt`), 'utf8').replace(/^\ufeff/, '');
  return new Map(extensions.map((ext) => [ext, read(ext)]));
}
