import type { Database } from '../lib/sqlite.ts';

/** Where each kind of number begins: far enough apart to be told apart at a glance. */
const beginnings = { file: 1000, order: 0, invoice: 5000, item: 20_000, transaction: 70_000 } as const;
export type Counted = keyof typeof beginnings;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHORT_IDS = alphabet.length ** 3;
/** Shares no factor with SHORT_IDS, so that every short id comes up once before any is used twice. */
const STRIDE = 82_457;

export function nextId(db: Database, kind: Counted): string {
  const row = db.get<{ last: number }>(
    `INSERT INTO counters (name, last) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET last = last + 1 RETURNING last`,
    kind,
    beginnings[kind] + 1,
  );
  const last = row?.last ?? beginnings[kind];
  return kind === 'order' ? orderId(last) : String(last);
}

/** A short mixed-case id such as `4nX`, unlike those before and after it. */
export function orderId(count: number): string {
  const lap = Math.floor(count / SHORT_IDS);
  const short = inAlphabet((count * STRIDE) % SHORT_IDS).padStart(3, '0');
  return lap === 0 ? short : inAlphabet(lap) + short;
}

function inAlphabet(value: number): string {
  const rest = Math.floor(value / alphabet.length);
  return (rest > 0 ? inAlphabet(rest) : '') + alphabet.charAt(value % alphabet.length);
}
