/** What the pages are made of: what the command knows, and what a call brings. */
import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Waiting } from '../ledger/waiting.ts';
import type { Effect } from '../lib/effects.ts';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';
import type { Settings } from '../settings/settings.ts';

export interface PageSource {
  readonly isSandbox: boolean;
  /** How a command line begins that means the same account: `steno --sandbox`. */
  readonly command: string;
  /** Where the build is, and where files that open a browser are put; nobody else may read those. */
  readonly build: string;
  readonly folder: string;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly hide: (text: string) => string;
  /** Throws for what STENO_ALLOW or the settings forbid. */
  requireAllowed(effect: Effect, what: string): void;
  readonly settings: Settings;
  readonly ledger: Ledger;
  /** What listeners on this machine could not write to it yet. */
  readonly waiting: Waiting;
  /** Only a download needs the service. */
  connect(): Promise<Transport>;
  /** Brings what the ledger says of open files up to date; undefined where others do that. */
  readonly refresh: (() => Promise<unknown>) | undefined;
  /** Runs a command of steno for the same account and gives what it prints: what takes long holds up no page. */
  run(words: readonly string[], signal: AbortSignal, args?: readonly string[]): Promise<string>;
}

export interface Call {
  /** What its path names: a file, or the number of an event. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Of a POST, else empty. */
  readonly body: ReadonlyMap<string, Json>;
  /** Ends when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What the browser saves as a file. */
export interface FileAnswer {
  readonly name: string;
  readonly type: string;
  readonly content: string | Buffer;
}

/** By address: `file/:`. A text is JSON that is written already. */
export type Handlers = Readonly<Record<string, (call: Call) => Promise<Json | FileAnswer>>>;

const MAX_WORDS = 8;
const MAX_WORD_LENGTH = 100;
const MAX_ROWS = 500;

/** The words that are looked for. */
export const wordsOf = ({ query }: Call): string[] =>
  (query.get('q') ?? '')
    .split(/[\s\u0000-\u001f\u007f]+/)
    .filter(Boolean)
    .slice(0, MAX_WORDS)
    .map((word) => Buffer.from(word.slice(0, MAX_WORD_LENGTH)).toString());

/** The rows of a list that are asked for. */
export const windowOf = (call: Call): { readonly offset: number; readonly limit: number } => ({
  offset: numberOf(call, 'offset', 0),
  limit: Math.min(numberOf(call, 'limit', 100), MAX_ROWS),
});

function numberOf({ query }: Call, name: string, initial: number): number {
  const text = query.get(name) || String(initial);
  if (!/^\d{1,15}$/.test(text)) throw usage(`${name} must be a whole number, not '${text.slice(0, 40)}'`);
  return Number(text);
}

/** One of the values that a parameter may have; undefined where it is not given. */
export function choiceOf<Choice extends string>(
  { query }: Call,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = query.get(name) ?? '';
  const found = choices.find((each) => each === text);
  if (text && !found) throw usage(`${name} must be one of ${choices.join(', ')}, not '${text.slice(0, 40)}'`);
  return found;
}

/** A text of the body; undefined where it is not given. */
export function textOf({ body }: Call, name: string): string | undefined {
  const value = body.get(name) ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw usage(`${name} must be a text`);
  return value;
}

export const missing = (what: string, hint?: string): StenoError =>
  new StenoError('missing', `${what} is not in the ledger`, { hint });
