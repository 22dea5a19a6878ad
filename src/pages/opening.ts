/** Opens the browser by a file that leads to the page, so that no list of processes shows the token. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../lib/env.ts';
import { childEnv, findProgram } from '../lib/processes.ts';

/** A browser that has not come by then does not come any more. */
const OPENING_MS = 60_000;
/** A program that opens a browser fails within this time, or not at all. */
const START_MS = 1_500;

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

/** Programs that show a file in the user's browser: the first that is there is used. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32 url.dll,FileProtocolHandler'],
};
const otherOpeners = ['xdg-open', 'wslview', 'sensible-browser', 'x-www-browser'];

/** Whether a browser was started, as far as can be told. */
export async function openBrowser(path: string, env: Env): Promise<boolean> {
  const lines = (openers[process.platform] ?? otherOpeners).map((line) => line.split(' '));
  const [name, ...args] = lines.find(([program = '']) => findProgram(program, env)) ?? [];
  const program = name && findProgram(name, env);
  if (!program) return false;
  const child = spawn(program, [...args, path], { env: childEnv(env), stdio: 'ignore', detached: true });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), START_MS);
    const end = (isOpened: boolean): void => {
      clearTimeout(timer);
      resolve(isOpened);
    };
    child.once('error', () => end(false)).once('exit', (code) => end(code === 0));
  });
}
