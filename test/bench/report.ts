/** What came of it: a table for people, JSON for programs, and the tables of the page for contributors. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Measured } from './measure.ts';
import type { Weighed } from './memory.ts';

const RESULTS = 'test/bench/results.json';
const PAGE = '.github/CONTRIBUTING.md';
const BEGIN = '<!-- generated: bench -->';
const END = '<!-- end: bench -->';
const MEMORY = 'peak memory';

export function printed(measured: readonly Measured[], weighed: readonly Weighed[]): string {
  const tables = [ratioTable(measured, true), ...weighedTables(weighed)].filter((table) => table.length > 1);
  return tables.map((table) => `\n${aligned(table)}`).join('');
}

/** Keeps a whole run: as JSON, and in the page if it has a place for it. */
export function keep(measured: readonly Measured[], weighed: readonly Weighed[]): void {
  const machine = `${process.platform}-${process.arch}`;
  const run = { node: process.version, machine, cores: availableParallelism(), measured, weighed };
  writeFileSync(RESULTS, `${JSON.stringify(run, null, 2)}\n`);
  if (!existsSync(PAGE)) return;
  const text = readFileSync(PAGE, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) return;
  const how = `Node ${process.version.slice(1)}, ${machine}, ${run.cores} cores; medians of one run.`;
  const tables = [ratioTable(measured, false), ...weighedTables(weighed)].map(markdown).join('\n');
  writeFileSync(PAGE, `${text.slice(0, from + BEGIN.length)}\n${how}\n\n${tables}${text.slice(to)}`);
}

export interface Failures {
  readonly musts: readonly string[];
  readonly aims: readonly string[];
  readonly skipped: readonly string[];
}

export function failures(measured: readonly Measured[], weighed: readonly Weighed[]): Failures {
  const misses = (row: Measured, limit: number | undefined): boolean =>
    row.ratio !== undefined && limit !== undefined && (row.rate ? row.ratio < limit : row.ratio > limit);
  const said = (row: Measured, limit: number | undefined): string =>
    `${row.key}: ${row.ratio} where ${limit}${row.rate ? ' or more' : ''} is wanted`;
  const musts = measured.filter((row) => misses(row, row.must));
  const aims = measured.filter((row) => !musts.includes(row) && misses(row, row.aim));
  const heavy = weighed.filter(({ value, must }) => value !== undefined && value > must);
  return {
    musts: [
      ...[...measured, ...weighed].flatMap(({ key, broken }) => (broken ? [`${key}: ${broken}`] : [])),
      ...musts.map((row) => said(row, row.must)),
      ...heavy.map(({ key, value, must, unit }) => `${key}: ${value} ${unit} where ${must} is wanted`),
    ],
    aims: aims.map((row) => said(row, row.aim)),
    skipped: skippedLines([...measured, ...weighed]),
  };
}

/** One line for all rows that lack the same thing. */
function skippedLines(rows: ReadonlyArray<Pick<Measured, 'key' | 'skipped'>>): string[] {
  const reasons = [...new Set(rows.flatMap(({ skipped }) => skipped ?? []))];
  return reasons.map((reason) => {
    const keys = rows.filter(({ skipped }) => skipped === reason).map(({ key }) => key);
    return `${keys.join(', ')}: ${reason}`;
  });
}

type Table = ReadonlyArray<readonly string[]>;

function ratioTable(rows: readonly Measured[], forPeople: boolean): Table {
  const head = ['what', 'against', 'ratio', 'must', 'aim', 'curl', 'gh'];
  const body = rows.map((row) => [
    row.what,
    row.against,
    measured(row, shown(row.ratio)),
    limitOf(row, row.must),
    limitOf(row, row.aim),
    shown(row.peers.curl),
    shown(row.peers.gh),
  ]);
  if (!forPeople) return [head, ...body];
  const detail = rows.map(({ spread, noise, cpu }) => [range(spread), range(noise), shown(cpu)]);
  return [
    ['row', ...head, 'middle half', 'of the other', 'cpu'],
    ...body.map((cells, at) => [rows[at]?.key ?? '', ...cells, ...(detail[at] ?? [])]),
  ];
}

function measured({ skipped, broken }: Pick<Measured, 'skipped' | 'broken'>, text: string): string {
  if (skipped) return 'skipped';
  return broken ? 'broken' : text;
}

const limitOf = ({ rate }: Measured, limit: number | undefined): string =>
  `${rate && limit !== undefined ? '≥ ' : ''}${limit ?? ''}`;

const range = (ends: readonly [number, number] | undefined): string => ends?.map(shown).join(' to ') ?? '';

function weighedTables(rows: readonly Weighed[]): Table[] {
  const titles = [...new Set(rows.map(({ table = MEMORY }) => table))];
  return titles.map((title) => [
    [title, 'measured', 'must'],
    ...rows.filter(({ table = MEMORY }) => table === title).map(weighedCells),
  ]);
}

function weighedCells(row: Weighed): string[] {
  const { what, value, must, note } = row;
  const unit = row.unit === 'times' ? '' : ` ${row.unit}`;
  return [what, measured(row, `${value}${unit}${note ? ` (${note})` : ''}`), `${must}${unit}`];
}

const shown = (ratio: number | undefined): string => ratio?.toFixed(2) ?? '';

function aligned(table: Table): string {
  const widths = (table[0] ?? []).map((_, at) => Math.max(...table.map((cells) => cells[at]?.length ?? 0)));
  return table
    .map((cells) => `${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
    .concat('\n');
}

function markdown(table: Table): string {
  const [head = [], ...body] = table;
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
