/** Version 0.1.0 kept compiled code in the state folder, where others may be able to write: it is removed. */
import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../settings/paths.ts';

/** steno.js-balance-0123456789abcdef-v20.18.1-x64, or the same with a process id while it was written. */
const cacheName = /^[a-z-]+\.js-[a-z]*-[0-9a-f]{16}-v\d+\.\d+\.\d+[\w.-]*-\w+(\.\d+)?$/;

/** Removes only what has such a name: a state folder may be any folder, and `code` in it the user's own. */
export function removeFormerCache(): void {
  try {
    const folder = join(stateFolder(process.env), 'code');
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    const names = readdirSync(folder);
    const caches = names.filter((name) => cacheName.test(name));
    for (const name of caches) rmSync(join(folder, name), { force: true });
    if (caches.length && caches.length === names.length) rmdirSync(folder);
  } catch {
    // It is not ours to change; it is never read.
  }
}
