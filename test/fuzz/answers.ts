/** Answers of a service that keeps to nothing: each documented one, with any of its parts replaced, left out or broken. */
import fc from 'fast-check';
import { KEY } from '../support/steno.ts';

export interface HostileAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** Spellings of the key that a service may repeat in an answer. */
const keySpellings = [
  KEY,
  encodeURIComponent(KEY),
  encodeURIComponent(encodeURIComponent(KEY)),
  Buffer.from(KEY).toString('base64'),
  Buffer.from(`x${KEY}`).toString('base64'),
  Buffer.from(`xx${KEY}`).toString('base64url'),
  KEY.replaceAll('&', '&amp;'),
  [...KEY].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join(''),
];

export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(
      ...['\u001b', '[31m', ']0;', '\u0007', '\u009b', '\r', '\n', '\t', ' ', ',', '"', "'", '|', '=', '-'],
      ...['\u202e', '\u200b', '\u2028', '\ufeff', '\u0000', '\ud800', '😀', 'é', 'a', '1', '\\', '<b>', '%'],
    ),
    maxLength: 12,
  }),
  fc.constantFrom(
    ...['=1+1', '@SUM(A1)', '-', '../../x', 'CON', '{title}', '$HOME', '`id`', '__proto__', 'constructor'],
    ...['https://h.example/a.mp3', 'https://me:pw@h.example/a?sig=SECRETSECRETSECRET&sv=1&sr=b&se=2'],
    ...['Delivered', 'Refunded', 'On Hold', 'delivered', '2026-11-01T00:00:00Z', 'null', 'undefined', 'NaN'],
    ...['x'.repeat(3000), '日'.repeat(300), '\\'.repeat(500), '%25'.repeat(200), '1,2,3', '1,,2', ' 1 '],
  ),
  fc
    .tuple(fc.constantFrom('', 'key: ', '?api_key='), fc.constantFrom(...keySpellings))
    .map((all) => all.join('')),
);

/** Numbers as a service may write them; JSON.parse would change most. */
export const hostileNumber = fc.oneof(
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.tuple(fc.nat(), fc.nat(999)).map(([whole, cents]) => `${whole}.${String(cents).padStart(3, '0')}`),
  fc.constantFrom('-0', '0.10', '1.00', '1e400', '1E+2', '-1e-7', '9007199254740993', '0.30000000000000004'),
);

/** JSON texts of any value. */
const hostileValue: fc.Arbitrary<string> = fc.oneof(
  hostileText.map((text) => JSON.stringify(text)),
  hostileNumber,
  hostileNumber.map((text) => `"${text}"`),
  fc.constantFrom('null', 'true', 'false', '[]', '{}', '""', '[[]]', '[null]', '{"id":{}}', '{"":0}'),
  fc
    .array(
      fc.oneof(
        hostileNumber,
        hostileText.map((text) => JSON.stringify(text)),
      ),
    )
    .map((all) => `[${all.join(',')}]`),
  fc.json({ maxDepth: 3 }),
  fc.integer({ min: 1, max: 300 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 300 }).map((depth) => `${'{"id":'.repeat(depth)}1${'}'.repeat(depth)}`),
);

type Template = ReadonlyArray<readonly [string, string]>;

/** What the API document says, as JSON texts. */
const documented = {
  order: [
    ['order', '9007199254740993'],
    ['audiofiles', '[1001, "1002"]'],
    ['message', '"ok"'],
    ['hold', '"billing"'],
  ],
  audiofile: [
    ['id', '1001'],
    ['statename', '"Delivered"'],
    ['names', '"Ada|Grace"'],
    ['notes', '"none"'],
    ['originallink', '"https://h.example/a.mp3"'],
    ['title', '"A talk"'],
    ['duration', '12.50'],
    ['description', '""'],
    ['quality_stars', '5'],
    ['orders', '[1]'],
    ['invoices', '[2, 3]'],
    ['total', '12345678901234567890.10'],
  ],
  balance: [['balance', '"1.00"']],
  invoice: [
    ['id', '5001'],
    ['purchase_order', 'null'],
    ['createtime', '"2026-11-01T00:00:00Z"'],
    ['paidtime', '"2026-11-02"'],
    ['total', '10.50'],
    ['state', '"PAID"'],
    ['items', '[{"id":1,"sku":"TRANS14","quantity":2,"price":5.25,"audiofile":1001,"total":10.50}]'],
  ],
  webhook: [
    ['webhook', '"https://h.example/hook"'],
    ['message', '"ok"'],
  ],
  message: [['message', '"done"']],
} satisfies Record<string, Template>;

export type AnswerKind = keyof typeof documented | 'transcript';

/** Each member as documented, with another value, or left out; further ones beside them. */
function mutated(template: Template): fc.Arbitrary<string> {
  const members = template.map(([key, value]) =>
    fc
      .tuple(
        fc.constantFrom('as it is', 'as it is', 'as it is', 'replaced', 'left out', 'twice'),
        hostileValue,
      )
      .map(([how, other]): string[] => {
        const own = `${JSON.stringify(key)}: ${how === 'replaced' ? other : value}`;
        if (how === 'left out') return [];
        return how === 'twice' ? [own, `${JSON.stringify(key)}:${other}`] : [own];
      }),
  );
  const added = fc
    .array(
      fc.tuple(fc.oneof(fc.constantFrom('error', 'errors', 'status', 'id', 'x'), hostileText), hostileValue),
      { maxLength: 2 },
    )
    .map((all) => all.map(([key, value]) => `${JSON.stringify(key)}:${value}`));
  return fc.tuple(...members, added).map((all) => `{${all.flat().join(', ')}}`);
}

const items = mutated(documented.invoice.map(([key, value]) => [key, value] as const));
const item = mutated([
  ['id', '1'],
  ['sku', '"TRANS14"'],
  ['quantity', '2'],
  ['price', '5.25'],
  ['audiofile', '1001'],
  ['total', '10.50'],
]);

function jsonOf(kind: AnswerKind): fc.Arbitrary<string> {
  if (kind === 'transcript') return fc.oneof(hostileText, hostileValue);
  const own = mutated(documented[kind]);
  const wrapped = own.map((text) => `{"${kind}": ${text}}`);
  if (kind === 'audiofile') return fc.oneof({ weight: 4, arbitrary: wrapped }, own);
  if (kind === 'invoice') {
    const withItems = fc
      .tuple(items, fc.array(fc.oneof(item, hostileValue), { maxLength: 3 }))
      .map(([head, all]) => head.replace(/\}$/, `, "items": [${all.join(',')}]}`));
    return fc.oneof(own, withItems, wrapped);
  }
  return own;
}

/** What comes in place of JSON, or of the whole of it. */
function broken(text: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(text);
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(bytes) },
    fc.nat(Math.max(0, bytes.length - 1)).map((end) => bytes.subarray(0, end)),
    fc.constant(Buffer.concat([Buffer.from('\ufeff'), bytes])),
    fc.tuple(fc.nat(Math.max(0, bytes.length - 1)), fc.nat(255)).map(([at, byte]) => {
      const changed = Buffer.from(bytes);
      if (changed.length) changed[at] = byte;
      return changed;
    }),
    fc
      .constantFrom(
        ...[
          '',
          ' ',
          '<!doctype html><h1>502</h1>',
          '<?xml version="1.0"?><a/>',
          'ok',
          'null',
          '""',
          '0',
          '[]',
          'true',
        ],
      )
      .map((other) => Buffer.from(other)),
    hostileText.map((other) => Buffer.from(other)),
    hostileValue.map((other) => Buffer.from(other)),
    fc.uint8Array({ maxLength: 60 }).map((other) => Buffer.from(other)),
  );
}

/** What is tried again is left out: that takes seconds. */
const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant(200) },
  fc.constantFrom(
    201,
    202,
    206,
    226,
    300,
    302,
    304,
    400,
    401,
    402,
    403,
    404,
    405,
    409,
    410,
    418,
    422,
    451,
    499,
    501,
    505,
    599,
  ),
);

const type = fc.constantFrom(
  ...[
    'application/json',
    'text/html; charset=iso-8859-1',
    'text/plain',
    '',
    'application/json; charset=utf-16',
  ],
);

export const answerOf = (kind: AnswerKind): fc.Arbitrary<HostileAnswer> =>
  fc.record({ status, type, body: jsonOf(kind).chain(broken) });

/** Decodings of what was printed, one after the other, as someone who looks for the key may do. */
const decodings: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => text.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
  (text) =>
    text.replace(/\\+u([0-9a-f]{4})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
  (text) => text.replaceAll('&amp;', '&'),
  (text) => text.replace(/\\(["\\/])/g, '$1'),
  (text) => text.replaceAll('""', '"'),
];

/** In base64, at each of the three places where it may begin: the characters that hold nothing else. */
const base64Forms = [0, 1, 2].map((offset) => {
  const whole = Buffer.from('x'.repeat(offset) + KEY);
  return whole.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((whole.length * 8) / 6));
});
const shownForms = [
  ...keySpellings.slice(0, 3),
  ...base64Forms,
  ...base64Forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
];

/** Whether the key can be read in a text, in any of its spellings. */
export function showsKey(text: string): boolean {
  return decodings.some((first) =>
    decodings.some((second) => shownForms.some((form) => second(first(text)).includes(form))),
  );
}
