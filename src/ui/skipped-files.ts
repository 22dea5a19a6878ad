import type { Output } from './output.ts';

/** Says which files stand where a transcript would have gone: they were not written now. */
export async function warnSkippedFiles(
  out: Output,
  saved: ReadonlyArray<{ readonly path: string; readonly skipped?: boolean }> = [],
): Promise<void> {
  const left = saved.filter(({ skipped }) => skipped).map(({ path }) => path);
  if (left.length) await out.warn(`there already, and left as it is: ${left.join(', ')}`);
}
