/** Draws results for people. Loaded on first use, with what measures text. */
import { nowMs } from '../lib/clock.ts';
import type { View } from '../lib/view.ts';
import type { Drawing } from './paint.ts';
import { drawPairs, drawRecords } from './records.ts';
import { drawTable } from './table.ts';

export function drawView(view: View, { width, paint, hide }: Drawing): string {
  // Masked before it is cut, or the beginning of a key would stay.
  const shown = { columns: view.columns, rows: view.rows.map((row) => row.map(hide)) };
  if (view.asRecord) return drawRecords(shown, width, paint, nowMs());
  return (view.asPairs ? drawPairs : drawTable)(shown, width, paint, nowMs());
}
