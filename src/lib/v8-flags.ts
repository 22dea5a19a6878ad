/** Sets flags of V8 until the exit: the code cache, saved there, is accepted only under the flags of a start. */
import { setFlagsFromString } from 'node:v8';

const set = new Set<string>();

/** Once is enough: Node warns of more than ten listeners. */
export function setFlag(flag: string, undo: string): void {
  if (set.has(flag)) return;
  set.add(flag);
  setFlagsFromString(flag);
  process.prependOnceListener('exit', () => setFlagsFromString(undo));
}
