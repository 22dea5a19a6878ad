/** The note by which `steno open` finds a `steno ui` that runs, and what it asks there. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOfThisMachine, isSameProcess, type ProcessMark, thisProcess } from '../lib/processes.ts';
import { cookieOf } from './door.ts';

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
