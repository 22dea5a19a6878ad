/** Who sees the pages: an address opens them once and leaves a cookie, and from then on only the cookie counts. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { openBrowser } from '../lib/browser.ts';
import type { Env } from '../lib/env.ts';
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
