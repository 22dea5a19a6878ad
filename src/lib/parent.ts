/** For what ends with the terminal that started it, also where that can't say so. */
import { isRunning } from './processes.ts';
import { sleep } from './time.ts';

const CHECK_MS = 1_000;

/** Resolves when this parent process has ended, never where there is none; throws at an interruption. */
export async function whenParentEnds(parent: number, signal: AbortSignal): Promise<void> {
  // The first process of a machine or a container is nobody's terminal.
  if (parent <= 1) return new Promise(() => {});
  // A process that is left behind gets another parent; on Windows it keeps the number.
  while (process.ppid === parent && isRunning(parent)) await sleep(CHECK_MS, signal);
}
