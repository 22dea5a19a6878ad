/** Sets flags of V8 until the exit: the code cache, saved there, is accepted only under the flags of a start. */
import { setFlagsFromString } from 'node:v8';

export function setFlag(flag: string, undo: string): void {
  setFlagsFromString(flag);
  process.prependOnceListener('exit', () => setFlagsFromString(undo));
}
