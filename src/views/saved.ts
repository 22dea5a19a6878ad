import type { Saved } from '../flows/transcripts/save.ts';
import type { Json } from '../lib/json.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { savedRecord, shownDownload } from './download-record.ts';

export const savedJson = (saved: Saved): Json => savedRecord.json(shownDownload(saved));

/** Says which files were written; nothing if none was. */
export function savedLine(saved: readonly Saved[]): string[] {
  const paths = saved.flatMap(({ path, skipped }) => (skipped ? [] : [path]));
  return paths.length ? [`${plural(paths.length, 'transcript')} saved: ${paths.join(', ')}`] : [];
}

/** Those that were not there already. */
export const writtenPaths = (saved: readonly Saved[]): string[] =>
  saved.flatMap(({ path, skipped }) => (skipped ? [] : [path]));

/** The files that were written, or were there already. */
export function savedView(
  saved: readonly Saved[],
  { forPeople, json = () => saved.map(savedJson) }: { forPeople: boolean; json?: () => Json },
): View {
  const all = savedRecord.view(saved.map(shownDownload), ({ path }) => path);
  const shown = forPeople ? savedRecord.some(all, ['audiofile', 'format', 'bytes', 'path']) : all;
  return {
    // Made only if asked for: there may be thousands of files.
    get json() {
      return json();
    },
    columns: shown.columns,
    get rows() {
      return shown.rows;
    },
    quiet: writtenPaths(saved),
  };
}
