/** Ctrl-C in work on many things: what was done, and the line to go on with. */
import { StenoError } from './errors.ts';

export interface Summary {
  /** As it stands after `interrupted: `. */
  readonly done: string;
  readonly hint: string;
}

/** Runs the work; where the user interrupts it, the error says how far it came. Money that is unclear comes first. */
export async function untilInterrupted<T>(
  signal: AbortSignal,
  summary: () => Summary,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isUnclear = error instanceof StenoError && error.kind === 'uncertain';
    if (!signal.aborted || isUnclear) throw error;
    const { done, hint } = summary();
    throw new StenoError('interrupted', `interrupted: ${done}`, { hint, cause: error });
  }
}
