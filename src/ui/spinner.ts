import type { Output } from './output.ts';
import { type Progress, startProgress } from './progress.ts';

/** Most calls are over before a spinner is worth loading. */
const DELAY_MS = 300;

/** Runs the work with a spinner beside it, which is gone before the result is printed. The work may change its text. */
export async function whileSpinning<T>(
  out: Output,
  label: string,
  work: (update: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (!out.showsProgress) return work(() => {});
  let text = label;
  let progress: Promise<Progress> | undefined;
  let spinner: Progress | undefined;
  const timer = setTimeout(() => {
    progress = startProgress(out, text).then((started) => {
      spinner = started;
      started.update(text);
      return started;
    });
  }, DELAY_MS);
  const update = (next: string): void => {
    text = next;
    spinner?.update(next);
  };
  try {
    return await work(update);
  } finally {
    clearTimeout(timer);
    (await progress)?.stop();
  }
}
