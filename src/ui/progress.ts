/** Shows how far long work is, on stderr; nothing of work that is over within a second. */
import { onSuspend } from '../lib/interruption.ts';
import { noReport, type ProgressNews, type Report } from '../lib/progress.ts';
import { monotonicMs } from '../lib/time.ts';
import type { Output } from './output.ts';

const FIRST_MS = 1_000;
const PLAIN_INTERVAL_MS = 10_000;
const TICK_MS = 200;
/** The spinner, a space, and the last column, in which some terminals wrap. */
const MARGIN = 3;

/** What a single call of the service shows, with the seconds it has taken. */
export const WAITING = 'waiting for the service';

/** Runs the work, which reports how far it is; what is shown is gone before the result is printed. */
export async function whileWorking<T>(
  out: Output,
  what: string,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  const { progressForm } = out.stderr;
  if (progressForm === 'none') return work(noReport);
  const text = new ProgressText(what, monotonicMs);
  const stop = progressForm === 'line' ? showLine(out, text) : showPlain(out, text);
  try {
    return await work((news) => text.add(news));
  } finally {
    await stop();
  }
}

/** For a log or a screen reader: whole lines, and few of them. */
function showPlain(out: Output, text: ProgressText): () => void {
  const timer = setInterval(() => out.stderr.writeLine(String(text)), PLAIN_INTERVAL_MS);
  return () => clearInterval(timer);
}

function showLine(out: Output, text: ProgressText): () => Promise<void> {
  let ending: Promise<(() => void) | undefined> | undefined;
  let isOver = false;
  const timer = setTimeout(() => {
    ending = startSpinner(out, text, () => isOver);
  }, FIRST_MS);
  return async () => {
    isOver = true;
    clearTimeout(timer);
    (await ending)?.();
  };
}

/** Draws the line until the function that it returns is called. One that can't be loaded is left out: the work goes on. */
async function startSpinner(
  { stderr }: Output,
  text: ProgressText,
  isOver: () => boolean,
): Promise<(() => void) | undefined> {
  const needed = Promise.all([import('ora'), import('./fit.ts'), stderr.drawing()]);
  const [ora, fit, drawing] = await needed.catch(() => []);
  if (!ora || isOver()) return undefined;
  const spinner = ora.default({
    color: drawing.paint.isColoured ? 'cyan' : false,
    stream: process.stderr,
    discardStdin: false,
    // Ora would draw nothing where it finds CI in the environment.
    isEnabled: true,
  });
  // Made anew each time: it tells the time too.
  const draw = (): void => {
    spinner.text = fit.cutEnd(stderr.line(String(text)), Math.max(0, stderr.columns - MARGIN));
  };
  const clear = (): void => void spinner.stop();
  const resume = (): void => {
    draw();
    spinner.start();
  };
  const timer = setInterval(draw, TICK_MS);
  process.stderr.on('resize', draw);
  process.on('exit', clear);
  const endSuspend = onSuspend(clear, resume);
  resume();
  return () => {
    clearInterval(timer);
    process.stderr.off('resize', draw);
    process.off('exit', clear);
    endSuspend();
    clear();
  };
}

/** Files in these states come first: they are what is waited for. */
const FIRST_STATE = 'delivered';
const MIN_RATE_MS = 200;

/** What a person reads of it: `Downloading · 12 of 40 · 2 failed · 3.1 MB · 420 kB/s · 9 s left`. */
export class ProgressText {
  #news: ProgressNews;
  readonly #clock: () => number;
  /** When the work began, and the part of it that is under way. */
  readonly #startedAt: number;
  #partAt: number;
  /** How many were done when that part began: they say nothing of its rate. */
  #doneBefore = 0;

  /** `clock` in milliseconds. */
  constructor(what: string, clock: () => number) {
    this.#news = { what };
    this.#clock = clock;
    this.#startedAt = clock();
    this.#partAt = this.#startedAt;
  }

  add(news: ProgressNews): void {
    const { note: _, ...before } = this.#news;
    const isNewPart = news.what !== undefined && news.what !== before.what;
    if (isNewPart) {
      this.#partAt = this.#clock();
      this.#doneBefore = news.done ?? 0;
    }
    this.#news = isNewPart ? news : { ...before, ...news };
  }

  toString(): string {
    const { what = '', states, of, done = 0, bytes = 0, note } = this.#news;
    const partMs = this.#clock() - this.#partAt;
    const line = (...parts: string[]): string => [what, ...parts].join(' · ');
    if (states) return line(...this.#waitingText(states));
    if (note !== undefined && of === undefined) return note;
    const isOneAnswer = of === 1 && done === 0 && bytes === 0;
    if (isOneAnswer) return line(note ?? 'waiting for the service', seconds(partMs));
    const figures = this.#figures(partMs);
    if (figures.length === 0) return `${what}, ${seconds(partMs)}`;
    return line(...figures, ...(note === undefined ? [] : [note]));
  }

  #waitingText(states: ReadonlyMap<string, number>): string[] {
    const { bytes = 0 } = this.#news;
    const counts = [...states].filter(([, count]) => count > 0);
    const isFirst = (state: string): number => Number(state.toLowerCase() === FIRST_STATE);
    const sorted = counts.sort(([a, one], [b, other]) => isFirst(b) - isFirst(a) || other - one);
    return [
      ...sorted.map(([state, count]) => `${count} ${state.toLowerCase() || 'no answer yet'}`),
      ...(bytes ? [size(bytes)] : []),
      stopwatch(this.#clock() - this.#startedAt),
    ];
  }

  #figures(partMs: number): string[] {
    const { of, failed = 0, bytes = 0, ofBytes, parts } = this.#news;
    return [
      ...this.#count(),
      ...(parts && parts.of !== of ? [`${parts.done} of ${parts.of} ${parts.unit}s`] : []),
      ...(failed ? [`${failed} failed`] : []),
      ...(bytes ? [ofBytes === undefined ? size(bytes) : `${size(bytes)} of ${size(ofBytes)}`] : []),
      ...this.#pace(partMs),
    ];
  }

  /** A single thing is not counted. */
  #count(): string[] {
    const { done, of, unit } = this.#news;
    if (of === 1 || (of ?? done) === undefined) return [];
    const noun = unit && ` ${unit}${(of ?? done) === 1 ? '' : 's'}`;
    return [`${done ?? 0}${of === undefined ? '' : ` of ${of}`}${noun ?? ''}`];
  }

  /** The rate and the time left, or the time so far where neither can be told. */
  #pace(partMs: number): string[] {
    const { done: all, of, bytes = 0, ofBytes } = this.#news;
    const done = (all ?? 0) - this.#doneBefore;
    const isTold = partMs >= MIN_RATE_MS && (done > 0 || bytes > 0);
    if (!isTold) return all === undefined && of === undefined ? [] : [seconds(partMs)];
    const rate = bytes ? `${size((bytes / partMs) * 1000)}/s` : `${((done / partMs) * 1000).toFixed(1)}/s`;
    const rest = restOf(bytes, ofBytes) ?? restOf(done, of && of - this.#doneBefore);
    return rest === undefined ? [rate] : [rate, `${timeLeft(partMs * rest)} left`];
  }
}

/** How many times the time so far the rest will take; nothing where that can't be told. */
function restOf(done: number, of: number | undefined): number | undefined {
  return of && done > 0 ? Math.max(0, of - done) / done : undefined;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

function size(bytes: number): string {
  let [value, at] = [bytes, 0];
  for (; value >= 999.5 && at < units.length - 1; at += 1) value /= 1000;
  return `${at === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

const seconds = (ms: number): string => `${Math.floor(ms / 1000)} s`;

function timeLeft(ms: number): string {
  const whole = Math.ceil(ms / 1000);
  if (whole < 100) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `00:12`, `1:02:03` */
function stopwatch(ms: number): string {
  const whole = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return `${hours ? `${hours}:` : ''}${two(minutes)}:${two(whole % 60)}`;
}
