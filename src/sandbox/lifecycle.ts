import { targetDaysOf } from '../catalog/skus.ts';
import type { Scenario } from './scenarios.ts';
import type { Step } from './steps.ts';

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
    ? [{ state: 'On Hold', wait: 0 }, { ...head(steps), wait: null }, ...steps.slice(1)]
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

function head(steps: readonly Step[]): Step {
  const [first] = steps;
  if (!first) throw new Error('a timeline without states');
  return first;
}
