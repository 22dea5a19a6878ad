/**
 * Sets flags of V8 until the exit: the code cache, saved there, is accepted only under the flags of a start. Speed:
 * node:v8 is loaded on first use, because that takes 2 ms and `files` needs none.
 */

const set = new Set<string>();

/** Once is enough: Node warns of more than ten listeners. */
export function setFlag(flag: string, undo: string): void {
  if (set.has(flag)) return;
  set.add(flag);
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString(flag);
  process.prependOnceListener('exit', () => setFlagsFromString(undo));
}
