/** Reads a command line. */
import { loaders } from './command-loaders.ts';
import { type Help, NoSubcommand, type Printed, type Run, readLine, WrongLine } from './program.ts';

export async function parse(argv: readonly string[]): Promise<Run | Printed | Help> {
  if (argv.some((word) => pastedWord.test(word))) (await import('./pasted-line.ts')).checkPasted(argv);
  return (await parseQuickly(argv)) ?? (await import('./whole-line.ts')).parseWholly(argv);
}

/** A flag with another dash or with one, or a comma with a blank beside it. */
const pastedWord = /^-?[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]|^-[a-z][a-z-]+|^,.|.,$/i;

/**
 * Speed: only the commands that the line names are loaded and built, which saves a tenth of the processor time of `steno
 * balance` and `steno files`. If that leads to no command, parseWholly decides. To take it out, call that alone.
 */
async function parseQuickly(argv: readonly string[]): Promise<Run | undefined> {
  const named = new Set(argv.flatMap((word) => loaders.get(word) ?? []));
  const specs = await Promise.all([...named].map((load) => load()));
  try {
    return readLine(argv, specs).run;
  } catch (error) {
    if (error instanceof WrongLine || error instanceof NoSubcommand) return undefined;
    throw error;
  }
}
