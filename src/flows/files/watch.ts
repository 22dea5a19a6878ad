import type { AudioFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { findFileState } from '../../catalog/states.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import { sleep } from '../../lib/sleep.ts';
import { followFile } from './refresh.ts';

/** Yields each file as it is and whenever its state changes, until every file has come to an end. */
export async function* watchFiles(
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  { interval, timeout, signal }: { interval: number; timeout: number | undefined; signal: AbortSignal },
): AsyncGenerator<AudioFile> {
  const states = new Map<string, string>();
  const end = timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeout;
  for (let open = ids; ; ) {
    for (const id of open) {
      const { file } = await followFile(transport, ledger, id);
      if (states.get(id) !== file.state) yield file;
      states.set(id, file.state);
    }
    open = open.filter((id) => !findFileState(states.get(id) ?? '')?.end);
    if (open.length === 0) return;
    const left = end - Date.now();
    await sleep(Math.max(0, Math.min(interval, left)), signal);
    if (left <= interval)
      throw new StenoError('timeout', `time ran out: ${open[0]} is still '${states.get(open[0] ?? '')}'`);
  }
}
