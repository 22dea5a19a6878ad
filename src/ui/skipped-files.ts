import type { Output } from './output.ts';

/** Warns of files that existed already and were not written. */
export async function warnSkippedFiles(
  out: Output,
  saved: ReadonlyArray<{ readonly path: string; readonly skipped?: boolean }> = [],
): Promise<void> {
  const skipped = saved.filter((file) => file.skipped).map(({ path }) => path);
  if (skipped.length) await out.warn(`already there, not written: ${skipped.join(', ')}`);
}
