/** Any tunnel program that the user has: started with the local address filled in, ended with the listener. */
import type { Env } from '../lib/env.ts';
import { StenoError } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import { isLoopback } from '../lib/urls.ts';
import { endGroup, startGroup } from './process-group.ts';

export interface Tunnel {
  readonly url: string;
  /** Resolves with a word on how it ended, should it end by itself. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

export interface TunnelOptions {
  /** With `{url}` and `{port}` for the local address. */
  readonly command: string;
  readonly origin: string;
  readonly port: number;
  readonly env: Env;
  readonly signal: AbortSignal;
}

const PATIENCE = 30_000;
/** An address with a path is taken only if no better one follows: programs print links to their terms, too. */
const SECOND_THOUGHTS = 3_000;
const LONGEST_OUTPUT = 262_144;

export async function openTunnel({ command, origin, port, env, signal }: TunnelOptions): Promise<Tunnel> {
  const line = command.replaceAll('{url}', origin).replaceAll('{port}', String(port));
  const child = startGroup(line, env, ['ignore', 'pipe', 'pipe']);
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (code, killedBy) => done(code === null ? `${killedBy}` : `exit ${code}`));
  });
  const close = (): Promise<void> => endGroup(child);
  try {
    const url = await firstAddress([child.stdout, child.stderr], ended, signal);
    return { url, ended, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Lines = ReadonlyArray<NodeJS.ReadableStream | null>;

async function firstAddress(streams: Lines, ended: Promise<string>, signal: AbortSignal): Promise<string> {
  let text = '';
  const timers: NodeJS.Timeout[] = [];
  const after = (milliseconds: number, work: () => void): void => {
    timers.push(setTimeout(work, milliseconds));
  };
  try {
    return await new Promise<string>((done, failed) => {
      const fail = (what: string): void => failed(new StenoError('failed', what, { hint: lastWords(text) }));
      const read = (chunk: Buffer): void => {
        // Read on to the end, or the program would stand still when its pipe is full.
        if (text.length > LONGEST_OUTPUT) return;
        text += chunk.toString('utf8');
        const { likely, possible } = addressesIn(text);
        if (likely) done(likely);
        else if (possible && timers.length === 1) after(SECOND_THOUGHTS, () => done(best(text) ?? possible));
      };
      after(PATIENCE, () => fail('the tunnel printed no public https address in 30s'));
      for (const stream of streams) stream?.on('data', read);
      void ended.then((how) => fail(`the tunnel ended before it printed an address (${how})`));
      signal.addEventListener('abort', () => fail('interrupted'), { once: true });
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

const best = (text: string): string | undefined => {
  const { likely, possible } = addressesIn(`${text}\n`);
  return likely ?? possible;
};

const lastWords = (text: string): string =>
  text.trim() ? `it said: ${oneLine(text.slice(-300))}` : 'it said nothing';

const documents =
  /^(www|docs?|developers?|dashboard|admin|status|help|support|blog)\.|(^|\.)(github\.com|localhost\.run)$/;

/** A tunnel's own address is a bare host; a link to its documents has a path, or a host that says so. */
export function addressesIn(text: string): { likely: string | undefined; possible: string | undefined } {
  const found = [...text.matchAll(/https:\/\/[^\s"'<>|\\^`{}()[\]\u001b]+/gi)]
    .map(([url]) => url.replace(/[.,;:!?]+$/, ''))
    .filter((url) => URL.canParse(url) && isPublic(new URL(url).hostname));
  const isBare = (url: string): boolean => {
    const { pathname, search, hostname } = new URL(url);
    return pathname === '/' && search === '' && !documents.test(hostname);
  };
  // The last word may have come in half.
  const isWhole = (url: string): boolean => !text.endsWith(url);
  return { likely: found.find((url) => isBare(url) && isWhole(url)), possible: found[0] };
}

const isPublic = (host: string): boolean =>
  !isLoopback(host) && !/^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\.|\.local$/.test(host);
