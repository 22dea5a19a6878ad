/** Whatever reads untrusted text takes time in proportion to it, and never overflows the stack. */
import { describe, expect, it } from 'vitest';
import { errorIn } from '../../src/api/decode.ts';
import { parseRetryAfter } from '../../src/api/http/failures.ts';
import { messageInText } from '../../src/api/http/message.ts';
import {
  fromJson,
  isCsvHeader,
  lacksHeader,
  splitNames,
  splitSkus,
} from '../../src/flows/orders/manifest-formats.ts';
import { isSomethingElse } from '../../src/flows/transcripts/content.ts';
import { fileName } from '../../src/flows/transcripts/name.ts';
import { errorJson } from '../../src/lib/error-json.ts';
import { StenoError } from '../../src/lib/errors.ts';
import { formatJson, parseJson } from '../../src/lib/json.ts';
import { decodeUtf8 } from '../../src/lib/lines.ts';
import { Mask } from '../../src/lib/mask.ts';
import { isAmount } from '../../src/lib/money.ts';
import { audioIdentity, differenceOf } from '../../src/lib/names.ts';
import {
  cutFormSignatures,
  cutJsonSignatures,
  cutSignatures,
  withoutSignature,
} from '../../src/lib/signatures.ts';
import { forCsv, forRow, forTerminal, forTerminalLines, hasHidden, oneLine } from '../../src/lib/text.ts';
import { parseDuration, parseSince } from '../../src/lib/time.ts';
import { checkUrl } from '../../src/lib/url.ts';
import { parseFields, parseForm, ReceivedEvent } from '../../src/listen/event.ts';
import { drawLines } from '../../src/ui/fit.ts';
import { csvTable, tabSeparated } from '../../src/ui/output.ts';
import { Paint } from '../../src/ui/paint.ts';
import { drawPairs, drawRecords, drawTable } from '../../src/ui/table.ts';
import { eventPage, eventsView, lostJson, lostLine, subjectOf } from '../../src/views/events.ts';
import { EventLines } from '../../src/views/lines.ts';
import { excessGrowth } from '../support/growth.ts';
import { KEY } from '../support/steno.ts';

/** A text of about this many characters. */
type Make = (length: number) => string;

const repeated =
  (unit: string, before = '', after = ''): Make =>
  (length) =>
    before + unit.repeat(Math.ceil(length / unit.length)) + after;

const nested =
  (open: string, close: string): Make =>
  (length) => {
    const depth = Math.ceil(length / (open.length + close.length));
    return open.repeat(depth) + close.repeat(depth);
  };

const shapes: Readonly<Record<string, Make>> = {
  backslashes: repeated('\\'),
  'backslashes before a quote': repeated('\\', '"', '"'),
  'escaped quotes': repeated('\\"', '"'),
  'percent signs': repeated('%'),
  'percent escapes of percent signs': repeated('25', 'a=%'),
  'percent escapes': repeated('%5C%0a%ff'),
  quotes: repeated('"'),
  'opening brackets': repeated('['),
  'opening braces': repeated('{"a":'),
  'nested arrays': nested('[', ']'),
  'an array of objects': repeated('{"a":[1.50,"x"]},', '[', '1]'),
  'repeated keys': repeated('"a":1,', '{', '"a":1}'),
  ampersands: repeated('&'),
  'fields without a value': repeated('a&'),
  'escaped ampersands': repeated('amp;', '&'),
  'numbers of entities': repeated('&#000'),
  'less-than signs': repeated('<'),
  'tags that never end': repeated('<script', '<p>'),
  'comments that never end': repeated('<!--', '<'),
  'comments that end': repeated('<!---->'),
  spaces: repeated(' ', 'a', 'x'),
  'spaces before a currency': repeated(' ', '1', 'USX'),
  tabs: repeated('\t', 'a', 'x'),
  'line breaks': repeated('\r\n', 'a', 'x'),
  'carriage returns': repeated('\r', 'a', 'x'),
  'combining marks': repeated('\u0301', 'e'),
  joiners: repeated('\u200d', 'e'),
  'letters and joiners': repeated('e\u200c'),
  'marks of direction': repeated('\u202e'),
  'emoji with joiners': repeated('\u{1f469}\u200d'),
  'emoji with selectors': repeated('\u2764\ufe0f'),
  'selectors of variants': repeated('\ufe0f\u{e0100}', 'a'),
  controls: repeated('\u001b[2J'),
  digits: repeated('9'),
  thousands: repeated(',000', '1'),
  zeros: repeated('0', '-'),
  dots: repeated('.', 'x', 'x'),
  commas: repeated(','),
  semicolons: repeated(';a=b', 'https://h/'),
  'question marks': repeated('?&'),
  'the beginning of a link': repeated('http:'),
  'slashes after a scheme': repeated('/', 'http:'),
  links: repeated('http://h?a '),
  'one link after the other': repeated('https://h/?a=1&b=2&c=3&'),
  'signed links': repeated('https://h/?sig=1&sv=1&sr=1&se=1 '),
  'encoded signed links': repeated(encodeURIComponent('https://h/?sig=1&sv=1&sr=1&se=1 '), 'a='),
  'a link that ends in brackets': repeated(')]', 'https://h/?a@'),
  passwords: repeated('http://a:b@'),
  'the beginning of the key': repeated(KEY.slice(0, -1)),
  'the key': repeated(encodeURIComponent(KEY)),
};

const mask = new Mask();
mask.add(KEY);
const paint = new Paint(true);
const bytesOf = (text: string): Buffer => Buffer.from(text);

const eventOf = (text: string): ReceivedEvent => {
  const body = bytesOf(`event=X&audiofile=1&${text}`);
  return new ReceivedEvent({
    ...{
      id: 1,
      run: 1,
      source: 'received',
      received_at: '2026-01-01T00:00:00.000Z',
      remote: '',
      content_type: text,
    },
    ...{
      body,
      event: text,
      version: '',
      audiofile: '',
      order_id: '',
      title: text,
      duplicate: null,
      arrival: '',
    },
    ...{ key: text, details: JSON.stringify({ title: text, feed: text }) },
  });
};
const rowsOf = (text: string) => ({ columns: [{ name: 'a' }, { name: 'b' }], rows: [[text, text]] });

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'the signatures in a form': (text) => cutFormSignatures(bytesOf(text)),
  'what an event is about': (text) => parseForm(bytesOf(text)),
  'the files of an event': (text) => parseForm(bytesOf(`audiofiles=${text}`)),
  'the fields of an event': (text) => parseFields(bytesOf(text)),
  'an event as JSON': (text) => formatJson(eventOf(text).json, 0),
  'an event as a row': (text) => tabSeparated(eventsView([eventOf(text)]).rows),
  'an event as CSV': (text) => csvTable(eventsView([eventOf(text)])),
  'an event as a line': (text) =>
    drawLines(new EventLines().events([eventOf(text)], true), {
      ...{ width: 80, paint, hide: mask.hide },
    }),
  'an event as a page': (text) => drawPairs(eventPage(eventOf(text), [], true), 80, paint, 0),
  'an event as pairs': (text) => tabSeparated(eventPage(eventOf(text), [], false).rows),
  'an event that is not kept': (text) => [
    oneLine(lostLine(eventOf(text))),
    formatJson(lostJson(eventOf(text)), 0),
  ],
  'an event with --quiet': (text) => forRow(subjectOf(eventOf(text))),
  'the mask': (text) => mask.hide(text),
  JSON: (text) => parseJson(text),
  'JSON, written': (text) => formatJson(parseJson(text)),
  'a text, as JSON': (text) => formatJson(text),
  'the signatures in JSON': (text) => cutJsonSignatures([text]),
  'the signatures in a text': (text) => cutSignatures(text),
  'the signature of a link': (text) => withoutSignature(`https://h/${text}?${text}`),
  'the identity of a link': (text) => audioIdentity(`https://h/${text}?${text}`),
  'the difference of two links': (text) => differenceOf(`https://h/?${text}`, `https://h/?${text}&utm_a=1`),
  'the message of an answer': (text) => messageInText(text),
  'the message of a page': (text) => messageInText(`<p>${text}`),
  'the message in JSON': (text) => messageInText(JSON.stringify({ message: text })),
  'a refusal': (text) => errorIn(parseJson(text)),
  'an error': (text) => errorJson(new StenoError('failed', text), mask.hide),
  'a line of a terminal': forTerminal,
  'lines of a terminal': forTerminalLines,
  'a cell of a row': forRow,
  'a cell of CSV': forCsv,
  'a message': (text) => oneLine(text, 600),
  'a look for hidden characters': hasHidden,
  'a table': (text) => drawTable(rowsOf(text), 80, paint, 0),
  'a list of names and values': (text) => drawPairs(rowsOf(text), 80, paint, 0),
  'a record': (text) => drawRecords(rowsOf(text), 80, paint, 0),
  'the bytes of a manifest': (text) => decodeUtf8(bytesOf(text), 'x'),
  'a manifest in JSON': (text) => fromJson(text, false),
  'the header of a manifest': isCsvHeader,
  'a manifest without a header': (text) => lacksHeader('x', [{ text }, { text: `https://h/${text}` }]),
  'the SKUs and names of a manifest': (text) => [splitSkus(text), splitNames(text)],
  'a transcript': (text) => isSomethingElse(bytesOf(text), 'txt', false),
  'a part of a transcript': (text) => isSomethingElse(bytesOf(text), 'docx', true),
  'the name of a file': (text) =>
    fileName('{title}.{ext}', { id: text, title: text, order: text, guid: text, date: text, ext: 'txt' }),
  'an amount': isAmount,
  'a duration': parseDuration,
  'a time': (text) => parseSince(text, 0),
  'a URL': checkUrl,
  'Retry-After': (text) => parseRetryAfter(text, 0),
};

describe('in proportion to the text', () => {
  it.each(Object.entries(readers))('is the time for %s', (_, read) => {
    // A text may be refused, but in proportion too.
    const readOrRefuse = (text: string): void => {
      try {
        read(text);
      } catch (error) {
        if (error instanceof RangeError) throw error;
      }
    };
    const slow = Object.entries(shapes).flatMap(([shape, make]) => {
      const growth = excessGrowth(readOrRefuse, make);
      return growth === undefined ? [] : [`${shape}: ${growth.toFixed(1)} times for four times the text`];
    });
    expect(slow).toEqual([]);
  });
});
