import type { Output } from './output.ts';
import { type Progress, startProgress } from './progress.ts';

/** Most calls are over before a spinner is worth loading. */
const DELAY_MS = 300;

/** Runs the work with a spinner beside it, which is gone before anything else is printed. */
export async function whileSpinning<T>(out: Output, label: string, work: () => Promise<T>): Promise<T> {
  if (!out.showsProgress) return work();
  let progress: Promise<Progress> | undefined;
  const timer = setTimeout(() => {
    progress = startProgress(out, label);
  }, DELAY_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    (await progress)?.stop();
  }
}
