/** Ctrl-C while an order, an upgrade or a refund is being sent. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Signals that come sooner count as one. */
const SAME_SIGNAL_MS = 100;

/** Resolves when the program says that it lets the answer come; called before it can have said so. */
export function finishing(child: ChildProcessWithoutNullStreams): Promise<void> {
  let seen = '';
  return new Promise((done, failed) => {
    child.stderr.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes('finishing the')) done();
    });
    child.on('close', () => failed(new Error(`it ended without a word of finishing: ${seen}`)));
  });
}

export async function interruptTwice(child: ChildProcessWithoutNullStreams): Promise<void> {
  const said = finishing(child);
  child.kill('SIGINT');
  await said;
  await sleep(SAME_SIGNAL_MS + 100);
  child.kill('SIGINT');
}
