import type { Saved } from '../flows/transcripts/save.ts';
import { type Json, toJson } from '../lib/json.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';

export const savedJson = ({ id, ext, path, bytes, skipped }: Saved): Json =>
  toJson({ audiofile: id, format: ext, path, bytes, skipped });

/** Says which files were written; nothing if none was. */
export function savedLine(saved: readonly Saved[]): string[] {
  const paths = saved.flatMap(({ path, skipped }) => (skipped ? [] : [path]));
  return paths.length ? [`${plural(paths.length, 'transcript')} saved: ${paths.join(', ')}`] : [];
}

/** The files that were written, or were there already. */
export const savedView = (saved: readonly Saved[], json: () => Json = () => saved.map(savedJson)): View => ({
  // Made only if asked for: there may be thousands of files.
  get json() {
    return json();
  },
  columns: [
    { name: 'audiofile', kind: 'id' },
    { name: 'format', importance: 60, uncut: true },
    { name: 'bytes', header: 'size', kind: 'bytes', importance: 50 },
    { name: 'path', kind: 'link', importance: 90 },
  ],
  rows: saved.map(({ id, ext, path, bytes }) => [id, ext, String(bytes), path]),
  quiet: saved.flatMap(({ path, skipped }) => (skipped ? [] : [path])),
});
