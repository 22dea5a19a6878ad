/** Ctrl-C in work on many things: what was done, and the line to go on with. */
import { StenoError } from './errors.ts';
import { passwordOf } from './postgres-url.ts';
import { cutSignatures } from './signatures.ts';
import { oneLine, shellWord } from './text.ts';
import { maskUserinfo } from './url.ts';

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

// The command line with which interrupted work goes on, to be copied into a shell: never with a secret in it.

/** A longer line would be cut where it is shown, and a cut one does something else. */
const MAX_LENGTH = 450;

/** `resume with: steno sync --download t`; `flag` is added where it is not there yet. */
export function goOnHint(what: string, line: readonly string[], flag?: string): string {
  const words = goOnWords(line, flag);
  const text = shellLine(words);
  if (text === undefined) return `${what}: the same command${flag === undefined ? '' : `, with ${flag}`}`;
  const readsInput = words.some((word) => word === '-' || word.endsWith('=-'));
  return `${what}${readsInput ? ' the same input' : ''}: ${text}`;
}

/** The line as a shell takes it; nothing where it can't be shown as it is. */
export function shellLine(words: readonly string[]): string | undefined {
  const text = `steno ${words.map(shellWord).join(' ')}`;
  const isWhole = text.length <= MAX_LENGTH && oneLine(text) === text;
  return isWhole && !words.some(hasSecret) ? text : undefined;
}

function goOnWords(line: readonly string[], flag: string | undefined): string[] {
  const end = line.includes('--') ? line.indexOf('--') : line.length;
  const before = line.slice(0, end);
  const isKey = (word: string, at: number): boolean =>
    word === '--api-key' || word.startsWith('--api-key=') || before[at - 1] === '--api-key';
  const kept = before.filter((word, at) => !isKey(word, at));
  const added = flag === undefined || kept.includes(flag) ? [] : [flag];
  return [...kept, ...added, ...line.slice(end)];
}

/** A signature, a password, or a token in place of a user name. The name alone in the URL of a database is none. */
function hasSecret(word: string): boolean {
  const value = word.replace(/^--[\w-]+=/, '');
  if (/^postgres(ql)?:\/\//i.test(value)) return (passwordOf(value) ?? '') !== '';
  return cutSignatures(value) !== value || maskUserinfo(value) !== value;
}

/**
 * Ctrl-Z: the shell gets a clean line, and only then is the process stopped; `draw` is called when it goes on. Gives what
 * ends this.
 */
export function onSuspend(clear: () => void, draw: () => void): () => void {
  const onStop = (): void => {
    clear();
    process.off('SIGTSTP', onStop);
    process.once('SIGCONT', onContinue);
    process.kill(process.pid, 'SIGTSTP');
  };
  const onContinue = (): void => {
    process.on('SIGTSTP', onStop);
    draw();
  };
  process.on('SIGTSTP', onStop);
  return () => {
    process.off('SIGTSTP', onStop);
    process.off('SIGCONT', onContinue);
  };
}
