/** Who sees the pages: an address opens them once and leaves a cookie, and from then on only the cookie counts. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

/** A browser that has not come by then is not coming. */
const OPENING_MS = 60_000;
/** Unused addresses; the oldest end first. */
const MAX_ADDRESSES = 100;

const secret = (): string => randomBytes(32).toString('base64url');

/** Cookies of 127.0.0.1 are shared by all ports, so the port is in the name. */
export const cookieOf = (port: number, session: string): string => `steno-${port}=${session}`;

export class Door {
  readonly session = secret();
  readonly #folder: string;
  /** What each unused address shows, and the file that leads to it. */
  readonly #addresses = new Map<string, { readonly go: string; readonly file?: string }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  address(port: number, go: string, file?: string): string {
    const token = secret();
    this.#addresses.set(token, { go, ...(file && { file }) });
    for (const oldest of [...this.#addresses.keys()].slice(0, -MAX_ADDRESSES)) this.enter(oldest);
    return `http://127.0.0.1:${port}/open/${token}`;
  }

  /** A file that leads a browser to the page, so that no list of processes shows the address. Gives its path. */
  file(port: number, go: string): string {
    const path = join(this.#folder, `ui-open-${randomBytes(12).toString('hex')}.html`);
    const url = this.address(port, go, path);
    const page = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${url}">
<title>steno</title>
<p><a href="${url}">Go to the page</a></p>
`;
    writeFileSync(path, page, { mode: 0o600, flag: 'wx' });
    setTimeout(() => this.enter(url.slice(-this.session.length)), OPENING_MS).unref();
    return path;
  }

  /** Uses up an address, and gives the page that it shows. */
  enter(token: string): string | undefined {
    const { go, file } = this.#addresses.get(token) ?? {};
    this.#addresses.delete(token);
    if (file) rmSync(file, { force: true });
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
}
