/** The note by which `steno open` finds a `steno ui` that runs, and what it asks there. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOfThisMachine, isSameProcess, type ProcessMark, thisProcess } from '../lib/processes.ts';
import { disk, writeFileAtomic } from '../lib/whole-file.ts';
import { cookieOf } from './door.ts';

/** A `steno ui` that runs. */
export interface RunningPages extends ProcessMark {
  readonly port: number;
  readonly session: string;
  /** Whose pages they are: a mark of the profile and the ledger. */
  readonly account: string;
}

const noteName = /^ui-\d+\.json$/;
const openingName = /^ui-open-[0-9a-f]{24}\.html$/;
const LIMIT_MS = 3_000;

/** Readable by its owner alone, and gone when the pages are. Gives what removes it. */
export async function noteRunning(
  folder: string,
  pages: Pick<RunningPages, 'port' | 'session' | 'account'>,
): Promise<() => void> {
  const path = join(folder, `ui-${process.pid}.json`);
  const note = Buffer.from(JSON.stringify({ ...thisProcess(), ...pages }));
  await writeFileAtomic(path, (write) => write(note), {
    mode: 0o600,
    name: (draft) => disk.rename(draft, path),
  });
  return () => rmSync(path, { force: true });
}

/** Those of an account that run on this machine, the latest first. What others left behind is removed. */
export function findRunning(folder: string, account: string): RunningPages[] {
  const names = readdirSync(folder);
  const notes = names.filter((name) => noteName.test(name)).map((name) => join(folder, name));
  const running = notes.flatMap((path) => {
    const note = readNote(path);
    if (note && isOfThisMachine(note) && !isSameProcess(note)) rmSync(path, { force: true });
    else if (note) return [note];
    return [];
  });
  const ports = new Set(running.map(({ port }) => String(port)));
  for (const path of names.filter((name) => openingName.test(name)).map((name) => join(folder, name))) {
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
    const isOurs = typeof url === 'string' && /^http:\/\/127\.0\.0\.1:(\d+)\/open\/[\w-]{43}$/.exec(url);
    return isOurs && isOurs[1] === String(port) ? isOurs[0] : undefined;
  } catch {
    return undefined;
  }
}
