/** The note by which `steno open` finds a `steno ui` that runs, and what it asks there. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOfThisMachine, isSameProcess, type ProcessMark, thisProcess } from '../lib/processes.ts';
import { disk, writeFileAtomic } from '../lib/whole-file.ts';
import { isOpening } from './opening.ts';

/** A `steno ui` that runs. */
export interface RunningPages extends ProcessMark {
  readonly port: number;
  readonly token: string;
  /** Whose pages they are: a mark of the profile and the ledger. */
  readonly account: string;
}

const noteName = /^ui-\d+\.json$/;
const LIMIT_MS = 3_000;

/** Readable by its owner alone, and gone when the pages are. Gives what removes it. */
export async function noteRunning(
  folder: string,
  pages: Pick<RunningPages, 'port' | 'token' | 'account'>,
): Promise<() => void> {
  const path = join(folder, `ui-${process.pid}.json`);
  const note = Buffer.from(JSON.stringify({ ...thisProcess(), ...pages }));
  await writeFileAtomic(path, (write) => write(note), {
    mode: 0o600,
    name: (draft) => disk.rename(draft, path),
  });
  return () => rmSync(path, { force: true });
}

/** Those of an account that run on this machine, the latest first. Notes that were left behind are removed. */
export function findRunning(folder: string, account: string): RunningPages[] {
  const names = readdirSync(folder).filter((name) => noteName.test(name));
  const running = names.flatMap((name) => {
    const note = readNote(join(folder, name));
    if (!note) return [];
    if (isSameProcess(note)) return [note];
    rmSync(join(folder, name), { force: true });
    return [];
  });
  return running.filter((each) => each.account === account).reverse();
}

/** Undefined for what is no such note. */
function readNote(path: string): RunningPages | undefined {
  try {
    const note = JSON.parse(readFileSync(path, 'utf8')) as RunningPages;
    const areNumbers = [note.pid, note.port].every((each) => Number.isInteger(each) && each > 0);
    return areNumbers && isOfThisMachine(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

/** The file that leads a browser to a page there; undefined where nothing of ours answers. */
export async function askForOpening(
  folder: string,
  { port, token }: RunningPages,
  go: string,
): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/opening`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ go }),
      redirect: 'error',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const { path } = (await answer.json()) as { readonly path?: unknown };
    return typeof path === 'string' && isOpening(folder, path) ? path : undefined;
  } catch {
    return undefined;
  }
}
