/** Flags of V8, for this run only: they are put back at its end, because code is kept for the next one under them. */
import { setFlagsFromString } from 'node:v8';

export function setFlag(flag: string, back: string): void {
  setFlagsFromString(flag);
  process.prependOnceListener('exit', () => setFlagsFromString(back));
}
