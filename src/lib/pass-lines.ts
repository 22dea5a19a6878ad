/** Hands on what a command prints for people, in whole lines: in half a line a mask might find half a key. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** What one run may print; the rest is read and dropped, with a pause after each piece: `yes` would fill a processor. */
const MAX_BYTES = 1024 * 1024;
const DROP_PAUSE_MS = 1;
const MAX_LINE_LENGTH = 65_536;

/** Returns what hands on a last line that has no end. */
export function passLines(source: Readable, onLines: (lines: string) => void): () => void {
  const decoder = new StringDecoder('utf8');
  const unbroken = lineBreaks();
  let [waiting, left, isTooLong] = ['', MAX_BYTES, false];
  const add = (text: string): void => {
    const start = isTooLong ? text.indexOf('\n') + 1 : 0;
    if (isTooLong && start === 0) return;
    isTooLong = false;
    waiting += text.slice(start);
    const end = waiting.lastIndexOf('\n') + 1;
    if (end) onLines(waiting.slice(0, end));
    waiting = waiting.slice(end);
    if (waiting.length <= MAX_LINE_LENGTH) return;
    [waiting, isTooLong] = ['', true];
    onLines('steno: a line of more than 64 KiB is not shown\n');
  };
  source.on('data', (chunk: Buffer) => {
    if (left <= 0) {
      source.pause();
      setTimeout(() => source.resume(), DROP_PAUSE_MS);
      return;
    }
    add(unbroken(decoder.write(chunk.subarray(0, left))));
    left -= chunk.length;
    if (left > 0) return;
    waiting = '';
    onLines('steno: the command printed more than 1 MiB; the rest is not shown\n');
  });
  return () => {
    const last = left > 0 && !isTooLong ? waiting + decoder.end() : '';
    waiting = '';
    if (last) onLines(`${last}\n`);
  };
}

/** Each line ends with \n alone. A progress bar writes over its line with a \r, and Windows ends one with \r\n. */
function lineBreaks(): (text: string) => string {
  let isHeld = false;
  return (text) => {
    const whole = isHeld ? `\r${text}` : text;
    // The \n after it may come next.
    isHeld = whole.endsWith('\r');
    return (isHeld ? whole.slice(0, -1) : whole).replace(/\r\n?/g, '\n');
  };
}
