/**
 * Who sees the pages: an address opens them once and leaves a cookie, and from then on only the cookie counts. And how
 * `steno open` finds a `steno ui` that runs, to ask it for an address.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { openBrowser } from '../lib/browser.ts';
import type { Env } from '../lib/env.ts';
import { isOfThisMachine, isSameProcess, type ProcessMark, thisProcess } from '../lib/processes.ts';
import { sha256 } from '../lib/sha256.ts';

/** A browser that has not come by then is not coming. */
const OPENING_MS = 60_000;
/** Unused addresses; the oldest end first. */
const MAX_ADDRESSES = 100;

const secret = (): string => randomBytes(32).toString('base64url');

/** Cookies of 127.0.0.1 are shared by all ports, so the port is in the name. */
export const cookieOf = (port: number, session: string): string => `steno-${port}=${session}`;

const fileOf = (folder: string, token: string): string =>
  join(folder, `ui-open-${sha256(token).slice(0, 24)}.html`);

/** By a file that leads to the address, so that no list of processes shows it. False: there is no browser. */
export async function showInBrowser(url: string, folder: string, env: Env): Promise<boolean> {
  const path = fileOf(folder, url.split('/').at(-1) ?? '');
  const page = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${url}">
<title>steno</title>
<p><a href="${url}">Go to the page</a></p>
`;
  writeFileSync(path, page, { mode: 0o600, flag: 'wx' });
  const isShown = await openBrowser(path, env);
  if (!isShown) rmSync(path, { force: true });
  return isShown;
}

export class Door {
  readonly session = secret();
  readonly #folder: string;
  /** What each unused address shows. */
  readonly #addresses = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  address(port: number, go: string): string {
    const token = secret();
    this.#addresses.set(token, go);
    for (const oldest of [...this.#addresses.keys()].slice(0, -MAX_ADDRESSES)) this.enter(oldest);
    setTimeout(() => this.#removeFile(token), OPENING_MS).unref();
    return `http://127.0.0.1:${port}/open/${token}`;
  }

  /** Uses up an address, and gives the page that it shows. */
  enter(token: string): string | undefined {
    const go = this.#addresses.get(token);
    if (this.#addresses.delete(token)) this.#removeFile(token);
    return go;
  }

  close(): void {
    for (const token of this.#addresses.keys()) this.enter(token);
  }

  /** Takes the same time wherever the texts differ. */
  isOpenTo({ headers: { cookie = '' } }: IncomingMessage, port: number): boolean {
    const own = Buffer.from(cookieOf(port, this.session));
    return cookie.split('; ').some((each) => {
      const given = Buffer.from(each);
      return given.length === own.length && timingSafeEqual(given, own);
    });
  }

  #removeFile(token: string): void {
    rmSync(fileOf(this.#folder, token), { force: true });
  }
}

interface Pages {
  readonly port: number;
  readonly session: string;
  /** Whose pages they are: a mark of the profile and the ledger. */
  readonly account: string;
}
/** A `steno ui` that runs. */
export type RunningPages = Pages & ProcessMark;

const LIMIT_MS = 3_000;

/** Readable by its owner alone, and gone when the pages are. Gives what removes it. */
export function noteRunning(folder: string, pages: Pages): () => void {
  const path = join(folder, `ui-${process.pid}.json`);
  // Half a note is none to its readers.
  writeFileSync(path, JSON.stringify({ ...thisProcess(), ...pages }), { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** Those of an account that run on this machine, the latest first. What others left behind is removed. */
export function findRunning(folder: string, account: string): RunningPages[] {
  const names = readdirSync(folder);
  const pathsLike = (name: RegExp): string[] =>
    names.filter((each) => name.test(each)).map((each) => join(folder, each));
  const running = pathsLike(/^ui-\d+\.json$/).flatMap((path) => {
    const note = readNote(path);
    if (!note || !isOfThisMachine(note) || isSameProcess(note)) return note ?? [];
    rmSync(path, { force: true });
    return [];
  });
  const ports = new Set(running.map(({ port }) => String(port)));
  for (const path of pathsLike(/^ui-open-[0-9a-f]{24}\.html$/)) {
    const [, port = ''] = /127\.0\.0\.1:(\d+)\/open\//.exec(textOf(path)) ?? [];
    if (!ports.has(port)) rmSync(path, { force: true });
  }
  return running.filter((each) => each.account === account && isOfThisMachine(each)).reverse();
}

/** Undefined for what is no such note. */
function readNote(path: string): RunningPages | undefined {
  try {
    const note = JSON.parse(textOf(path)) as RunningPages;
    return [note.pid, note.port].every((each) => Number.isInteger(each) && each > 0) ? note : undefined;
  } catch {
    return undefined;
  }
}

/** Empty for what can't be read, or has just been removed. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A new address of a page there. Undefined where nothing of ours answers. */
export async function askForAddress(
  { port, session }: RunningPages,
  go: string,
): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/opening`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: cookieOf(port, session) },
      body: JSON.stringify({ go }),
      redirect: 'error',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const { url } = (await answer.json()) as { readonly url?: unknown };
    return new RegExp(`^http://127\\.0\\.0\\.1:${port}/open/[\\w-]{43}$`).exec(String(url))?.[0];
  } catch {
    return undefined;
  }
}
