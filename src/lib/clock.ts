/** Milliseconds on a clock that can't be set back: for time limits, never for timestamps. */
export function monotonicMs(): number {
  // Not performance.now: its first use takes up to 6 ms on Node 20, which is a tenth of a short command.
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
