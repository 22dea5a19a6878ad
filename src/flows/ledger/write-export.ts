/**
 * Writes an export or a report to a file: beside it first, so that it is never half of one. An earlier one is replaced only where
 * that is asked for: it may be all that is left of a ledger.
 */
import { lstatSync, type Stats } from 'node:fs';
import { disk } from '../../lib/disk-work.ts';
import { StenoError } from '../../lib/errors.ts';
import { noReport, type Report } from '../../lib/progress.ts';
import { cantWrite, nameUnlessExists, writeFileAtomic } from '../../lib/whole-file.ts';

/** Throws where something has this name, also a link that leads nowhere. */
export function checkIsFree(path: string): void {
  const found = whatIsAt(path);
  // No flag replaces a folder.
  if (found?.isDirectory()) throw cantWrite(path, 'it is a folder');
  if (found) throw existsError(path);
}

/** Where that can't be told, writing says why. */
function whatIsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} is there already`, { hint: 'replace it with --force' });

export async function writeExport(
  path: string,
  lines: AsyncIterable<string>,
  force: boolean,
  report: Report = noReport,
): Promise<void> {
  let bytes = 0;
  await writeFileAtomic(
    path,
    async (write) => {
      for await (const some of lines) {
        const chunk = Buffer.from(some);
        await write(chunk);
        bytes += chunk.length;
        report({ bytes });
      }
    },
    {
      mode: 0o600,
      name: async (draft) => {
        if (force) await disk.rename(draft, path);
        // A file that came meanwhile stays.
        else if ((await nameUnlessExists(draft, path)) === 'exists') throw existsError(path);
      },
    },
  );
}
