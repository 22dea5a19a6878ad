import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFileEnd } from './test-end.ts';

const folders: string[] = [];

/** An empty folder that is removed after the last test of the file. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'));
  folders.push(folder);
  return folder;
}

onFileEnd(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** What lies in a folder, hidden names included; empty if there is none. */
export const listing = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).sort() : []);

/** The permissions of a file or folder, as `600`. */
export const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
