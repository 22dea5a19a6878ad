import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formats } from '../../src/catalog/formats.ts';
import { escapeMarkup, oneLine, sentences, words } from '../../src/sandbox/transcripts/dialogue.ts';
import {
  escapeRtf,
  escapeVtt,
  renderTranscript,
  type TranscriptSource,
  transcriptExtensions,
} from '../../src/sandbox/transcripts/formats.ts';

const source: TranscriptSource = {
  id: '4711',
  title: 'Board meeting',
  names: ['Ada', 'Grace'],
  link: 'https://example.com/a.mp3?x=1&y=2',
  minutes: 12,
};

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '-->',
    '\n\n1\n00:00:00,000 --> 00:00:01,000\nx',
    '</v><b>',
    ']]>',
    '{\\par}',
    '&lt;',
    '\r',
    '😀',
    '',
  ),
);
const hostileSource: fc.Arbitrary<TranscriptSource> = fc.record({
  id: hostile,
  title: hostile,
  names: fc.array(hostile, { maxLength: 5 }),
  link: hostile,
  minutes: fc.oneof(fc.double({ min: 0, max: 20 }), fc.constantFrom(0, -1, Number.NaN, 0.001)),
  fake: fc.boolean(),
});

const render = (ext: string, changes: Partial<TranscriptSource> = {}): string =>
  renderTranscript(ext, { ...source, ...changes }).toString('utf8');

const timing = /^(\d{2,}):([0-5]\d):([0-5]\d)[,.](\d{3}) --> (\d{2,}):([0-5]\d):([0-5]\d)[,.](\d{3})$/;

interface Cue {
  number: string;
  start: number;
  end: number;
  lines: string[];
}

function cueOf(block: string): Cue {
  const [number = '', times = '', ...lines] = block.split('\n');
  const [h = 0, m = 0, s = 0, ms = 0, h2 = 0, m2 = 0, s2 = 0, ms2 = 0] = (timing.exec(times) ?? [])
    .slice(1)
    .map(Number);
  expect(times).toMatch(timing);
  return {
    number,
    start: ((h * 60 + m) * 60 + s) * 1000 + ms,
    end: ((h2 * 60 + m2) * 60 + s2) * 1000 + ms2,
    lines,
  };
}

function expectSoundCues(blocks: readonly string[]): Cue[] {
  const cues = blocks.map(cueOf);
  expect(cues.map(({ number }) => number)).toEqual(cues.map((_, index) => String(index + 1)));
  let free = 0;
  for (const { start, end, lines } of cues) {
    expect(start).toBeGreaterThanOrEqual(free);
    expect(end).toBeGreaterThan(start);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).not.toMatch(/-->|^\s*$/);
    free = end;
  }
  return cues;
}

const srtCues = (text: string): Cue[] => expectSoundCues(text.replace(/\n$/, '').split('\n\n'));

function vttCues(text: string): Cue[] {
  const [header, note, ...blocks] = text.replace(/\n$/, '').split('\n\n');
  expect(header).toBe('WEBVTT');
  expect(note).toMatch(/^NOTE\n/);
  expect(note).not.toContain('-->');
  return expectSoundCues(blocks);
}

describe('a transcript', () => {
  test('comes in exactly the formats of the catalogue', () => {
    expect([...transcriptExtensions].sort()).toEqual(formats.map(({ ext }) => ext).sort());
  });

  test('is refused in any other format', () => {
    for (const ext of ['pdf', '', 'TXT', 'constructor']) expect(() => render(ext)).toThrow(RangeError);
  });

  test.each(formats.map(({ ext }) => ext))(
    'is the same each time and another for each file, as %s',
    (ext) => {
      expect(renderTranscript(ext, source).equals(renderTranscript(ext, { ...source }))).toBe(true);
      expect(render(ext, { id: '4712' })).not.toBe(render(ext));
    },
  );

  test('fills every blank in its sentences', () => {
    const blanks = sentences.flatMap((line) => line.match(/\{\w+\}/g) ?? []);
    for (const blank of blanks) expect(Object.keys(words)).toContain(blank.slice(1, -1));
    expect(render('txt', { minutes: 90 })).not.toMatch(/[{}]/);
  });

  test('lets everyone speak who is named in the order', () => {
    const names = Array.from({ length: 40 }, (_, index) => `Member ${index}`);
    const text = render('txt', { names, minutes: 0.1 });
    for (const name of names) expect(text).toContain(`\n${name}: `);
  });

  test('has numbered speakers where the order names none', () => {
    for (const names of [[], ['', ' \n']]) {
      expect(render('txt', { names })).toMatch(/\nSpeaker 1: .+\n\nSpeaker 2: /);
    }
    expect(render('txt', { names: ['Ada'] })).toMatch(/\nAda: .+\n\nSpeaker 2: /);
  });

  test.each(formats.map(({ ext }) => ext))('says that it is a fake when it is one, as %s', (ext) => {
    expect(render(ext, { fake: true })).toContain('This is a fake transcript for testing.');
    expect(render(ext)).not.toContain('fake');
  });
});

describe('the formats', () => {
  test('txt has the title, the link and a paragraph for each turn', () => {
    const [heading = '', ...turns] = render('txt').trimEnd().split('\n\n');
    expect(heading).toBe(`Board meeting\nSource: ${source.link}\nFile: 4711\nLength: 00:12:00`);
    expect(turns.length).toBeGreaterThan(50);
    for (const [index, turn] of turns.entries()) expect(turn).toMatch(index % 2 ? /^Grace: \S/ : /^Ada: \S/);
  });

  test('tstxt stamps each turn in order, within the length', () => {
    const [, ...turns] = render('tstxt').trimEnd().split('\n\n');
    const stamps = turns.map((turn) => /^\[(\d\d:\d\d:\d\d)\] (?:Ada|Grace): \S/.exec(turn)?.[1] ?? 'none');
    expect(stamps[0]).toBe('00:00:00');
    expect([...stamps].sort()).toEqual(stamps);
    expect(stamps.at(-1)).toMatch(/^00:11:/);
  });

  test('srt numbers its cues, and they fill the length without overlap', () => {
    const cues = srtCues(render('srt'));
    expect(cues[0]?.start).toBe(0);
    expect(cues.at(-1)?.end).toBeGreaterThan(11.9 * 60_000);
    expect(cues.at(-1)?.end).toBeLessThanOrEqual(12 * 60_000);
    for (const { lines } of cues) expect(lines).toEqual([expect.stringMatching(/^(?:Ada|Grace): \S/)]);
  });

  test('vtt has a voice for each cue', () => {
    for (const { lines } of vttCues(render('vtt'))) {
      expect(lines).toEqual([expect.stringMatching(/^<v (?:Ada|Grace)>[^<>]+<\/v>$/)]);
    }
  });

  test('times hold for a recording of three hours', () => {
    expect(srtCues(render('srt', { minutes: 180 })).at(-1)?.end).toBeGreaterThan(179 * 60_000);
    expect(vttCues(render('vtt', { minutes: 180 })).at(-1)?.end).toBeGreaterThan(179 * 60_000);
  });

  test('html links only to web addresses', () => {
    expect(render('html')).toContain('<a href="https://example.com/a.mp3?x=1&amp;y=2">');
    expect(render('html', { link: 'javascript:alert(1)' })).not.toContain('<a ');
  });

  test('doc is what Word takes under that name: rich text', () => {
    expect(render('doc')).toBe(render('rtf'));
    expect(render('rtf')).toMatch(/^\{\\rtf1\\ansi/);
  });
});

describe('whatever an order holds', () => {
  test('subtitles stay valid', () => {
    fc.assert(
      fc.property(hostileSource, (any) => {
        srtCues(renderTranscript('srt', any).toString());
        for (const { lines } of vttCues(renderTranscript('vtt', any).toString())) {
          expect(lines.at(-1)).toMatch(/^<v [^<>]+>[^<>]+<\/v>$/);
        }
      }),
    );
  });

  test('html has no elements but ours', () => {
    fc.assert(
      fc.property(hostileSource, (any) => {
        const page = renderTranscript('html', any).toString();
        const ours =
          /<\/?(?:html|head|title|body|h1|p|b|em|a)>|<(?:!doctype html|html lang="en"|meta charset="utf-8"|br|a href="[^"<>]*")>/g;
        expect(page.replace(ours, '')).not.toMatch(/[<>]/);
        expect(page).not.toMatch(/&(?!(?:amp|lt|gt|quot|#39);)/);
        expect(page).not.toMatch(/[^\P{Cc}\n]|\p{Noncharacter_Code_Point}/u);
      }),
    );
  });

  test('rtf is ASCII, and its groups are balanced', () => {
    fc.assert(
      fc.property(hostileSource, (any) => {
        const document = renderTranscript('rtf', any).toString('latin1');
        expect(document).toMatch(/^[\x20-\x7e\r\n]+$/);
        const body = document
          .replace(/\\[\\{}]/g, '')
          .trimEnd()
          .slice(0, -1);
        let depth = 0;
        for (const [brace] of body.matchAll(/[{}]/g)) {
          depth += brace === '{' ? 1 : -1;
          if (depth < 1) throw new Error('the document ends early');
        }
        expect(depth).toBe(1);
        expect(body[0]).toBe('{');
      }),
    );
  });

  test('plain text keeps one line a turn', () => {
    fc.assert(
      fc.property(hostileSource, (any) => {
        const [, ...turns] = renderTranscript('tstxt', { ...any, fake: false })
          .toString()
          .trimEnd()
          .split('\n\n');
        for (const turn of turns) expect(turn).toMatch(/^\[\d\d:\d\d:\d\d\] .+: .+$/);
      }),
    );
  });

  test('a very long name is cut short', () => {
    expect(render('txt', { names: ['😀'.repeat(100_000)] }).length).toBeLessThan(100_000);
  });
});

describe('escaping', () => {
  const unescapeMarkup = (text: string): string =>
    text.replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '',
    );
  const unescapeRtf = (text: string): string =>
    text.replace(/\\u(-?\d+)\?|\\([\\{}])/g, (_, unit: string | undefined, sign: string | undefined) =>
      unit === undefined ? (sign ?? '') : String.fromCharCode(Number(unit) & 0xffff),
    );

  test('for markup is undone by reading it', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeMarkup(text)).not.toMatch(/[<>"']/);
        expect(unescapeMarkup(escapeMarkup(text))).toBe(text);
      }),
    );
  });

  test('for cues is undone by reading it', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeVtt(text)).not.toMatch(/[<>]/);
        expect(unescapeMarkup(escapeVtt(text))).toBe(text);
      }),
    );
  });

  test('for rich text is undone by reading it', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeRtf(text)).toMatch(/^[\x20-\x7e]*$/);
        expect(unescapeRtf(escapeRtf(text))).toBe(text);
      }),
    );
    expect(escapeRtf('é 😀')).toBe('\\u233? \\u-10179?\\u-8704?');
  });

  test('leaves one clean line', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const line = oneLine(text);
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u);
        expect(oneLine(line)).toBe(line);
      }),
    );
    expect(oneLine(' a\u0000\r\n\u2028b\ud800 ')).toBe('a b\ufffd');
  });
});

/** Reads a docx with Python's own zip and XML modules: its parts, what they refer to, and its text. */
const readDocx = `
import io, json, sys, xml.etree.ElementTree as tree, zipfile
W = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'
archive = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert archive.testzip() is None
parts = {name: tree.fromstring(archive.read(name)) for name in archive.namelist()}
body = parts['word/document.xml']
print(json.dumps({
    'parts': list(parts),
    'named': [each.get('PartName')[1:] for each in parts['[Content_Types].xml'] if each.get('PartName')]
        + [each.get('Target') for each in parts['_rels/.rels']],
    'text': [''.join(t.text for t in p.iter(W + 't')) for p in body.iter(W + 'p')],
}))`;

test('another reader finds a sound docx, with the title, the names and all that is said', () => {
  const hard: TranscriptSource = {
    ...{ id: '5\u0000<id>', title: 'A <b>"title"</b> & 😀 }{\\par ]]>\n\u0007second line\ud800\uffff' },
    names: ['Zoë & <Co>', '小林 😀', '{x}\\par "q" \'r\' -->\n\u0000y', 'عمر'],
    ...{ link: 'https://example.com/a b?x=<1>&y="2"', minutes: 3, fake: true },
  };
  const input = renderTranscript('docx', hard);
  const found = JSON.parse(execFileSync('python3', ['-c', readDocx], { input, encoding: 'utf8' }));
  expect(found.parts[0]).toBe('[Content_Types].xml');
  expect(found.parts).toEqual(expect.arrayContaining(found.named));
  const lines = renderTranscript('txt', hard).toString().split('\n');
  expect(found.text).toEqual(lines.filter((line) => line !== ''));
});
