/** What runs: Node and steno. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, fail, ok, warn } from './check.ts';

const OLDEST_NODE = 20;
const NEWEST_NODE = 26;

/** Even numbers are those that get long support, and that steno is tested on. */
export function checkNode(version = process.versions.node): Finding {
  const major = Number(version.split('.')[0]);
  const name = `Node ${version} on ${process.platform}-${process.arch}`;
  const hint = `install Node 20, 22, 24 or 26`;
  if (major < OLDEST_NODE) return fail(`${name} is too old for steno`, hint);
  if (major > NEWEST_NODE) return warn(`${name} is newer than those that steno is tested on`, hint);
  return major % 2 === 0 ? ok(name) : warn(`${name} is not one of those that steno is tested on`, hint);
}

export function checkProgram(version: string, folder: string): Finding {
  const built = statSync(join(folder, 'steno.js'), { throwIfNoEntry: false })
    ?.mtime.toISOString()
    .slice(0, 10);
  return ok(`steno ${version}${built ? `, built ${built}` : ''}, in ${folder}`);
}
