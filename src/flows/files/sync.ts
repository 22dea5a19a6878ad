/** Brings the ledger up to date and downloads every transcript that is new. */
import { lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Transport } from '../../api/http/transport.ts';
import { Downloads } from '../../ledger/downloads.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import type { Report } from '../../lib/progress.ts';
import { InOrder, type Tally } from '../bulk.ts';
import { saveMany } from '../transcripts/fetch.ts';
import { DEFAULT_TEMPLATE } from '../transcripts/name.ts';
import { removeLeftovers } from '../transcripts/partial-files.ts';
import type { Saved } from '../transcripts/save.ts';
import { type RefreshedFile, type RefreshOptions, refreshMany } from './refresh.ts';

export interface Change {
  readonly id: string;
  readonly previousState: string;
  readonly state: string;
}

/** What is told as it happens: a change of state, or a transcript that is on disk. */
export interface SyncCallbacks {
  readonly report: Report;
  readonly onChecked: () => void;
  readonly onChange: (change: Change) => void;
  readonly onSaved: (saved: Saved) => void;
}

export interface SyncOptions {
  /** Where transcripts go; absent: nowhere, the ledger alone is brought up to date. */
  readonly folder: string | undefined;
  readonly formats: readonly string[];
  readonly template: string | undefined;
  readonly jobs: number;
  /** Also what the folder had and has no more, of files ordered or changed since then (ISO 8601; empty: all). */
  readonly missingSince: string | undefined;
  /** A command is to have what is downloaded; what it has not had is downloaded again where it is gone. */
  readonly forCommand: boolean;
}

export async function syncFiles(
  transport: Transport,
  ledger: Ledger,
  notes: LedgerNotes | undefined,
  options: SyncOptions,
  callbacks: SyncCallbacks,
): Promise<{ readonly refreshed: Tally; readonly downloaded: readonly Tally[] }> {
  const refreshed = await refreshOpen(
    transport,
    ledger.withShortLockWait(transport.signal),
    options.jobs,
    callbacks,
  );
  const { folder } = options;
  if (folder === undefined) return { refreshed, downloaded: [] };
  await removeLeftovers(folder, (path) => new Downloads(ledger).has(path));
  // A note that the ledger can't take may be lost; what a command is to have must not be.
  const kept = options.forCommand ? undefined : notes;
  return {
    refreshed,
    downloaded: await downloadNew(transport, ledger, kept, { ...options, folder }, callbacks),
  };
}

async function refreshOpen(
  transport: Transport,
  ledger: Ledger,
  jobs: number,
  { onChecked, onChange, report }: SyncCallbacks,
): Promise<Tally> {
  const changes = new InOrder(onChange);
  const ids = await new Files(ledger).toRefresh();
  const onDone: RefreshOptions['onDone'] = (at, refreshed) => {
    // Those that were broken off are not checked.
    if (refreshed || !transport.signal.aborted) onChecked();
    changes.add(at, refreshed && changeOf(refreshed));
  };
  try {
    return await refreshMany(transport, ledger, ids, { jobs, onDone, report });
  } finally {
    changes.flush();
  }
}

const changeOf = ({ file, previousState }: RefreshedFile): Change | undefined =>
  previousState === undefined ? undefined : { id: file.id, previousState, state: file.state };

/** One format after the other, because each may lack other files. */
async function downloadNew(
  transport: Transport,
  ledger: Ledger,
  notes: LedgerNotes | undefined,
  options: SyncOptions & { readonly folder: string },
  { onSaved, report }: SyncCallbacks,
): Promise<Tally[]> {
  const { folder, formats, template = DEFAULT_TEMPLATE, jobs, missingSince, forCommand } = options;
  const others = forCommand ? await new Downloads(ledger).waitingFormats(folder) : [];
  const tallies: Tally[] = [];
  for (const ext of new Set([...formats, ...others])) {
    const asked = formats.includes(ext) ? 'too' : 'only';
    const lookedFor = {
      isGone,
      since: missingSince,
      waiting: forCommand ? asked : undefined,
    } as const;
    const ids = await new Files(ledger).notDownloaded(ext, resolve(folder), lookedFor);
    report({ what: formats.length > 1 ? `Downloading ${ext}` : 'Downloading' });
    const selection = { ids, formats: [ext], test: false, deprecatedPath: false, delivered: true };
    const target = {
      ...{ folder, template, keepsNames: true, replacesDrafts: true, forCommand },
      ifExists: 'skip' as const,
    };
    const inOrder = new InOrder(onSaved);
    const onDone = (saved: Saved | undefined, at: number): void => inOrder.add(at, saved);
    const label = (id: string): string => `${id}.${ext}`;
    const saving = saveMany(selection, target, { transport, ledger, notes, jobs, onDone, report, label });
    tallies.push(await saving.finally(() => inOrder.flush()));
  }
  return tallies;
}

/** A link counts as there, wherever it leads: someone has put it in the place of a file. */
function isGone(path: string): boolean {
  try {
    return !lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A part of its path is a file now.
    return true;
  }
}
