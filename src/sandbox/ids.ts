import type { Database } from '../lib/sqlite.ts';

/** The kinds of ids begin far apart, so that a reader can tell them apart. */
const firstNumbers = { file: 1000, order: 0, invoice: 5000, item: 20_000, transaction: 70_000 } as const;
export type IdKind = keyof typeof firstNumbers;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHORT_IDS = alphabet.length ** 3;
/** Shares no factor with SHORT_IDS, so that every short id comes up once before any is used twice. */
const STRIDE = 82_457;

export function nextId(db: Database, kind: IdKind): string {
  const row = db.get<{ last: number }>(
    `INSERT INTO counters (name, last) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET last = last + 1 RETURNING last`,
    kind,
    firstNumbers[kind] + 1,
  );
  const last = row?.last ?? firstNumbers[kind];
  return kind === 'order' ? orderId(last) : String(last);
}

/** A short mixed-case id such as `4nX`; neighbouring ids look different. */
export function orderId(count: number): string {
  const round = Math.floor(count / SHORT_IDS);
  const short = inAlphabet((count * STRIDE) % SHORT_IDS).padStart(3, '0');
  return round === 0 ? short : inAlphabet(round) + short;
}

function inAlphabet(value: number): string {
  const rest = Math.floor(value / alphabet.length);
  return (rest > 0 ? inAlphabet(rest) : '') + alphabet.charAt(value % alphabet.length);
}
