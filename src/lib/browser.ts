import { spawn } from 'node:child_process';
import type { Env } from './env.ts';
import { childEnv, findProgram } from './processes.ts';

/** A program that opens a browser fails within this time, or not at all. */
const START_MS = 1_500;

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
