/** Text of any origin in HTML and SVG: whatever is put into a template is escaped, unless it is markup itself. */
import { forTerminal } from '../lib/text.ts';

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | readonly Markup[];

/** A template whose values are escaped. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = pieces[0] ?? '';
  for (const [at, part] of parts.entries()) text += textOf(part) + (pieces[at + 1] ?? '');
  return new Markup(text);
}

export const none = new Markup('');

function textOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return part.map(({ text }) => text).join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that steer or show nothing become visible ones, as on a terminal. */
const escapeText = (text: string): string =>
  forTerminal(text).replace(/[&<>"']/g, (found) => entities[found] ?? '');

/** Rounded for a coordinate: more digits can't be seen. */
const coordinate = (value: number): string => String(Math.round(value * 10) / 10);

/** Characters that take the room of two. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Cut so that it takes at most `units`, each about the room of a small letter; a graph has no line breaks. */
export function cutLabel(text: string, units: number): string {
  let [kept, taken] = ['', 0];
  // Of a megabyte only the beginning can be seen.
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, units * 8))) {
    taken += wide.test(segment) ? 2 : 1;
    if (taken > units) return `${kept}…`;
    kept += segment;
  }
  return kept;
}

// Charts as SVG, drawn by hand: no script and no library, readable aloud by their titles and descriptions.

const WIDTH = 720;
/** What the values beside horizontal bars take. */
const VALUE_WIDTH = 130;
const ROW_HEIGHT = 42;
const BAR_HEIGHT = 14;
/** How many small letters fit above a bar, and how many digits beside it. */
const LABEL_UNITS = 80;
const VALUE_UNITS = 14;

export interface Bar {
  readonly label: string;
  /** What is written beside it. */
  readonly text: string;
  /** Its length. */
  readonly value: number;
}

interface ChartText {
  /** Unique within the page. */
  readonly id: string;
  readonly title: string;
  /** Says in words what the chart shows. */
  readonly description: string;
}

function drawing({ id, title, description }: ChartText, height: number, content: readonly Markup[]): Markup {
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${coordinate(height)}" role="img" aria-labelledby="${id}-title ${id}-desc">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${description}</desc>
${content}
</svg>`;
}

/** Bars one below the other, each with its label above it. */
export function horizontalBars(text: ChartText, bars: readonly Bar[]): Markup {
  const top = highest(bars);
  const full = WIDTH - VALUE_WIDTH;
  const rows = bars.map((bar, row) => {
    const y = row * ROW_HEIGHT;
    const length = lengthOf(bar.value, top, full);
    return html`<g><title>${bar.label}: ${bar.text}</title>
<text x="0" y="${coordinate(y + 14)}">${cutLabel(bar.label, LABEL_UNITS)}</text>
<rect class="track" x="0" y="${coordinate(y + 20)}" width="${full}" height="${BAR_HEIGHT}" rx="3"/>
<rect class="bar" x="0" y="${coordinate(y + 20)}" width="${coordinate(length)}" height="${BAR_HEIGHT}" rx="3"/>
<text class="value" x="${WIDTH}" y="${coordinate(y + 32)}">${cutLabel(bar.text, VALUE_UNITS)}</text></g>`;
  });
  return drawing(text, bars.length * ROW_HEIGHT, rows);
}

const highest = (bars: readonly Bar[]): number => bars.reduce((most, { value }) => Math.max(most, value), 0);

/** Anything above zero shows. */
const lengthOf = (value: number, top: number, full: number): number =>
  value > 0 && top > 0 ? Math.max(2, (value / top) * full) : 0;

const PLOT = { left: 64, right: 8, top: 24, height: 190, bottom: 46 } as const;
/** What a label below a bar takes. */
const MONTH_WIDTH = 42;
/** Of a digit, with room to spare. */
const DIGIT_WIDTH = 8.5;

/** Bars side by side over a scale; labels are `2026-08`. */
export function monthBars(text: ChartText, bars: readonly Bar[]): Markup {
  const scale = scaleTo(highest(bars));
  const step = (WIDTH - PLOT.left - PLOT.right) / Math.max(1, bars.length);
  const base = PLOT.top + PLOT.height;
  const y = (value: number): number => base - (value / scale.top) * PLOT.height;
  const grid = scale.ticks.map(
    (
      tick,
    ) => html`<line class="grid" x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${coordinate(y(tick))}" y2="${coordinate(y(tick))}"/>
<text class="tick" x="${PLOT.left - 8}" y="${coordinate(y(tick) + 4)}">${tickText(tick)}</text>`,
  );
  // One bar alone would fill the whole chart.
  const width = Math.min(step * 0.7, 72);
  const every = Math.max(1, Math.ceil((MONTH_WIDTH * bars.length) / (WIDTH - PLOT.left - PLOT.right)));
  const columns = bars.map((bar, index) => {
    const middle = PLOT.left + step * (index + 0.5);
    const height = lengthOf(bar.value, scale.top, PLOT.height);
    const above = bar.value > 0 && bar.text.length * DIGIT_WIDTH < step;
    return html`<g><title>${bar.label}: ${bar.text}</title>
<rect class="bar" x="${coordinate(middle - width / 2)}" y="${coordinate(base - height)}" width="${coordinate(width)}" height="${coordinate(height)}" rx="2"/>
${above ? html`<text class="middle" x="${coordinate(middle)}" y="${coordinate(base - height - 6)}">${bar.text}</text>` : none}
${index % every === 0 ? monthLabel(bar.label, middle, base, index === 0 || every > 1) : none}</g>`;
  });
  return drawing(text, base + PLOT.bottom, [...grid, ...columns]);
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The name of the month, and below it the year where that is not plain from the one before. */
function monthLabel(label: string, middle: number, base: number, withYear: boolean): Markup {
  const [year = '', month = ''] = label.split('-');
  const shown = withYear || month === '01' ? year : '';
  return html`<text class="middle" x="${coordinate(middle)}" y="${coordinate(base + 18)}">${monthNames[Number(month) - 1] ?? label}</text>
${shown ? html`<text class="middle muted" x="${coordinate(middle)}" y="${coordinate(base + 36)}">${shown}</text>` : none}`;
}

/** Round numbers from zero to at least `value`, four or five of them. */
export function scaleTo(value: number) {
  if (!(value > 0) || !Number.isFinite(value)) return { top: 1, ticks: [0] };
  const rough = value / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10;
  const size = unit * power;
  const count = Math.ceil(value / size - 1e-9);
  return { top: size * count, ticks: Array.from({ length: count + 1 }, (_, index) => size * index) };
}

/** `750`, `2.5`, `120K`: short enough to stand beside its line. */
const tickText = (tick: number): string =>
  tick === 0 || tick >= 1e-3
    ? tick.toLocaleString('en', {
        notation: tick >= 1e5 ? 'compact' : 'standard',
        maximumSignificantDigits: 4,
        useGrouping: false,
      })
    : tick.toExponential(0);

export interface Span {
  readonly label: string;
  readonly text: string;
  /** In days; undefined where there is none. */
  readonly median: number | undefined;
  readonly slowest: number | undefined;
  readonly target: number | undefined;
}

const SPAN = { legend: 34, height: 46, scale: 30 } as const;

/** How long something took: a bar to the median, a line to the slowest, and a mark at the target. */
export function spans(text: ChartText, rows: readonly Span[]): Markup {
  const scale = scaleTo(Math.max(0, ...rows.flatMap(({ slowest = 0, target = 0 }) => [slowest, target])));
  const full = WIDTH - VALUE_WIDTH;
  const x = (days: number): number => (days / scale.top) * full;
  const bottom = SPAN.legend + rows.length * SPAN.height;
  const grid = scale.ticks.map(
    (
      tick,
    ) => html`<line class="grid" x1="${coordinate(x(tick))}" x2="${coordinate(x(tick))}" y1="${SPAN.legend}" y2="${coordinate(bottom)}"/>
<text class="${tick === 0 ? 'first' : 'middle'} muted" x="${coordinate(x(tick))}" y="${coordinate(bottom + 20)}">${tickText(tick)}d</text>`,
  );
  const bars = rows.map((row, index) => {
    const y = SPAN.legend + index * SPAN.height;
    return html`<g><title>${row.label}: ${row.text}</title>
<text x="0" y="${coordinate(y + 14)}">${cutLabel(row.label, LABEL_UNITS)}</text>
<rect class="bar" x="0" y="${coordinate(y + 22)}" width="${coordinate(x(row.median ?? 0))}" height="${BAR_HEIGHT}" rx="3"/>
${row.slowest === undefined ? none : reach(x(row.median ?? 0), x(row.slowest), y + 29)}
${row.target === undefined ? none : html`<line class="target" x1="${coordinate(x(row.target))}" x2="${coordinate(x(row.target))}" y1="${coordinate(y + 17)}" y2="${coordinate(y + 41)}"/>`}
<text class="value" x="${WIDTH}" y="${coordinate(y + 34)}">${row.text}</text></g>`;
  });
  return drawing(text, bottom + SPAN.scale, [legend, ...grid, ...bars]);
}

const reach = (from: number, to: number, y: number): Markup =>
  html`<path class="reach" d="M${coordinate(from)} ${coordinate(y)}H${coordinate(to)}M${coordinate(to)} ${coordinate(y - 5)}V${coordinate(y + 5)}"/>`;

const legend = html`<g><rect class="bar" x="0" y="4" width="22" height="${BAR_HEIGHT}" rx="3"/><text x="30" y="16">median</text>
<path class="reach" d="M104 11H128M128 6V16"/><text x="136" y="16">slowest</text>
<line class="target" x1="212" x2="212" y1="0" y2="22"/><text x="222" y="16">target</text></g>`;
