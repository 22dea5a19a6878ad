/** Charts, drawn as SVG. Numbers are rounded for drawing only; the tables beside have them to the digit. */
import { money } from './format.ts';
import type { SpendRow } from './types.ts';

/** A bar for a part of a whole. */
export const Share = ({
  share,
  label,
  isOver = false,
}: {
  share: number;
  label: string;
  isOver?: boolean;
}) => (
  <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={label}>
    <rect class="track" width="100" height="4" />
    <rect
      class={isOver ? 'fill over' : 'fill'}
      width={100 * Math.max(0, Math.min(1, share || 0))}
      height="4"
    />
  </svg>
);

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [640, 190, 52, 22];
const MAX_MONTHS = 24;
const parts = ['spent', 'unpaid', 'estimated'] as const;
const partNames = { spent: 'spent', unpaid: 'billed, not paid', estimated: 'estimated' };

/** The next round number: 1, 1.5, 2, 2.5 and so on, with zeros. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return power * ([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value) ?? 10);
}

/** A stack for each month: spent, billed but not paid, estimated. */
export function MonthChart({ rows }: { rows: readonly SpendRow[] }) {
  const months = rows
    .filter(({ month }) => month)
    .sort((a, b) => String(a.month).localeCompare(String(b.month)))
    .slice(-MAX_MONTHS);
  const sumOf = (row: SpendRow): number =>
    parts.reduce((sum, part) => sum + Math.max(0, Number(row[part])), 0);
  const top = roundUp(Math.max(...months.map(sumOf), 1));
  const room = HEIGHT - BOTTOM - 10;
  const slot = (WIDTH - LEFT) / Math.max(months.length, 6);
  const every = Math.ceil(months.length / 12);
  const [last] = months.slice(-1);
  if (!last || months.every((row) => sumOf(row) === 0)) return null;
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Spend by month, ${months.length} months; the last is ${money(last.spent, last.currency)}`}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="grid" x1={LEFT} x2={WIDTH} y1={10 + room * (1 - part)} y2={10 + room * (1 - part)} />
            <text class="label" x={LEFT - 6} y={14 + room * (1 - part)} text-anchor="end">
              {(top * part).toLocaleString('en-US')}
            </text>
          </g>
        ))}
        {months.map((row, at) => {
          let done = 0;
          const x = LEFT + at * slot + slot * 0.18;
          return (
            <g key={String(row.month)}>
              <title>{`${row.month}: ${parts.map((part) => `${partNames[part]} ${money(row[part], row.currency)}`).join(', ')}`}</title>
              {parts.map((part) => {
                const height = (room * Math.max(0, Number(row[part]))) / top;
                done += height;
                return (
                  <rect
                    key={part}
                    class={part}
                    x={x}
                    width={slot * 0.64}
                    y={10 + room - done}
                    height={height}
                  />
                );
              })}
              {(months.length - 1 - at) % every === 0 ? (
                <text class="label" x={x + slot * 0.32} y={HEIGHT - 6} text-anchor="middle">
                  {String(row.month).slice(2)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
      <figcaption>
        {parts.map((part) => (
          <span key={part}>
            <i class={part} /> {partNames[part]}
          </span>
        ))}
        <span class="muted">{last.currency}</span>
      </figcaption>
    </figure>
  );
}
