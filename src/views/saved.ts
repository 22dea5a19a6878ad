import type { Saved } from '../flows/download.ts';
import { toJson } from '../json.ts';
import type { View } from '../ui/view.ts';

/** The files that were written, or were there already. */
export const savedView = (saved: readonly Saved[]): View => ({
  json: toJson(
    saved.map(({ id, ext, path, bytes, skipped }) => ({ audiofile: id, format: ext, path, bytes, skipped })),
  ),
  columns: [
    { name: 'audiofile', kind: 'id' },
    { name: 'format' },
    { name: 'bytes', kind: 'amount' },
    { name: 'path', kind: 'link' },
  ],
  rows: saved.map(({ id, ext, path, bytes }) => [id, ext, String(bytes), path]),
  quiet: saved.map(({ path }) => path),
});
