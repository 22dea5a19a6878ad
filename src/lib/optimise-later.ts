import { setFlag } from './v8-flags.ts';

/** Of V8 on Node 20. */
const USUAL = '--interrupt-budget=67584';
const FOUR_TIMES = '--interrupt-budget=270336';
/** At 2,000 it saves a sixth of the processor time, at 10,000 nothing. */
const MAX_ITEMS = 4000;

let items = 0;

/**
 * Speed: on Node 20, V8 optimises a function early, in threads that take the processor from us and from a service on the
 * same machine. A few thousand calls of the service do not win that back, so it waits four times as long, unless
 * there is more to do. From Node 22 on it counts calls, and waits long enough. To take it out, delete this file.
 */
export function optimiseLater(count: number): void {
  if (!process.versions.node.startsWith('20.')) return;
  items += count;
  if (items <= MAX_ITEMS) setFlag(FOUR_TIMES, USUAL);
  else process.getBuiltinModule('node:v8').setFlagsFromString(USUAL);
}
