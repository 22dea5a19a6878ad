/** Pages about one thing, one field a line; what is longer than the terminal goes on below, indented. */
import { forTerminal } from '../lib/text.ts';
import type { CellKind, Rows } from '../lib/view.ts';
import { detailText } from './cells.ts';
import { widthOf, wrap } from './fit.ts';
import type { Paint } from './paint.ts';

const GAP = '  ';
/** Beside longer names, or with less room for values, each value stands below its name. */
const MAX_LABEL_WIDTH = 30;
const MIN_VALUE_WIDTH = 16;

interface Field {
  readonly label: string;
  readonly value: string;
  readonly kind?: CellKind | undefined;
}

/** Each row as a block; an empty field is left out. */
export function drawRecords({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  const labels = columns.map(({ header, name }) => (header ?? name).replaceAll('_', ' ').toLowerCase());
  const labelWidth = widest(labels);
  return rows
    .map((row) =>
      drawFields(
        columns.map(({ kind }, at) => ({ label: labels[at] ?? '', value: row[at] ?? '', kind })),
        { labelWidth, width, paint, now },
      ),
    )
    .join('\n');
}

/** Rows of a name and a value. */
export function drawPairs({ columns, rows }: Rows, width: number, paint: Paint, now: number): string {
  const fields = rows.map(([label = '', value = '']) => ({
    label: forTerminal(label),
    value,
    kind: columns[1]?.kind,
  }));
  const labelWidth = widest(fields.map(({ label }) => label));
  return drawFields(fields, { labelWidth, width, paint, now });
}

const widest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);

interface FieldLayout {
  readonly labelWidth: number;
  readonly width: number;
  readonly paint: Paint;
  readonly now: number;
}

function drawFields(fields: readonly Field[], layout: FieldLayout): string {
  const { width, paint, now } = layout;
  const labelWidth = Math.min(layout.labelWidth, MAX_LABEL_WIDTH);
  const valueWidth = width - labelWidth - GAP.length;
  const isStacked = valueWidth < MIN_VALUE_WIDTH;
  const indent = isStacked ? GAP : ' '.repeat(labelWidth) + GAP;
  const room = Math.max(1, isStacked ? width - GAP.length : valueWidth);
  return fields
    .map(({ label, value, kind }) => {
      const text = detailText(forTerminal(value), kind, now);
      if (text === '') return '';
      // Once for all lines: a value may have a megabyte.
      const painted = paint.forCell(kind, value);
      const [first = '', ...rest] = wrap(text, room).map((line) => painted(line));
      const below = isStacked || widthOf(label) > labelWidth;
      const name = paint.faint(label);
      const head = below
        ? `${name}\n${indent}${first}\n`
        : `${name}${' '.repeat(labelWidth - widthOf(label))}${GAP}${first}\n`;
      return head + rest.map((line) => `${indent}${line}\n`).join('');
    })
    .join('');
}
