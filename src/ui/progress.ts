import { monotonicMs } from '../lib/clock.ts';
import type { Output } from './output.ts';

/** A line on stderr that says how far long work is. */
export interface Progress {
  /** Takes an object too, so that its text is built only where it is shown. */
  update(text: string | { toString(): string }): void;
  stop(): void;
}

const silent: Progress = { update: () => {}, stop: () => {} };

/** The only place that starts a spinner. A spinner that can't be loaded is left out: the work goes on. */
export async function startProgress(out: Output, text: string): Promise<Progress> {
  if (!out.showsProgress) return silent;
  const ora = await import('ora').then((module) => module.default).catch(() => undefined);
  if (!ora) return silent;
  const color = out.paintsProgress ? 'cyan' : false;
  const spinner = ora({ text, color, stream: process.stderr, discardStdin: false }).start();
  out.clearSpinner = () => void spinner.clear();
  return {
    update: (next) => {
      spinner.text = String(next);
    },
    stop: () => {
      out.clearSpinner = () => {};
      spinner.stop();
    },
  };
}

/** Shows `Waiting: 3 of 10 done` while the work runs, which reports how many have come to an end. */
export async function whileWaiting<T>(
  out: Output,
  total: number,
  work: (onProgress: (ended: number) => void) => Promise<T>,
): Promise<T> {
  const progress = await startProgress(out, 'Waiting');
  try {
    return await work((ended) => progress.update(`Waiting: ${ended} of ${total} done`));
  } finally {
    progress.stop();
  }
}

/** `Downloading: 12 of 40, 2 failed, 3.1/s, 9s left` */
export class Pace {
  readonly #what: string;
  readonly #all: number;
  readonly #started = monotonicMs();
  #done = 0;
  #failed = 0;

  constructor(what: string, all: number) {
    this.#what = what;
    this.#all = all;
  }

  step(failed: boolean): void {
    this.#done += 1;
    if (failed) this.#failed += 1;
  }

  toString(): string {
    const seconds = Math.max(0.001, (monotonicMs() - this.#started) / 1000);
    const rate = this.#done / seconds;
    const left = rate > 0 ? Math.ceil((this.#all - this.#done) / rate) : undefined;
    return [
      `${this.#what}: ${this.#done} of ${this.#all}`,
      ...(this.#failed ? [`${this.#failed} failed`] : []),
      ...(this.#done ? [`${rate.toFixed(1)}/s`, `${left}s left`] : []),
    ].join(', ');
  }
}
