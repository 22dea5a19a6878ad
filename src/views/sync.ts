import type { Change } from '../flows/files/sync.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';

export interface Synced {
  readonly checked: number;
  readonly changed: readonly Change[];
  readonly downloaded: readonly Saved[];
}

/** What is new: changes of state, and the transcripts that were downloaded. */
export const syncView = ({ checked, changed, downloaded }: Synced): View => ({
  json: toJson({
    checked,
    changed: changed.map(({ id, previousState, state }) => ({
      audiofile: id,
      was: previousState || null,
      state,
    })),
    downloaded: downloaded.map(({ id, ext, path, bytes }) => ({ audiofile: id, format: ext, path, bytes })),
  }),
  columns: [
    { name: 'audiofile', kind: 'id' },
    { name: 'what' },
    { name: 'was' },
    { name: 'now', kind: 'state' },
  ],
  rows: [
    ...changed.map(({ id, previousState, state }) => [id, 'state', previousState, state]),
    ...downloaded.map(({ id, ext, path }) => [id, 'transcript', ext, path]),
  ],
  quiet: downloaded.map(({ path }) => path),
});
