/** Downloads the transcript of each file that is complete, as `sync` and `wait` do. */
import { join, resolve } from 'node:path';
import type { Transport } from '../../api/http/transport.ts';
import { fileName } from '../../flows/transcripts/name.ts';
import { type Saved, saveTranscript } from '../../flows/transcripts/save.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Action, Outcome } from './action.ts';

const JOBS = 4;

export const downloadAction = (
  transport: Transport,
  ledger: Ledger,
  folder: string,
  formats: readonly string[],
): Action => ({
  kind: 'download',
  target: `${resolve(folder)} ${formats.join(',')}`,
  jobs: JOBS,
  triesAgain: true,
  sources: ['received', 'found'],
  events: ['TRANSCRIPT_COMPLETE'],
  async run({ audiofile }) {
    try {
      const saved: Saved[] = [];
      for (const ext of formats) saved.push(await fetchOne(transport, ledger, audiofile, ext, folder));
      const paths = saved.map(({ path }) => path);
      return { end: 'done', text: paths.join(', '), saved: paths };
    } catch (error) {
      return judge(error);
    }
  },
});

async function fetchOne(
  transport: Transport,
  ledger: Ledger,
  id: string,
  ext: string,
  folder: string,
): Promise<Saved> {
  const path = join(folder, fileName('{id}.{ext}', { id, ext, title: '', order: '' }));
  const saved = await saveTranscript(
    transport,
    { id, ext, test: false, deprecatedPath: false },
    path,
    'skip',
  );
  ledger.downloads.add(id, ext, saved.path, saved.bytes);
  return saved;
}

/** Without a key or a network no other transcript comes either; the rest may pass, or is about this file alone. */
function judge(error: unknown): Outcome {
  const { message: text } = error as Error;
  const kind = error instanceof StenoError ? error.kind : 'failed';
  if (kind === 'network' || kind === 'auth') return { end: 'down', text };
  return { end: kind === 'usage' ? 'failed' : 'again', text };
}
