/** Programs that a setting names. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Env } from './env.ts';

/** The words of a command: `less -R`, `"/opt/my pager" -x`. There is no shell, so nothing else has a meaning. */
export function splitCommand(line: string): string[] {
  const words = line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g);
  return [...words].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, one, other) => one ?? other));
}

/** The path of a program that can be run; undefined where there is none. */
export function findProgram(name: string, env: Env): string | undefined {
  const { PATH, Path } = env;
  const endings = process.platform === 'win32' ? ['.exe', ''] : [''];
  const folders = /[/\\]/.test(name) ? [''] : (PATH ?? Path ?? '').split(delimiter).filter(Boolean);
  return folders
    .flatMap((folder) => endings.map((ending) => (folder ? join(folder, name) : name) + ending))
    .find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
