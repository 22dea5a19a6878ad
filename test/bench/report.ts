/** What came of it: a table for people, JSON for programs, and the tables of the page for contributors. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Measured } from './measure.ts';
import type { Weighed } from './weigh.ts';

const RESULTS = 'test/bench/results.json';
const PAGE = '.github/CONTRIBUTING.md';
const BEGIN = '<!-- generated: bench -->';
const END = '<!-- end: bench -->';
const MEMORY = 'peak memory';

export interface Figures {
  readonly measured: readonly Measured[];
  readonly weighed: readonly Weighed[];
  /** Of `npm run bench:long`. */
  readonly long: readonly Weighed[];
}

interface Run extends Figures {
  readonly node: string;
  readonly machine: string;
  readonly cores: number;
}

export function printed({ measured, weighed, long }: Figures): string {
  const tables = [ratioTable(measured, true), ...weighedTables([...weighed, ...long], true)];
  return tables
    .filter((table) => table.length > 1)
    .map((table) => `\n${aligned(table)}`)
    .join('');
}

/** Keeps figures: as JSON, and in the page if it has a place for them. A whole run drops rows that are no more. */
export function keep(figures: Figures, { whole } = { whole: false }): void {
  const machine = `${process.platform}-${process.arch}`;
  const { measured, weighed, long } = keptBefore();
  const isLong = figures.long.length > 0;
  const run: Run = {
    ...{ node: process.version, machine, cores: availableParallelism() },
    measured: whole && !isLong ? figures.measured : merged(measured, figures.measured),
    weighed: whole && !isLong ? figures.weighed : merged(weighed, figures.weighed),
    long: whole && isLong ? figures.long : merged(long, figures.long),
  };
  writeFileSync(RESULTS, `${JSON.stringify(run, null, 2)}\n`);
  writePage(run);
}

function keptBefore(): Figures {
  const none: Figures = { measured: [], weighed: [], long: [] };
  return existsSync(RESULTS) ? { ...none, ...JSON.parse(readFileSync(RESULTS, 'utf8')) } : none;
}

/** Each row in its place, with its newest figure; new ones at the end. */
function merged<T extends { readonly key: string }>(before: readonly T[], rows: readonly T[]): T[] {
  const newest = new Map([...before, ...rows].map((row) => [row.key, row]));
  return [...newest.values()];
}

function writePage({ node, machine, cores, measured, weighed, long }: Run): void {
  if (!existsSync(PAGE)) return;
  const text = readFileSync(PAGE, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) return;
  const how = `Node ${node.slice(1)}, ${machine}, ${cores} cores; medians.`;
  const short = [ratioTable(measured, false), ...weighedTables(weighed, false)].map(markdown).join('\n');
  const longTables = weighedTables(long, false).map(markdown).join('\n');
  const tables = longTables ? `${short}\n\`npm run bench:long\`:\n\n${longTables}` : short;
  writeFileSync(PAGE, `${text.slice(0, from + BEGIN.length)}\n${how}\n\n${tables}${text.slice(to)}`);
}

export interface Failures {
  readonly musts: readonly string[];
  readonly aims: readonly string[];
  readonly skipped: readonly string[];
}

export function failures({ measured, weighed, long }: Figures): Failures {
  const once = [...weighed, ...long];
  const all = [...measured, ...once];
  const misses = (row: Measured, limit: number | undefined): boolean =>
    row.ratio !== undefined && limit !== undefined && (row.rate ? row.ratio < limit : row.ratio > limit);
  const said = (row: Measured, limit: number | undefined): string =>
    `${row.key}: ${row.ratio} where ${limit}${row.rate ? ' or more' : ''} is wanted`;
  const musts = measured.filter((row) => misses(row, row.must));
  const aims = measured.filter((row) => !musts.includes(row) && misses(row, row.aim));
  const heavy = once.filter((row) => exceeds(row, row.must));
  const aboveAim = once.filter((row) => !heavy.includes(row) && exceeds(row, row.aim));
  return {
    musts: [
      ...all.flatMap(({ key, broken }) => (broken ? [`${key}: ${broken}`] : [])),
      ...musts.map((row) => said(row, row.must)),
      ...heavy.map((row) => excess(row, row.must)),
    ],
    aims: [...aims.map((row) => said(row, row.aim)), ...aboveAim.map((row) => excess(row, row.aim))],
    skipped: skippedLines(all),
  };
}

const exceeds = ({ value }: Weighed, limit: number | undefined): boolean =>
  value !== undefined && limit !== undefined && value > limit;

const excess = ({ key, value, unit }: Weighed, limit: number | undefined): string =>
  `${key}: ${value} ${unit} where ${limit} is wanted`;

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

function weighedTables(rows: readonly Weighed[], forPeople: boolean): Table[] {
  const titles = [...new Set(rows.map(({ table = MEMORY }) => table))];
  return titles.map((title) => {
    const own = rows.filter(({ table = MEMORY }) => table === title);
    const table = [[title, 'measured', 'must', 'aim'], ...own.map(weighedCells)];
    const cells = own.some(({ aim }) => aim !== undefined) ? table : table.map((row) => row.slice(0, -1));
    return forPeople ? cells.map((row, at) => [own[at - 1]?.key ?? 'row', ...row]) : cells;
  });
}

function weighedCells(row: Weighed): string[] {
  const { what, value, must, aim, note } = row;
  const unit = row.unit === 'times' ? '' : ` ${row.unit}`;
  const limit = (most: number | undefined): string => (most === undefined ? '' : `${grouped(most)}${unit}`);
  const figure = `${grouped(value)}${unit}${note ? ` (${note})` : ''}`;
  return [what, measured(row, figure), limit(must), limit(aim)];
}

const grouped = (figure: number | undefined): string => figure?.toLocaleString('en') ?? '';

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
