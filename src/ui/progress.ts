/** Shows how far long work is, on stderr; nothing of work that is over within a second. */
import { monotonicMs } from '../lib/clock.ts';
import { noReport, type Report } from '../lib/progress.ts';
import type { Output } from './output.ts';
import type { ProgressLine } from './progress-line.ts';
import { ProgressText } from './progress-text.ts';

const FIRST_MS = 1_000;
const PLAIN_INTERVAL_MS = 10_000;

/** What a single call of the service shows, with the seconds it has taken. */
export const WAITING = 'waiting for the service';

/** Runs the work, which reports how far it is; what is shown is gone before the result is printed. */
export async function whileWorking<T>(
  out: Output,
  what: string,
  work: (report: Report) => Promise<T>,
): Promise<T> {
  const { progressForm } = out;
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
  const timer = setInterval(() => out.announce(String(text)), PLAIN_INTERVAL_MS);
  return () => clearInterval(timer);
}

function showLine(out: Output, text: ProgressText): () => Promise<void> {
  let line: Promise<ProgressLine | undefined> | undefined;
  let isOver = false;
  const timer = setTimeout(() => {
    line = import('./progress-line.ts').then(({ ProgressLine }) =>
      isOver ? undefined : ProgressLine.start(lineOptions(out, text)),
    );
  }, FIRST_MS);
  return async () => {
    isOver = true;
    clearTimeout(timer);
    (await line)?.stop();
  };
}

const lineOptions = (out: Output, text: ProgressText) => ({
  text: () => out.questionText(String(text)),
  colour: out.paintsProgress,
  stream: process.stderr,
});
