/** Transcripts of other programs, made by us in the shape that each writes: check, convert and search read the same. */
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Downloads } from '../../src/ledger/downloads.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { spokenIn } from '../../src/transcripts/prose.ts';
import { readableFormatOf, readTranscriptFile } from '../../src/transcripts/read.ts';
import { ledgerOf } from '../support/ledger.ts';
import { User } from '../support/steno.ts';
import { zipOf } from '../support/zip.ts';

const folder = join(import.meta.dirname, '..', 'data', 'captions');
const names = readdirSync(folder).map((name) => name.replace('.docx.txt', '.docx'));
const lines = ['we went to the island', 'for salt & fish', 'and the boat came late'];
const starts = [1000, 4000, 7000];
const namesSpeakers = (name: string): boolean => !/^(?:youtube|whisper)/.test(name);

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A docx is kept as the text of its paragraphs. */
function copySample(name: string, path: string): void {
  if (!name.endsWith('.docx')) return void copyFileSync(join(folder, name), path);
  const paragraphs = readFileSync(join(folder, `${name}.txt`), 'utf8')
    .trimEnd()
    .split('\n');
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${escapeXml(text)}</w:t></w:r></w:p>`).join('');
  writeFileSync(path, zipOf({ 'word/document.xml': `<w:document><w:body>${body}</w:body></w:document>` }));
}

/** Words, times and speakers of a file; text without cues goes on in one paragraph. */
async function said(path: string) {
  const format = readableFormatOf(path) ?? 'txt';
  const segments = spokenIn(await readTranscriptFile({ path, format }));
  return {
    words: segments
      .map(({ text }) => text)
      .join(' ')
      .replace(/\s+/g, ' '),
    starts: segments.map(({ start }) => start),
    speakers: [...new Set(segments.map(({ speaker }) => speaker))],
  };
}

describe.each(names)('%s', (name) => {
  it('has its words, times and speakers in check and in each format of convert', async () => {
    const user = new User();
    const path = join(user.home, name);
    copySample(name, path);
    const who = namesSpeakers(name) ? ['Ada Lovelace', 'Bob Smith'] : [undefined];
    expect(await said(path)).toEqual({ words: lines.join(' '), starts, speakers: who });
    const check = await user.run(['check', name, '--json']);
    const isRolling = name.startsWith('youtube');
    expect([check.code, JSON.parse(check.stdout).map(({ rule }: { rule: string }) => rule)]).toEqual([
      0,
      isRolling ? ['repeated-lines'] : [],
    ]);
    const to = ['vtt', 'srt', 'json', 'md', 'txt'];
    const { code, stderr } = await user.run(['convert', name, '--to', to.join(','), '-o', 'out/']);
    expect([code, stderr]).toEqual([0, '']);
    const stem = name.replace(/\.\w+$/, '');
    for (const format of to) {
      const back = await said(join(user.home, 'out', `${stem}.${format}`));
      expect([format, back.words, back.speakers]).toEqual([format, lines.join(' '), who]);
      if (format !== 'md' && format !== 'txt') expect(back.starts).toEqual(starts);
      if (format === 'md') expect(back.starts[0]).toBe(1000);
    }
  });
});

it('search finds what is said once in each sample, with its time and speaker', async () => {
  const user = new User({ STENO_LEDGER: undefined });
  const samples = names.filter((name) => /\.(?:vtt|srt|docx|txt|tstxt)$/.test(name));
  const ledger = await openLedger(ledgerOf(user), 'default', String);
  for (const [at, name] of samples.entries()) {
    const path = join(user.home, name);
    copySample(name, path);
    const { size } = statSync(path);
    const ext = readableFormatOf(name) ?? '';
    await new Downloads(ledger).add(String(at + 1), ext, path, { bytes: size, sha256: '', isDraft: false });
  }
  await ledger.close();
  const { stdout } = await user.run(['search', '--json', '"salt fish"']);
  const found: ReadonlyArray<{ path: string; start: number | null; speaker: string | null }> =
    JSON.parse(stdout);
  const who = (name: string) => (namesSpeakers(name) ? 'Ada Lovelace' : null);
  const sorted = found.map(({ path, speaker }) => [basename(path), speaker]).sort();
  expect(sorted).toEqual(samples.map((name) => [name, who(name)]).sort());
});

it('a file with only a header does not pass check, nor one without words', async () => {
  const user = new User();
  for (const [name, content] of [
    ['a.vtt', 'WEBVTT\n'],
    ['b.html', '<html><body></body></html>'],
    ['c.json', '[]'],
  ] as const) {
    writeFileSync(join(user.home, name), content);
    const { code, stdout } = await user.run(['check', name]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('broken-cue')]);
  }
});
