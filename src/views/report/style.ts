/** The look of the report's page: light and dark by the reader's own setting, and black on white on paper. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1b1f24; --muted: #57606a; --line: #d5dbe1; --panel: #f4f6f8;
  --bar: #2a6fb0; --track: #e9edf1; --late: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --text: #e8ebee; --muted: #a3adb8; --line: #39424c; --panel: #1e242b;
    --bar: #6fb3f2; --track: #2a323b; --late: #ff9b8f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 60rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
p { margin: .25rem 0; }
.muted, caption { color: var(--muted); }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 0; }
.tiles div {
  flex: 1 1 6.2rem; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem;
}
.tiles dt { color: var(--muted); font-size: .85rem; white-space: nowrap; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.late { color: var(--late); font-weight: 600; }
figure { margin: 0 0 1rem; }
figcaption { margin-bottom: .5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
.chart { display: block; width: 100%; min-width: 34rem; height: auto; overflow: visible; }
.chart text {
  fill: var(--text); font: 13px system-ui, sans-serif; font-variant-numeric: tabular-nums;
  paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round;
}
.chart .value, .chart .tick { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart .tick, .chart .muted { fill: var(--muted); }
.bar { fill: var(--bar); }
.track { fill: var(--track); }
.grid { stroke: var(--line); stroke-width: 1; }
.target { stroke: var(--text); stroke-width: 3; }
.reach { stroke: var(--bar); stroke-width: 2; fill: none; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: start; padding: .25rem 0; }
th, td { text-align: start; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
thead th { color: var(--muted); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; min-width: 6rem; }
td.long { min-width: 12rem; }
td.words { min-width: 7rem; }
td.date, th.number, td.number { white-space: nowrap; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
ul { padding-inline-start: 1.2rem; margin: .5rem 0; }
footer { margin-top: 3rem; color: var(--muted); font-size: .85rem; }
@media (forced-colors: active) {
  .bar { fill: CanvasText; }
  .track { fill: Canvas; stroke: CanvasText; }
  .reach, .target, .grid { stroke: CanvasText; }
  .chart text { fill: CanvasText; }
}
@media print {
  :root {
    --page: #ffffff; --text: #000000; --muted: #444444; --line: #bbbbbb; --panel: #ffffff;
    --bar: #2a6fb0; --track: #eeeeee; --late: #9b1c14;
  }
  @page { margin: 15mm; }
  html { font-size: 10pt; }
  body { padding: 0; max-width: none; }
  th, td { padding: .2rem .35rem; }
  tbody th { min-width: 4rem; }
  td.long { min-width: 8rem; }
  td.words { min-width: 7rem; }
  .chart { min-width: 0; }
  .scroll { overflow: visible; }
  .chart, .tiles div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, figcaption, caption { break-after: avoid; }
  figure, .tiles, tr { break-inside: avoid; }
  thead { display: table-header-group; }
}
`;
