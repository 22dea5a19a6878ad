/** Files that lead a browser to the page, so that no list of processes shows the token. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A browser that has not come by then does not come any more. */
const OPENING_MS = 60_000;

/** Which page to show, with the token: both in the part of an address that a browser keeps to itself. */
const fragment = (token: string, go: string): string => new URLSearchParams({ token, go }).toString();

export const pageUrl = (port: number, token: string, go: string): string =>
  `http://127.0.0.1:${port}/#${fragment(token, go)}`;

/** The files that browsers are about to read; each is deleted when its browser is here, or does not come. */
export class Openings {
  readonly #folder: string;
  readonly #ids = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Gives the path of the file. */
  add(port: number, token: string, go: string): string {
    const id = randomBytes(12).toString('hex');
    const path = join(this.#folder, openingName(id));
    const url = `http://127.0.0.1:${port}/open/${id}#${fragment(token, go)}`.replaceAll('&', '&amp;');
    const page = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${url}">
<title>steno</title>
<p><a href="${url}">Go to the page</a></p>
`;
    writeFileSync(path, page, { mode: 0o600, flag: 'wx' });
    this.#ids.add(id);
    setTimeout(() => this.remove(id), OPENING_MS).unref();
    return path;
  }

  remove(id: string): void {
    if (this.#ids.delete(id)) rmSync(join(this.#folder, openingName(id)), { force: true });
  }

  removeAll(): void {
    for (const id of this.#ids) this.remove(id);
  }
}

const openingName = (id: string): string => `ui-open-${id}.html`;

/** Whether a path is one that a running `steno ui` makes in this folder: another answer must not be opened. */
export const isOpening = (folder: string, path: string): boolean =>
  path.startsWith(join(folder, 'ui-open-')) && /ui-open-[0-9a-f]{24}\.html$/.test(path.slice(folder.length));
