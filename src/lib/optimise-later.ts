import { setFlag } from './v8-flags.ts';

/** Of V8 on Node 20. */
const USUAL_BUDGET = 67_584;

/**
 * Speed: on Node 20, V8 optimises a function early, in threads that take the processor from us and from a service on the
 * same machine. Some thousand calls do not win that back: 2,000 transcripts take 0.7 of the processor time if it waits 16
 * times as long. From Node 22 on it counts calls, and waits long enough. To take it out, delete this file.
 */
export function optimiseLater(): void {
  if (!process.versions.node.startsWith('20.')) return;
  setFlag(`--interrupt-budget=${16 * USUAL_BUDGET}`, `--interrupt-budget=${USUAL_BUDGET}`);
}
