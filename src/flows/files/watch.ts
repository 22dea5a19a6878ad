import type { AudioFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import { type PollOptions, pollFiles } from './poll.ts';

/** Tells each file as it is and whenever its state changes, until every file has ended. */
export async function watchFiles(
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  poll: PollOptions,
  onChange: (id: string, file: AudioFile) => Promise<void>,
): Promise<void> {
  const states = new Map<string, string>();
  const { files, timedOut } = await pollFiles(ids, {
    transport,
    ledger,
    poll,
    failFast: true,
    async onRound(polled) {
      for (const { id, file, error, open } of polled) {
        if (error && !open) throw error;
        if (!file || states.get(id) === file.state) continue;
        states.set(id, file.state);
        await onChange(id, file);
      }
    },
  });
  const late = timedOut && files.find(({ open }) => open);
  if (late) throw new StenoError('timeout', `time ran out: ${late.id} is still '${late.file?.state}'`);
}
