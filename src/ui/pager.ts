/** A pager for lists that are longer than the terminal: what the person reads them with, as git and gh have it. */
import { StenoError } from '../lib/errors.ts';
import { findProgram, splitCommand } from '../lib/programs.ts';
import type { Output } from './output.ts';
import type { Pager, Person } from './pager-process.ts';

/** The program to page with and its arguments; undefined where there is none, or no person at a terminal. */
export function findPager({ out, env }: Pick<Person, 'out' | 'env'>): readonly string[] | undefined {
  if (!out.forPeople || !out.mode.pager || env.TERM === 'dumb' || !isOnTerminal(0)) return undefined;
  const [name, ...args] = splitCommand(env.STENO_PAGER ?? env.PAGER ?? 'less');
  // `cat` is how people say that they want none.
  if (name === undefined || name === 'cat') return undefined;
  const file = findProgram(name, env);
  return file === undefined ? undefined : [file, ...args];
}

/** Speed: node:tty is loaded only where a person may be reading. */
const isOnTerminal = (descriptor: number): boolean => process.getBuiltinModule('node:tty').isatty(descriptor);

/** Runs work that prints; what is longer than the terminal is read in the pager, if there is one. */
export async function withPager<T>(
  person: Person,
  work: () => Promise<T>,
  program = findPager(person),
): Promise<T> {
  if (!program) return work();
  const { out, signal } = person;
  // Loaded here, because what starts programs takes some milliseconds.
  const started = await import('./pager-process.ts');
  const pager = new started.Pager(program, person);
  out.divert(pager);
  const result = await work().catch(async (error: unknown) => {
    await close(out, pager);
    throw error;
  });
  await close(out, pager);
  if (pager.wasOpen && signal.aborted) throw new StenoError('interrupted', 'interrupted');
  return result;
}

/** Waits until the person has quit the pager; what was said meanwhile comes after it. */
async function close(out: Output, pager: Pager): Promise<void> {
  await pager.end();
  out.divert(undefined);
}
