import type { AudioFile } from '../api/files.ts';
import { cutSignatures, withoutSignature } from '../lib/audio-identity.ts';
import type { Json } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';
import { alignAmounts } from './amounts.ts';

const columns: readonly Column[] = [
  { name: 'id', kind: 'id' },
  { name: 'state', kind: 'state' },
  { name: 'title', importance: 90 },
  { name: 'minutes', header: 'length', kind: 'minutes', importance: 50 },
  { name: 'total', kind: 'amount', importance: 60 },
  { name: 'stars', kind: 'amount', importance: 30 },
  { name: 'orders', importance: 40 },
  { name: 'invoices' },
  { name: 'names' },
  { name: 'notes' },
  { name: 'description' },
  { name: 'link', kind: 'link' },
];

/** On a terminal a single file is a page, several are a table of what matters most. */
export function filesView(
  files: readonly AudioFile[],
  json: Json,
  { forPeople, currency }: { forPeople: boolean; currency?: string | undefined } = { forPeople: false },
): View {
  const totals = files.map((file) => file.total);
  const shownTotals = forPeople ? alignAmounts(totals, currency) : totals;
  const rows = files.map((file, at) => [
    file.id,
    file.state,
    cutSignatures(file.title),
    file.duration,
    shownTotals[at] ?? '',
    file.qualityStars,
    file.orders.join(','),
    file.invoices.join(','),
    cutSignatures(file.names),
    cutSignatures(file.notes),
    cutSignatures(file.description),
    withoutSignature(file.originalLink),
  ]);
  const quiet = files.map((file) => file.state);
  if (!forPeople) return { json, columns, rows, quiet };
  if (files.length === 1) return { json, columns, rows, quiet, asRecord: true };
  return { json, columns: columns.slice(0, 7), rows: rows.map((row) => row.slice(0, 7)), quiet };
}
