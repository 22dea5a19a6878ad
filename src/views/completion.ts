/** What was written to install completions, or removed. */
import { toJson } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';

interface Shown {
  readonly shell: string;
  readonly change: string;
  readonly part: string;
  readonly path: string;
}

const fields = ['shell', 'change', 'part', 'path'] as const;

const shownColumns: readonly Column[] = fields.map((name) => ({ name, uncut: true }));

export const changesView = (changes: readonly Shown[]): View => ({
  json: toJson(changes.map(({ shell, change, part, path }) => ({ shell, change, part, path }))),
  columns: shownColumns,
  rows: changes.map((each) => fields.map((name) => each[name])),
  quiet: changes.filter(({ change }) => change !== 'unchanged').map(({ path }) => path),
});
