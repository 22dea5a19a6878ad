import type { AudioFile } from '../api/files.ts';
import type { Transport } from '../api/transport.ts';
import { findFileState } from '../catalog/states.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { sleep } from '../sleep.ts';
import { followFile } from './follow.ts';

/** Yields each file as it is and whenever its state changes, until every file has come to an end. */
export async function* watchFiles(
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  interval: number,
  signal: AbortSignal,
): AsyncGenerator<AudioFile> {
  const states = new Map<string, string>();
  for (let open = ids; ; ) {
    for (const id of open) {
      const { file } = await followFile(transport, ledger, id);
      if (states.get(id) !== file.state) yield file;
      states.set(id, file.state);
    }
    open = open.filter((id) => !findFileState(states.get(id) ?? '')?.end);
    if (open.length === 0) return;
    await sleep(interval, signal);
  }
}
