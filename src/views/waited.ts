/** What waiting for files came to. */
import type { AudioFile } from '../api/files.ts';
import type { ShownFile } from '../flows/files/shown.ts';
import type { WaitResult } from '../flows/files/wait.ts';
import type { View } from '../lib/view.ts';
import { filesTable } from './file.ts';
import { fileRecord } from './file-record.ts';
import { savedView, writtenPaths } from './saved.ts';

/**
 * For programs: a document or a row for each file. With --quiet: the files that were written, or the ids. `several`: the
 * JSON is an array, because several files were asked for, or the command line does not say how many.
 */
export function waitedView(
  files: readonly ShownFile[],
  { outcomes, saved }: WaitResult,
  several: boolean,
): View {
  // Of a file that failed before the service said anything, there is no row.
  const withState = files.filter(({ row, error }) => !error || row.state);
  const { columns, rows } = fileRecord.view(withState, ({ row }) => row.id);
  const documents = files.map((file) => fileRecord.json(file));
  const delivered = outcomes.flatMap(({ what, file, error }) => (file && !error ? [what] : []));
  return {
    json: several ? documents : (documents[0] ?? null),
    columns,
    rows,
    quiet: saved ? writtenPaths(saved) : delivered,
  };
}

/** For people: the transcripts if they were downloaded, otherwise the files. */
export function waitedTable(
  { outcomes, saved }: WaitResult,
  currency: string,
  held: readonly AudioFile[] = [],
): View {
  if (saved) return savedView(saved, { forPeople: true });
  const files = outcomes.flatMap(({ file }) => file ?? []);
  return filesTable([...files, ...held], currency);
}
