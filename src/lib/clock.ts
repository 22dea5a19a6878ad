let source: (() => number) | undefined;

/** The time of day in milliseconds, for timestamps: with --sandbox that of the sandbox, whose clock can be moved. */
export const nowMs = (): number => (source ? source() : Date.now());

/** From now on this tells the time of day; nothing: the machine's clock does. */
export function setClock(clock: (() => number) | undefined): void {
  source = clock;
}

/** Whether the time of day is another than the machine's. */
export const hasOwnClock = (): boolean => source !== undefined;

/** Milliseconds on a clock that can't be set back: for time limits, never for timestamps. */
export function monotonicMs(): number {
  // Not performance.now: its first use takes up to 6 ms on Node 20, which is a tenth of a short command.
  // Not destructured: that makes an iterator at each of thousands of calls.
  const now = process.hrtime();
  return now[0] * 1e3 + now[1] / 1e6;
}
