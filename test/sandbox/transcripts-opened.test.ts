/** Opens transcripts with readers that are not ours: Python's zip, XML and HTML modules, and LibreOffice. */

import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { renderTranscript, type TranscriptSource } from '../../src/sandbox/transcripts/index.ts';

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

interface Docx {
  parts: string[];
  types: string[];
  targets: string[];
  style: string;
  styles: string[];
  text: string[];
}

describe('an independent reader', () => {
  test('finds a sound docx with the title, the names and all that is said', () => {
    const [document] = python<Docx>(readDocx, [renderTranscript('docx', hostile)]);
    expect(document?.parts[0]).toBe('[Content_Types].xml');
    for (const part of document?.types ?? []) expect(document?.parts).toContain(part.slice(1));
    for (const target of document?.targets ?? []) expect(document?.parts).toContain(target);
    expect(document?.styles).toContain(document?.style);
    expect(document?.text).toEqual(paragraphs(hostile));
  });
});

const missing = spawnSync('sh', ['-c', 'command -v soffice']).status !== 0;
if (missing)
  console.warn('soffice is missing: install libreoffice-writer-nogui to open transcripts with LibreOffice');
