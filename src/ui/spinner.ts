import type { Output } from './output.ts';

/** Shows that something is under way, on a terminal only; stops before anything else is printed. */
export async function whileSpinning<T>(out: Output, label: string, work: () => Promise<T>): Promise<T> {
  if (!out.showsProgress || out.mode.debug) return work();
  let spinner: { stop(): unknown } | undefined;
  let over = false;
  // Most calls are over before a spinner is worth loading.
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora');
    if (over) return;
    const color = out.paintsProgress ? 'cyan' : false;
    spinner = ora({ text: label, color, stream: process.stderr, discardStdin: false }).start();
  }, 300);
  try {
    return await work();
  } finally {
    over = true;
    clearTimeout(timer);
    spinner?.stop();
  }
}
