import { targetDaysOf } from '../catalog/skus.ts';
import { findFileState } from '../catalog/states.ts';
import { StenoError } from '../lib/errors.ts';
import { JsonNumber, type JsonObject, toJson } from '../lib/json.ts';
import type { Database } from '../lib/sqlite.ts';
import { Refusal } from './calls.ts';
import type { Scenario } from './scenarios.ts';
import { insert, moveClock, type ServiceContext } from './store.ts';

/** The states of a file or an invoice in their order, each with the time at which it begins, where that is known. */

export type Subject = `${'file' | 'invoice'}/${string}`;

export interface Step {
  readonly state: string;
  /** Milliseconds after the step before; null: only `advance` starts it. */
  readonly wait: number | null;
}

interface StepRow {
  readonly n: number;
  readonly state: string;
  readonly wait: number | null;
  readonly at: number | null;
}

export function addSteps(db: Database, subject: Subject, steps: readonly Step[], first = 0): void {
  for (const [at, { state, wait }] of steps.entries())
    insert(db, 'steps', { subject, n: first + at, state, wait });
}

/** Starts step `n` now, and sets the times of the steps after it, with their transactions, invoice items and events. */
export function startStep(db: Database, subject: Subject, n: number, now: number): void {
  const rows = db.all<StepRow>(
    'SELECT n, wait FROM steps WHERE subject = ? AND n >= ? ORDER BY n',
    subject,
    n,
  );
  let at: number | null = now;
  for (const row of rows) {
    if (row.n > n) at = at === null || row.wait === null ? null : at + row.wait;
    db.run('UPDATE steps SET at = ? WHERE subject = ? AND n = ?', at, subject, row.n);
    timeEffects(db, subject, row.n);
  }
}

/** What happens at a step happens when it begins. */
export function timeEffects(db: Database, subject: Subject, n: number): void {
  const { at = null } =
    db.get<{ at: number | null }>('SELECT at FROM steps WHERE subject = ? AND n = ?', subject, n) ?? {};
  for (const table of ['transactions', 'items'])
    db.run(`UPDATE ${table} SET at = ? WHERE subject = ? AND step = ?`, at, subject, n);
  db.run('UPDATE events SET due = ? WHERE subject = ? AND step = ? AND claimed IS NULL', at, subject, n);
}

/** A clock may be set back: a file is never without a state. */
export function currentStep(
  db: Database,
  subject: Subject,
  now: number,
): { n: number; state: string; at: number } {
  const row = db.get<{ n: number; state: string; at: number }>(
    'SELECT n, state, at FROM steps WHERE subject = ? AND (at <= ? OR n = 0) ORDER BY n DESC LIMIT 1',
    subject,
    now,
  );
  if (!row) throw new Error(`${subject} has no steps`);
  return row;
}

/** Starts the next step now, if there is one. */
export function advanceStep(db: Database, subject: Subject, now: number): void {
  const next = currentStep(db, subject, now).n + 1;
  if (hasStep(db, subject, next)) startStep(db, subject, next, now);
}

/** Adds steps after the last one; returns their numbers. */
export function appendSteps(db: Database, subject: Subject, steps: readonly Step[]): number[] {
  const first =
    (db.get<{ n: number }>('SELECT max(n) AS n FROM steps WHERE subject = ?', subject)?.n ?? -1) + 1;
  addSteps(db, subject, steps, first);
  return steps.map((_, index) => first + index);
}

/** Forgets what was to happen from this step on. */
export function dropEffects(db: Database, subject: Subject, from: number): void {
  for (const table of ['events', 'transactions', 'items'])
    db.run(`DELETE FROM ${table} WHERE subject = ? AND step >= ?`, subject, from);
}

/** Replaces all steps to come with one of this state; returns its number. */
export function replaceNextSteps(db: Database, subject: Subject, state: string, now: number): number {
  const { n } = currentStep(db, subject, now);
  dropEffects(db, subject, n + 1);
  db.run('DELETE FROM steps WHERE subject = ? AND n > ?', subject, n);
  addSteps(db, subject, [{ state, wait: null }], n + 1);
  return n + 1;
}

const hasStep = (db: Database, subject: Subject, n: number): boolean =>
  db.get('SELECT 1 FROM steps WHERE subject = ? AND n = ?', subject, n) !== undefined;

/** The price of a minute of audio by SKU. */
const centsPerMinute: Readonly<Record<string, number>> = {
  TRANS14: 86,
  TRANS6: 125,
  TRANS2: 250,
  EMSR02: 10,
  DIFFQ2: 100,
  TSTMP1: 50,
  CAPTION1: 100,
  VERBATIM1: 50,
  EDIT01: 75,
  UPGRD1: 39,
  UPGRD2: 164,
  UPGRD3: 125,
};

export const START_BALANCE_CENTS = 2_500_000;

export function priceOf(sku: string): number {
  const cents = centsPerMinute[sku];
  if (cents === undefined) throw new Error(`no price for ${sku}`);
  return cents;
}

export function dollars(cents: number): string {
  const sign = cents < 0 ? '-' : '';
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export const money = (cents: number): JsonNumber => new JsonNumber(dollars(cents));

export interface FileRow {
  readonly id: string;
  /** Null for the two sample files. */
  readonly order: string | null;
  readonly link: string;
  readonly title: string;
  /** Speakers, separated by pipes. */
  readonly names: string;
  readonly notes: string;
  readonly minutes: number;
  readonly stars: number;
  readonly sku: string;
  /** Add-ons and upgrades, separated by commas. */
  readonly extras: string;
  readonly test: number;
}

export function getFile({ db }: ServiceContext, id: string): FileRow {
  const file = db.get<FileRow>('SELECT * FROM files WHERE id = ?', id);
  if (!file) throw new Refusal(404, `There is no audiofile ${id}.`);
  return file;
}

export const stateOf = ({ db, now }: ServiceContext, id: string): string =>
  currentStep(db, `file/${id}`, now).state;

/** An upgraded file is delivered once more. */
export const countDeliveries = ({ db, now }: ServiceContext, id: string): number =>
  db.get<{ count: number }>(
    "SELECT count(*) AS count FROM steps WHERE subject = ? AND state = 'Delivered' AND at <= ?",
    `file/${id}`,
    now,
  )?.count ?? 0;

export function fileJson(context: ServiceContext, file: FileRow): JsonObject {
  const { invoices, cents } = billing(context, file.id);
  return toJson({
    id: new JsonNumber(file.id),
    statename: stateOf(context, file.id),
    names: file.names,
    notes: file.notes,
    originallink: file.link,
    title: file.title,
    duration: file.minutes,
    description: `${file.title}, ${file.minutes} min, ordered as ${[file.sku, file.extras].filter(Boolean).join(',')}`,
    quality_stars: file.stars,
    orders: file.order === null ? undefined : [file.order],
    invoices: invoices.length === 0 ? undefined : invoices.map((id) => new JsonNumber(id)),
    total: money(cents),
  }) as JsonObject;
}

function billing({ db, now }: ServiceContext, file: string): { invoices: string[]; cents: number } {
  const rows = db.all<{ invoice: string; cents: number }>(
    `SELECT invoice, sum(quantity * cents) AS cents FROM items WHERE file = ? AND at <= ?
     GROUP BY invoice ORDER BY min(rowid)`,
    file,
    now,
  );
  return {
    invoices: rows.map(({ invoice }) => invoice),
    cents: rows.reduce((sum, { cents }) => sum + cents, 0),
  };
}

/** The states of a file, each with the second at which it begins at speed 1. */
type Timeline = ReadonlyArray<readonly [second: number, state: string]>;

const start: Timeline = [
  [0, 'Pre-Processing'],
  [1, 'Audio Processing'],
  [2, 'Checking Audio Quality'],
];

const usual: Timeline = [
  ...start,
  [2.6, 'Transcribing'],
  [3.8, 'Awaiting Edit'],
  [4, 'Out for edit'],
  [4.5, 'Awaiting Final Approval'],
  [4.8, 'Order Chargeable'],
  [5, 'Delivered'],
];

const machine: Timeline = [...start, [2.6, 'Processing'], [4, 'Editing to Word Count'], [5, 'Delivered']];

const cardRefused: Timeline = [
  [0, 'Pre-Processing'],
  [0.4, 'Billing Processing'],
  [1, 'Order Processing'],
  [1.3, 'Audio Processing'],
  ...usual.slice(2),
];

const failing: Timeline = [...start, [3, 'Temporary Error'], [4, 'Technical Difficulty'], [5, 'Error']];
const cancelled: Timeline = [...start, [3, 'Order Processing'], [5, 'Order Cancelled']];
const refunded: Timeline = [...start, [4, 'Refunded']];
/** A test order is never transcribed, and must end so that `wait` ends. */
const test: Timeline = [
  [0, 'Pre-Processing'],
  [1, 'Order Cancelled'],
];

/** A delivered file that was upgraded is worked on once more. */
const reworked: Timeline = [
  [0, 'Out for edit'],
  [3, 'Awaiting Final Approval'],
  [4, 'Delivered'],
];

const SLOW_FACTOR = 12;
const DAY_MS = 86_400_000;

export interface FileKind {
  readonly sku: string;
  readonly scenarios: ReadonlySet<Scenario>;
  readonly held: boolean;
  readonly test: boolean;
}

export function planFile(kind: FileKind, speed: number): Step[] {
  const timely = toSteps(timelineFor(kind), speedOf(kind.scenarios, speed));
  const steps = kind.scenarios.has('overdue') ? delayed(timely, kind.sku) : timely;
  return kind.held
    ? [{ state: 'On Hold', wait: 0 }, ...steps.map((step, n) => (n === 0 ? { ...step, wait: null } : step))]
    : steps;
}

/** Transcribed until a week after its due date: days on the clock, whatever the speed. */
function delayed(steps: readonly Step[], sku: string): Step[] {
  const days = (targetDaysOf([sku]) ?? 0) + 7;
  const after = steps.findIndex(({ state }) => state === 'Transcribing' || state === 'Processing') + 1;
  return steps.map((step, n) =>
    n === after && n > 0 && step.wait !== null ? { ...step, wait: step.wait + days * DAY_MS } : step,
  );
}

export const planRework = (scenarios: ReadonlySet<Scenario>, speed: number): Step[] =>
  toSteps(reworked, speedOf(scenarios, speed));

const speedOf = (scenarios: ReadonlySet<Scenario>, speed: number): number =>
  scenarios.has('slow') ? speed / SLOW_FACTOR : speed;

export interface Payment {
  /** Nothing is paid until the release. */
  readonly held: boolean;
  /** Billed, and never taken from the prepay balance. */
  readonly unpaid: boolean;
}

const unpaidInvoice: Timeline = [
  [0, 'CREATED'],
  [1, 'OPEN'],
  [2, 'SUBMITTED'],
];

/** What the prepay balance pays for is paid at once; an invoice does not move while its order is held. */
export function planInvoice({ held, unpaid }: Payment, speed: number): Step[] {
  if (!unpaid) return [...(held ? [{ state: 'CREATED', wait: 0 }] : []), { state: 'PAID', wait: null }];
  return toSteps(unpaidInvoice, speed).map((step, n) => (held && n === 1 ? { ...step, wait: null } : step));
}

function timelineFor({ sku, scenarios, test: isTest }: FileKind): Timeline {
  if (isTest) return test;
  if (scenarios.has('cancel')) return cancelled;
  if (scenarios.has('error')) return failing;
  if (scenarios.has('refund')) return refunded;
  if (scenarios.has('card-failure')) return cardRefused;
  return sku === 'EMSR02' ? machine : usual;
}

/** At speed 0 every step waits for `advance`. */
function toSteps(timeline: Timeline, speed: number): Step[] {
  return timeline.map(([second, state], n) => {
    const before = timeline[n - 1]?.[0] ?? 0;
    return { state, wait: speed === 0 ? null : Math.round(((second - before) * 1000) / speed) };
  });
}

export interface MovedFile {
  readonly id: string;
  readonly state: string;
}

/** Ends a hold: the order's files and invoices start their timelines. */
export function release(context: ServiceContext, order: string): MovedFile[] {
  const { db, now } = context;
  const row = db.get<{ held: number }>('SELECT held FROM orders WHERE id = ?', order);
  if (!row)
    throw new StenoError('missing', `the sandbox has no order ${order}`, {
      hint: 'list the orders and their files: steno --sandbox files',
    });
  if (!row.held) throw new StenoError('failed', `order ${order} is not on hold`);
  db.run('UPDATE orders SET held = 0 WHERE id = ?', order);
  const files = db.all<{ id: string }>('SELECT id FROM files WHERE "order" = ? ORDER BY rowid', order);
  for (const { id } of files) {
    startStep(db, `file/${id}`, 1, now);
    for (const invoice of invoicesLedBy(context, id)) startStep(db, `invoice/${invoice}`, 1, now);
  }
  return files.map(({ id }) => ({ id, state: currentStep(db, `file/${id}`, now).state }));
}

/** Moves the given files, or all unfinished ones, to their next state; a held file stays on hold. */
export function advanceFiles(context: ServiceContext, ids: readonly string[]): MovedFile[] {
  const { db, now } = context;
  return (ids.length > 0 ? ids : unfinishedFiles(context)).map((id) => {
    if (!isHeld(context, id)) {
      advanceStep(db, `file/${id}`, now);
      for (const invoice of invoicesLedBy(context, id)) advanceStep(db, `invoice/${invoice}`, now);
    }
    return { id, state: currentStep(db, `file/${id}`, now).state };
  });
}

/** Moves the clock; returns the files that are in another state by that. */
export function advanceClock(context: ServiceContext, milliseconds: number): MovedFile[] {
  const { db, now } = context;
  const files = unfinishedFiles(context).map((id) => ({ id, before: currentStep(db, `file/${id}`, now) }));
  moveClock(db, milliseconds);
  return files.flatMap(({ id, before }) => {
    const { n, state } = currentStep(db, `file/${id}`, now + milliseconds);
    return n === before.n ? [] : [{ id, state }];
  });
}

function isHeld({ db }: ServiceContext, id: string): boolean {
  const row = db.get<{ held: number | null }>(
    'SELECT held FROM files LEFT JOIN orders ON orders.id = "order" WHERE files.id = ?',
    id,
  );
  if (!row) {
    const hint = /^\d+[smhd]$/.test(id) ? `to move the clock: steno sandbox advance --by ${id}` : undefined;
    throw new StenoError('missing', `the sandbox has no file ${id}`, { hint });
  }
  return row.held === 1;
}

function unfinishedFiles({ db, now }: ServiceContext): string[] {
  return db
    .all<{ id: string }>(
      'SELECT files.id FROM files JOIN orders ON orders.id = "order" WHERE NOT held ORDER BY files.rowid',
    )
    .map(({ id }) => id)
    .filter((id) => findFileState(currentStep(db, `file/${id}`, now).state)?.end === undefined);
}

/** The invoices on which this file comes first: an invoice advances with its first file. */
function invoicesLedBy({ db }: ServiceContext, file: string): string[] {
  return db
    .all<{ invoice: string }>(
      `SELECT DISTINCT invoice FROM items AS mine WHERE file = ?
       AND NOT EXISTS (SELECT 1 FROM items WHERE invoice = mine.invoice AND rowid < mine.rowid AND file <> mine.file)`,
      file,
    )
    .map(({ invoice }) => invoice);
}
