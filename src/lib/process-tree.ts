/** A process and all that it has started, for a child that can't have a process group of its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** The ids of a process and of its descendants; only its own where the system does not tell. */
export function processTree(root: number): number[] {
  const tree = [root];
  const parents = parentIds();
  // Children are added while the loop runs, and their children are looked for then.
  for (const parent of tree) for (const [pid, of] of parents) if (of === parent) tree.push(pid);
  return tree;
}

/** Sends a signal to each process that still runs; on Windows, where there are none, it ends the tree of the first. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pids[0]), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}

/** The parent of each process. */
function parentIds(): Map<number, number> {
  try {
    if (process.platform === 'linux') return new Map(readdirSync('/proc').flatMap(parentOf));
    if (process.platform === 'win32') return new Map();
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    return new Map(rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]));
  } catch {
    return new Map();
  }
}

/** Read by hand: a small container has no ps. */
function parentOf(name: string): Array<[number, number]> {
  if (!/^\d+$/.test(name)) return [];
  try {
    // "12 (a name) S 10 …": the name may hold brackets itself.
    const after = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\) /s, '');
    return [[Number(name), Number(after.split(' ')[1])]];
  } catch {
    return [];
  }
}
