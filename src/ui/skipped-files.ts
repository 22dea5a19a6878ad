import type { Output } from './output.ts';

interface MaybeSkipped {
  readonly id: string;
  readonly path: string;
  readonly skipped?: boolean;
  /** With `skipped`: it is not known to be this transcript. */
  readonly unidentified?: boolean;
  /** With `skipped`: we wrote it while the file was not known to be delivered. */
  readonly isDraft?: boolean;
}

/** More would fill the screen. */
const MAX_LISTED = 10;

const listed = (files: readonly MaybeSkipped[], name: (file: MaybeSkipped) => string): string => {
  const more = files.length > MAX_LISTED ? `, and ${files.length - MAX_LISTED} more` : '';
  return files.slice(0, MAX_LISTED).map(name).join(', ') + more;
};

/** Warns of files that existed already and were not written. */
export async function warnSkippedFiles(
  out: Output,
  saved: readonly MaybeSkipped[] = [],
  hint?: string,
): Promise<void> {
  const skipped = saved.filter((file) => file.skipped);
  if (skipped.length)
    await out.warn(`already there, not written: ${listed(skipped, ({ path }) => path)}`, hint);
}

/** Warns of files that existed already and whose name does not tell which transcript they are. */
export async function warnUnidentified(out: Output, saved: readonly MaybeSkipped[]): Promise<void> {
  const unknown = saved.filter(({ unidentified, isDraft }) => unidentified && !isDraft);
  if (unknown.length === 0) return;
  const files = listed(unknown, ({ path, id }) => `${path} for ${id}`);
  await out.warn(
    `already there, and not known to be the transcript that was asked for: ${files}`,
    'replace it with --force, or put {id} into --name-as',
  );
}

/** Warns of files that existed already and were written before the transcript was known to be final. */
export async function warnDrafts(out: Output, saved: readonly MaybeSkipped[]): Promise<void> {
  const drafts = saved.filter(({ isDraft }) => isDraft);
  if (drafts.length === 0) return;
  const files = listed(drafts, ({ path }) => path);
  await out.warn(
    `already there, and written before the transcript was known to be delivered: ${files}`,
    'fetch it again with --force; steno sync does so when it is delivered',
  );
}
