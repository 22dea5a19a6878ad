/** What was written to install completions, or removed. */
import type { View } from '../lib/view.ts';
import { type Field, RecordType, textField } from './record.ts';
import { oneOf, text } from './schema.ts';

interface Shown {
  readonly shell: string;
  readonly change: string;
  readonly part: string;
  readonly path: string;
}

const field = (name: keyof Shown, help: string, more: Partial<Field<Shown>> = {}): Field<Shown> =>
  textField(name, help, (change) => change[name], { schema: text, uncut: true, ...more });

export const changeRecord = new RecordType<Shown>([
  field('shell', 'bash, zsh, fish or powershell', { importance: 40 }),
  field('change', 'new, changed, removed or unchanged', {
    schema: oneOf('new', 'changed', 'removed', 'unchanged'),
    importance: 80,
  }),
  field('part', 'script, or block: lines in a start-up file', {
    schema: oneOf('script', 'block'),
    importance: 50,
  }),
  field('path', 'the file', { importance: 90 }),
]);

export function changesView(changes: readonly Shown[]): View {
  const written = changes.filter(({ change }) => change !== 'unchanged');
  const view = changeRecord.view(changes, ({ path }) => path);
  return { columns: view.columns, json: view.json, rows: view.rows, quiet: written.map(({ path }) => path) };
}
