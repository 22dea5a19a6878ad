/** What the pages are made of: what the command knows, and how the ledger and the service are asked. */
import type { ServerResponse } from 'node:http';
import type { Transport } from '../api/http/transport.ts';
import type { SearchPlace } from '../flows/search/search.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Spool } from '../ledger/spool.ts';
import type { Effect } from '../lib/command-entry.ts';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import type { Json } from '../lib/json.ts';
import type { Settings } from '../settings/settings.ts';

export interface PageSource {
  readonly isSandbox: boolean;
  /** How a command line begins that means the same account: `steno --sandbox`. */
  readonly command: string;
  /** Where the built page is, and where files that open a browser are put; nobody else may read those. */
  readonly assets: string;
  readonly folder: string;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly hide: (text: string) => string;
  /** Throws for what STENO_ALLOW or the settings forbid. */
  requireAllowed(effect: Effect, what: string): void;
  readonly settings: Settings;
  readonly ledger: Ledger;
  /** What listeners on this machine could not write to it yet. */
  spool(): Promise<Spool>;
  /** Where the index of `steno search` is, and whose. */
  searchPlace(): Promise<Omit<SearchPlace, 'signal' | 'openLedger'>>;
  /** Only a download needs the service. */
  connect(): Promise<Transport>;
  /** Brings what the ledger says of open files up to date, now and then; undefined where others do that. */
  readonly refresh: (() => void) | undefined;
  /** Runs a command of `steno` for the same account, one at a time, as a process; gives what it prints. */
  run(args: readonly string[]): Promise<string>;
}

export interface Call {
  /** What its path names: a file, or the number of an event. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Of a POST, else empty. */
  readonly body: ReadonlyMap<string, Json>;
  readonly response: ServerResponse;
}

/** An answer that is written already. With a name, the browser saves it. */
export interface FileAnswer {
  readonly name?: string;
  readonly type: string;
  readonly content: string | Buffer;
}

/** By method and address: `GET file/:`. One that gives nothing answers itself. */
export type Handlers = Readonly<Record<string, (call: Call) => Promise<Json | FileAnswer | undefined>>>;

const MAX_WORDS = 8;
const MAX_WORD_LENGTH = 100;

/** The words that are looked for. */
export const wordsOf = ({ query }: Call): string[] =>
  (query.get('q') ?? '')
    .split(/[\s\u0000-\u001f\u007f]+/)
    .filter(Boolean)
    .slice(0, MAX_WORDS)
    .map((word) => Buffer.from(word.slice(0, MAX_WORD_LENGTH)).toString());

const MAX_ROWS = 500;

/** The rows of a list that are asked for. */
export const windowOf = (call: Call): { readonly offset: number; readonly limit: number } => ({
  offset: numberOf(call, 'offset', 0, Number.MAX_SAFE_INTEGER),
  limit: numberOf(call, 'limit', 100, MAX_ROWS),
});

/** A whole number of the query, within bounds. */
export function numberOf({ query }: Call, name: string, initial: number, max: number): number {
  const text = query.get(name) ?? '';
  if (text === '') return initial;
  if (!/^\d{1,15}$/.test(text)) throw usage(`${name} must be a whole number, not '${text.slice(0, 40)}'`);
  return Math.min(Number(text), max);
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

/** A list of texts of the body. */
export function textsOf({ body }: Call, name: string): string[] {
  const given = body.get(name);
  const texts = Array.isArray(given) ? given.filter((each) => typeof each === 'string') : [];
  if (!Array.isArray(given) || texts.length !== given.length || !texts.length)
    throw usage(`${name} must be a list of texts`);
  return texts;
}

export const missing = (what: string, hint?: string): StenoError =>
  new StenoError('missing', `${what} is not in the ledger`, { hint });
