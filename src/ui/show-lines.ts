import type { Line } from '../lib/line.ts';
import type { Output } from './output.ts';

/** Shows lines for a person on stdout, cut to fit the terminal. */
export async function showLines(out: Output, lines: readonly Line[]): Promise<void> {
  const { drawLines } = await import('./line.ts');
  out.write(drawLines(lines, await out.drawing('stdout')));
}

/** The same on stderr, beside what is shown. */
export async function noteLines(out: Output, lines: readonly Line[]): Promise<void> {
  const { drawLines } = await import('./line.ts');
  out.ask(drawLines(lines, await out.drawing('stderr')));
}

/** Loads what messages need: a program that has no descriptor left could not load it to say so. */
export async function loadDrawing(out: Output): Promise<void> {
  await Promise.all([out.drawing('stderr'), import('./line.ts'), import('./drawing.ts')]);
}
