/** Every word of a transcript is read, with its time and speaker, whatever its format and however it was written. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTranscript, type TranscriptSource } from '../../src/sandbox/transcripts/formats.ts';
import { type ReadableFormat, readableFormats, type Segment } from '../../src/transcripts/model.ts';
import {
  MAX_TRANSCRIPT_BYTES,
  readableFormatOf,
  readTranscript,
  readTranscriptFile,
} from '../../src/transcripts/read.ts';
import { freshFolder } from '../support/files.ts';
import { runs } from '../support/runs.ts';
import { zipOf } from '../support/zip.ts';

const read = (content: string | Buffer, format: ReadableFormat) =>
  readTranscript(Buffer.from(content as string), format, `talk.${format}`);

/** `start-end speaker: text`, without what is not known. */
const shown = ({ start, end, speaker, text }: Segment): string => {
  const times = [start, end].filter((each) => each !== undefined).join('-');
  return `${times ? `${times} ` : ''}${speaker === undefined ? '' : `${speaker}: `}${text}`;
};

const segments = (content: string | Buffer, format: ReadableFormat): string[] =>
  read(content, format).segments.map(shown);

const faults = (content: string, format: ReadableFormat): string[] =>
  read(content, format).faults.map(({ line, message }) => `${line}: ${message}`);

const docx = (body: string): Buffer =>
  zipOf({ 'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>` });

describe('vtt', () => {
  it('has voices, names of cues, settings, comments, styles and regions', () => {
    const text = [
      ...[
        'WEBVTT - A talk',
        'Kind: captions',
        '',
        'NOTE',
        'not shown',
        '',
        'STYLE',
        '::cue { color: red }',
        '',
      ],
      ...['REGION', 'id:fred', '', 'intro', '00:01.000 --> 00:02.500 align:start position:10%'],
      ...['<v Ada Lovelace>Hello <i>there</i></v>', '', '01:00:00.000 --> 01:00:01.000'],
      ...['<v.loud.first Bob>Hi &amp; &lt;welcome&gt;', 'to <00:00:01.500><c.red>all</c>', ''],
    ].join('\n');
    expect(read(text, 'vtt').faults).toEqual([]);
    expect(read(text, 'vtt').segments).toEqual([
      { line: 15, start: 1000, end: 2500, speaker: 'Ada Lovelace', text: 'Hello there' },
      { line: 18, start: 3_600_000, end: 3_601_000, speaker: 'Bob', text: 'Hi & <welcome>\nto all' },
    ]);
  });

  it('has several voices in a cue, a line without one, and names before a colon', () => {
    const text = `WEBVTT\n\n00:01.000 --> 00:02.000\na notice\n<v Ada>One</v>\n<v Bob>Two\n\n00:03.000 --> 00:04.000\nMan 2: Three`;
    expect(read(text, 'vtt').segments.map(({ line, speaker, text: said }) => [line, speaker, said])).toEqual([
      [4, undefined, 'a notice'],
      [5, 'Ada', 'One'],
      [6, 'Bob', 'Two'],
      [9, 'Man 2', 'Three'],
    ]);
  });

  it.each([
    ['<v Ada>Yes.', 'Remember: never do that.', [undefined, 'Remember: never do that.']],
    ['Yes.', 'Chapter Two: The Storm', [undefined, 'Chapter Two: The Storm']],
    ['Yes.', 'Man 2: No.', ['Man 2', 'No.']],
    ['Ada: Yes.', 'Bob: No.', ['Bob', 'No.']],
    ['Well.\nAda: Yes.', 'Ada: No.', ['Ada', 'No.']],
  ])('takes no other words before a colon for a speaker: %s, %s', (first, second, expected) => {
    const cues = `00:01.000 --> 00:02.000\n${first}\n\n00:03.000 --> 00:04.000\n${second}`;
    const last = read(`WEBVTT\n\n${cues}`, 'vtt').segments.at(-1);
    expect([last?.speaker, last?.text]).toEqual(expected);
  });

  it('keeps what only looks like markup, and an entity that is not known', () => {
    const said = 'if 5 < 6 and x<y> then &unknown; &#65;&#x42; &#0;';
    expect(segments(`WEBVTT\n\n00:01.000 --> 00:02.000\n${said}`, 'vtt')).toEqual([
      '1000-2000 if 5 < 6 and x<y> then &unknown; AB &#0;',
    ]);
  });

  it('is read where it is broken, and says where', () => {
    const text = [
      ...['00:01.000 --> 00:02.000', 'no header', '', '00:0x:03.000 --> 00:04.000', 'no time', ''],
      ...[
        'left over',
        '',
        '00:05.000 --> 00:06.000',
        'no blank line after this',
        '00:07.000 --> 00:99.000',
        'no',
      ],
    ].join('\n');
    expect(segments(text, 'vtt')).toEqual([
      '1000-2000 no header',
      'no time\nleft over',
      '5000-6000 no blank line after this',
      'no',
    ]);
    expect(faults(text, 'vtt')).toEqual([
      '1: the header WEBVTT is missing',
      '4: not a valid time: 00:0x:03.000 --> 00:04.000',
      '7: text outside of a cue',
      '11: not a valid time: 00:07.000 --> 00:99.000',
    ]);
  });

  it.each(['00:01,000 --> 00:02,000', '00:01 --> 00:02', '0:01.000 --> 00:02.0'])(
    'is read with times that players refuse, and says so: %s',
    (times) => {
      expect(segments(`WEBVTT\n\n${times}\nOne`, 'vtt')).toEqual(['1000-2000 One']);
      expect(faults(`WEBVTT\n\n${times}\nOne`, 'vtt')).toEqual([
        `3: players need times such as 00:00:01.000: ${times}`,
      ]);
    },
  );

  it('keeps cues without text, and times in any order', () => {
    const text = 'WEBVTT\n\n00:05.000 --> 00:04.000\n\n00:01.000 --> 00:02.000\nText\n';
    expect(segments(text, 'vtt')).toEqual(['5000-4000 ', '1000-2000 Text']);
  });
});

describe('srt', () => {
  it('has a comma or a dot, tags, positions, and numbers or none', () => {
    const text = [
      ...['1', '00:00:01,000 --> 00:00:02,500', '{\\an8}<i>Hello</i> <font color="red">there</font>', ''],
      ...[
        '00:00:03.000 --> 00:00:04.5',
        'JERRY: No <number> here',
        '3',
        '0:00:05,000-->0:00:06,000',
        '- Ada: Yes',
        'go on',
      ],
    ].join('\n');
    expect(segments(text, 'srt')).toEqual([
      '1000-2500 Hello there',
      '3000-4500 JERRY: No <number> here',
      '5000-6000 Ada: Yes\ngo on',
    ]);
    expect(faults(text, 'srt')).toEqual([]);
  });

  it('takes for a speaker only what looks like a name', () => {
    const names = [
      'Man 2',
      "Dr. O'Neil",
      'María de la Cruz',
      'SPEAKER_00',
      'unidentified speaker',
      'Q',
      'Ada (Host)',
    ];
    const others = [
      'So here is the thing',
      'at 10',
      'He said',
      'https',
      'Note',
      '12',
      'What Ada wanted to say was',
    ];
    const cue = (head: string) => `1\n00:00:01,000 --> 00:00:02,000\n${head}: text\n`;
    for (const name of names) expect(segments(cue(name), 'srt')).toEqual([`1000-2000 ${name}: text`]);
    for (const name of names) expect(read(cue(name), 'srt').segments[0]?.speaker).toBe(name);
    for (const head of others)
      expect(read(cue(head), 'srt').segments[0]).toMatchObject({ speaker: undefined });
    expect(segments('1\n00:00:01,000 --> 00:00:02,000\n主持人：你好', 'srt')).toEqual([
      '1000-2000 主持人: 你好',
    ]);
  });

  it.each(['->', '–>', '→', '--&gt;'])('has no time with the arrow %s, and no words of it', (arrow) => {
    const times = `00:00:03,000 ${arrow} 00:00:04,000`;
    const text = `1\n00:00:01,000 --> 00:00:02,000\none\n\n2\n${times}\ntwo\n10:30 → 11:30\n`;
    expect(segments(text, 'srt')).toEqual(['1000-2000 one', 'two\n10:30 → 11:30']);
    expect(faults(text, 'srt')).toEqual([`6: not a valid time: ${times}`]);
    if (!arrow.includes('&')) expect(segments(text.replace('\n\n', '\n'), 'srt')).toHaveLength(2);
  });

  it('has no names of cues: a line above a time was said', () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\none\n\nso it is\n00:00:03,000 --> 00:00:04,000\ntwo\n';
    expect(segments(text, 'srt')).toEqual(['1000-2000 one\nso it is', '3000-4000 two']);
    expect(faults(text, 'srt')).toEqual(['5: text outside of a cue']);
  });

  it('keeps text after a blank line within a cue, and an arrow that somebody writes', () => {
    const text =
      '1\n00:00:01,000 --> 00:00:02,000\none\n\ntwo --> three\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n';
    expect(segments(text, 'srt')).toEqual(['1000-2000 one\ntwo --> three', '3000-4000 42']);
    expect(faults(text, 'srt')).toEqual(['5: text outside of a cue']);
  });
});

describe('tstxt and txt', () => {
  it('have a head, speakers, times and paragraphs', () => {
    const text = [
      ...[
        'The fall: a talk',
        'Source: https://example.com/a.mp3',
        'Length: 00:12:00',
        '',
        '[00:00:01] Ada: Hello',
        'there.',
        '',
      ],
      ...[
        'And again.',
        '',
        '(1:02:03.5) Bob Smith: Yes',
        '00:02:00 Ada: No',
        '02:10 Bob: Well',
        '',
        '10:30 is late',
        '',
      ],
      ...['Ada (00:03:00):', 'Below', '', 'Bob 3:10', '', 'Further below', '', '[00:04:00] - go on'],
    ].join('\n');
    expect(segments(text, 'tstxt')).toEqual([
      'The fall: a talk\nSource: https://example.com/a.mp3\nLength: 00:12:00',
      ...['1000 Ada: Hello\nthere.', 'Ada: And again.', '3723500 Bob Smith: Yes', '120000 Ada: No'],
      ...[
        '130000 Bob: Well',
        'Bob: 10:30 is late',
        '180000 Ada: Below',
        '190000 Bob: Further below',
        '240000 Bob: go on',
      ],
    ]);
  });

  it('of a txt, only a time in brackets is one', () => {
    expect(segments('12:30:00 Ada: no\n\n[00:01] Ada: yes', 'txt')).toEqual([
      '12:30:00 Ada: no',
      '1000 Ada: yes',
    ]);
  });
});

describe('html', () => {
  it('has breaks where a browser has them, and no scripts, styles or comments', () => {
    const page = `<!doctype html><html><head><title>No: title</title><style>p > b { }</style></head>
<body><!-- no > comment --><h1>Ada: a life</h1>
<p><b>Ada:</b> One
 two&nbsp;<em>th</em>ree &eacute;&hellip;<br>four</p><script>if (a < b) document.write("<p>no</p>")</script>
<div title="a > b">Bob: 5 < 6</div><ul><li>seven<li>eight</ul><pre>nine
ten</pre></body></html>`;
    expect(read(page, 'html').segments).toEqual([
      { line: 2, start: undefined, speaker: undefined, text: 'Ada: a life' },
      { line: 3, start: undefined, speaker: 'Ada', text: 'One two\u00a0three é…\nfour' },
      ...['Bob: 5 < 6', 'seven', 'eight', 'nine\nten'].map((text) =>
        expect.objectContaining({ speaker: 'Bob', text: text.replace('Bob: ', '') }),
      ),
    ]);
  });

  it('keeps the words of one that is not closed anywhere', () => {
    expect(segments('<p class="a>Hello <b there', 'html').join(' ')).toContain('Hello');
    expect(segments('one <!-- two', 'html')).toEqual(['one <!-- two']);
  });
});

describe('docx', () => {
  it('has paragraphs, tabs, breaks and entities; what old programs are shown is left out', () => {
    const body =
      '<w:p w:rsidR="1"><w:r><w:rPr><w:b/></w:rPr><w:t>Ada</w:t></w:r><w:r><w:t xml:space="preserve">: One &amp; </w:t></w:r>' +
      '<w:r><w:t/><w:t>two</w:t><w:tab/><w:t>three</w:t><w:br/><w:t>four</w:t></w:r></w:p><w:p/>' +
      '<w:p><mc:Choice><w:t>five</w:t></mc:Choice><mc:Fallback><w:t>five</w:t></mc:Fallback></w:p>';
    expect(read(docx(body), 'docx').segments).toEqual([
      { line: 1, start: undefined, speaker: 'Ada', text: 'One & two\tthree\nfour' },
      { line: 3, start: undefined, speaker: 'Ada', text: 'five' },
    ]);
  });

  it('has marked sections, and what was moved only where it is now', () => {
    const body =
      '<w:p><w:moveFrom w:id="1"><w:r><w:t>Bob: moved</w:t></w:r></w:moveFrom></w:p>' +
      '<w:p><w:r><w:t><![CDATA[Ada: 5 < 6 &amp; ]]>so on <![CDATA[</w:t>]]></w:t></w:r></w:p>' +
      '<w:p><w:moveTo w:id="1"><w:r><w:t>Bob: moved</w:t></w:r></w:moveTo></w:p>';
    expect(segments(docx(body), 'docx')).toEqual(['Ada: 5 < 6 &amp; so on </w:t>', 'Bob: moved']);
  });

  it('is refused if it is none, damaged, or a bomb', () => {
    const bomb = zipOf({ 'word/document.xml': Buffer.alloc(60_000_000, ' ') });
    expect(bomb.length).toBeLessThan(100_000);
    const good = docx('<w:p><w:r><w:t>text</w:t></w:r></w:p>');
    const cut = Buffer.from(good);
    cut.fill(0xff, 40, 60);
    for (const [bytes, message] of [
      [bomb, 'talk.docx unpacks to more than 50 MB, too large for a transcript'],
      [Buffer.from('plain'), 'talk.docx is not a Word document'],
      [zipOf({ 'other.xml': 'x' }), 'talk.docx is a zip file, but not a Word document'],
      [cut, "talk.docx is damaged: this Word document can't be unpacked"],
    ] as const)
      expect(() => read(bytes, 'docx')).toThrow(message);
  });

  it('of any damage is read or refused in one line', () => {
    const good = docx('<w:p><w:r><w:t>some text</w:t></w:r></w:p>');
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), (at, byte, length) => {
        const bad = Buffer.from(good.subarray(0, length < 40 ? length : good.length));
        if (at < bad.length) bad[at] = byte;
        try {
          read(bad, 'docx');
        } catch (error) {
          expect(error).toMatchObject({ name: 'StenoError', kind: 'failed' });
        }
      }),
      { numRuns: runs() },
    );
  });
});

describe('any text', () => {
  const source: TranscriptSource = {
    ...{
      id: '7',
      title: 'A talk: “Über”',
      names: ['Ada', 'Bob Smith'],
      link: 'https://x.example/a.mp3',
      minutes: 2,
    },
    fake: true,
  };

  it('that the sandbox writes has the same words, speakers and times in every format', () => {
    const turns = (format: ReadableFormat) =>
      read(renderTranscript(format, source), format).segments.filter(({ speaker }) => speaker);
    const said = turns('vtt').map(({ speaker, text }) => [speaker, text]);
    expect(said.length).toBeGreaterThan(15);
    expect(new Set(said.map(([speaker]) => speaker))).toEqual(new Set(['Ada', 'Bob Smith']));
    for (const format of readableFormats) {
      expect(turns(format).map(({ speaker, text }) => [speaker, text])).toEqual(said);
      expect(read(renderTranscript(format, source), format).faults).toEqual([]);
    }
    expect(turns('srt').map(({ start, end }) => [start, end])).toEqual(
      turns('vtt').map(({ start, end }) => [start, end]),
    );
  });

  it.each(['vtt', 'srt', 'tstxt', 'txt', 'html'] as const)(
    'in %s reads the same with other line ends and marks',
    (format) => {
      const text = renderTranscript(format, source).toString();
      const { segments: expected } = read(text, format);
      for (const other of [text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r'), `\ufeff${text}`])
        expect(read(other, format).segments).toEqual(expected);
      const mixed = text.split('\n').map((line, at) => line + (['\r', '\r\n', '\n'][at % 3] as string));
      expect(read(mixed.join(''), format).segments).toEqual(expected);
      const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
      expect(read(utf16, format).segments).toEqual(expected);
      expect(read(Buffer.from(utf16).swap16(), format).segments).toEqual(expected);
    },
  );

  it('that is no transcript is refused in one line', () => {
    const cases: ReadonlyArray<readonly [Buffer | string, ReadableFormat, string]> = [
      ['<!doctype html><p>Not found</p>', 'vtt', 'talk.vtt is a web page, not a transcript in vtt'],
      ['<html>Log in</html>', 'txt', 'talk.txt is a web page'],
      ['Dear Ada, no captions here', 'srt', 'talk.srt has no captions'],
      ['Dear Ada', 'vtt', 'talk.vtt has no captions'],
      [' \r\n', 'tstxt', 'talk.tstxt is empty'],
      ['plain text\0', 'txt', 'talk.txt, line 1: it contains a zero byte'],
      [Buffer.from('caf\u00e9', 'latin1'), 'txt', 'talk.txt is not UTF-8 (it looks like Latin-1)'],
      [docx(''), 'txt', 'talk.txt is a zip file or a Word document'],
      [
        Buffer.alloc(MAX_TRANSCRIPT_BYTES + 1, 'a'),
        'txt',
        'talk.txt is too large for a transcript: 20 MB (20000001 bytes), and at most 20 MB (20000000 bytes) are read',
      ],
    ];
    for (const [content, format, message] of cases)
      expect(() => read(content, format), message).toThrow(
        expect.objectContaining({ kind: 'failed', message: expect.stringContaining(message) }),
      );
  });

  it('of strange characters keeps every word', () => {
    const word = fc.stringMatching(/^[a-zà-ÿ一-龥\u0007\u001b\u2028\ud83d]{1,12}$/);
    const line = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));
    const wordsIn = (text: string) => text.split(/\s+/).filter(Boolean);
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 9 }), (lines) => {
        const texts: ReadonlyArray<readonly [ReadableFormat, string]> = [
          ['txt', lines.join('\n\n')],
          ['tstxt', lines.map((each, at) => `[00:0${at}:00] Ada: ${each}`).join('\n')],
          ['html', lines.map((each) => `<p>${each}</p>`).join('\n')],
          [
            'srt',
            lines.map((each, at) => `${at}\n00:00:0${at},000 --> 00:00:0${at},900\n${each}\n`).join('\n'),
          ],
          [
            'vtt',
            `WEBVTT\n\n${lines.map((each, at) => `00:0${at}.000 --> 00:0${at}.900\n<v Ada>${each}\n`).join('\n')}`,
          ],
        ];
        const said = wordsIn(Buffer.from(lines.join(' ')).toString());
        for (const [format, text] of texts)
          expect(
            wordsIn(
              read(text, format)
                .segments.map((each) => each.text)
                .join(' '),
            ),
            format,
          ).toEqual(said);
      }),
      { numRuns: runs() },
    );
  });

  it('whatever it is, gives lines that exist or an error of ours', () => {
    const piece = fc.constantFrom(
      ...[
        'WEBVTT',
        '\n',
        '\n\n',
        '00:01.000 --> 00:02.000',
        '-->',
        '<v Ada>',
        '</v>',
        '<',
        '>',
        '"',
        '&amp;',
        '&#x',
        '{\\an8}',
      ],
      ...[
        '[00:00:01]',
        'Ada:',
        ' ',
        'text',
        '1',
        '<script>',
        '</p>',
        '<!--',
        '-->',
        '<pre>',
        'NOTE',
        '[',
        '(',
        '\r',
        '\ufeff',
      ],
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.constantFrom(...readableFormats),
        (pieces, format) => {
          const text = pieces.join('');
          try {
            for (const { line } of read(text, format).segments)
              expect(line).toBeLessThanOrEqual(text.split(/\r\n|\n|\r/).length + 1);
          } catch (error) {
            expect(error).toMatchObject({ name: 'StenoError', kind: 'failed' });
          }
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it('of many megabytes in one line, or of what a reader might try again and again, takes its size in time', () => {
    const million = 1_000_000;
    const bad: ReadonlyArray<readonly [ReadableFormat, string]> = [
      ['txt', 'word '.repeat(3 * million)],
      ['txt', ' '.repeat(4 * million).concat('x')],
      ['txt', 'A:'.repeat(million)],
      ['tstxt', `${'1:'.repeat(million)}\n`.concat('0'.repeat(million))],
      ['html', '<'.repeat(4 * million)],
      ['html', '<!--'.repeat(million)],
      ['html', '<a "'.repeat(million)],
      ['html', `<a '"<b `.repeat(million / 4)],
      ['html', '&'.repeat(million).concat('#'.repeat(million))],
      ['html', '<script>'.repeat(million / 4)],
      ['vtt', `WEBVTT\n\n00:01.000 --> 00:02.000\n${'<v '.repeat(million)}`],
      ['vtt', `WEBVTT\n\n00:01.000 --> 00:02.000\n${'<v A>'.repeat(100_000)}`],
      ['vtt', `WEBVTT\n\n${'00:01.000 --> 00:02.000\n'.repeat(100_000)}`],
      ['vtt', `WEBVTT\n\n${' '.repeat(million)}-->${' '.repeat(million)}\n\n00:01.000 --> 00:02.000\nx`],
      ['srt', `${'1\n'.repeat(million / 4)}00:00:01,000 --> 00:00:02,000\n${'{\\'.repeat(million)}`],
      ['docx', '<w:t '],
      ['docx', '<w:t><![CDATA['],
      ['srt', `1\n00:00:01,000 --> 00:00:02,000\n\n${'0:00:00 - '.repeat(million)}`],
    ];
    for (const [format, text] of bad) {
      const content = format === 'docx' ? docx(text.repeat(million)) : text;
      const started = process.cpuUsage();
      try {
        read(content, format);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'failed' });
      }
      const { user, system } = process.cpuUsage(started);
      expect([format, text.slice(0, 20), (user + system) / 1e6 < 4]).toEqual([
        format,
        text.slice(0, 20),
        true,
      ]);
    }
  });
});

describe('a file', () => {
  it('is known by its name', () => {
    expect(['a.VTT', 'b.en.srt', 'c.docx', 'd.rtf', 'e', '.txt/f'].map(readableFormatOf)).toEqual([
      ...['vtt', 'srt', 'docx'],
      ...[undefined, undefined, undefined],
    ]);
  });

  it('comes from its file, or with an error that names it', async () => {
    const folder = freshFolder();
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'Ada: Hello\n');
    expect(await readTranscriptFile({ path, format: 'txt' })).toMatchObject({
      segments: [{ speaker: 'Ada', text: 'Hello' }],
    });
    const missing = join(folder, 'b.txt');
    await expect(readTranscriptFile({ path: missing, format: 'txt' })).rejects.toThrow(
      `${missing} can't be read: there is no such file`,
    );
    await expect(readTranscriptFile({ path: folder, format: 'txt' })).rejects.toThrow(
      `${folder} is a folder`,
    );

    const stopped = AbortSignal.abort();
    await expect(readTranscriptFile({ path, format: 'txt' }, stopped)).rejects.toMatchObject({
      kind: 'interrupted',
    });
  });
});
