/** Brings the ledger up to date and downloads every transcript that is new. */
import { resolve } from 'node:path';
import type { Transport } from '../../api/http/transport.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Outcome, values } from '../bulk.ts';
import { DEFAULT_TEMPLATE } from '../transcripts/downloads.ts';
import { saveTranscripts } from '../transcripts/fetch.ts';
import { removeLeftovers } from '../transcripts/partial-files.ts';
import type { Saved } from '../transcripts/save.ts';
import { refreshFiles } from './refresh.ts';

export interface Change {
  readonly id: string;
  readonly previousState: string;
  readonly state: string;
}

export interface Synced {
  readonly checked: number;
  readonly changed: readonly Change[];
  readonly downloaded: readonly Saved[];
  /** Drafts that were changed since we wrote them, so that the transcript was not put in their place. */
  readonly keptDrafts: readonly Saved[];
  readonly outcomes: ReadonlyArray<Outcome<unknown>>;
}

export interface SyncOptions {
  readonly folder: string;
  readonly formats: readonly string[];
  readonly jobs: number;
}

export async function syncFiles(transport: Transport, ledger: Ledger, options: SyncOptions): Promise<Synced> {
  const refreshed = await refreshFiles(transport, ledger, ledger.files.open(), options.jobs);
  const changed = values(refreshed).flatMap(({ file: { id, state }, previousState }) =>
    previousState === undefined ? [] : [{ id, previousState, state }],
  );
  await removeLeftovers(options.folder);
  const saved = await downloadNew(transport, ledger, options);
  const downloaded = values(saved).filter(({ skipped }) => !skipped);
  const keptDrafts = values(saved).filter(({ isDraft }) => isDraft);
  return { checked: refreshed.length, changed, downloaded, keptDrafts, outcomes: [...refreshed, ...saved] };
}

/** One format after the other, because each may lack other files. */
async function downloadNew(
  transport: Transport,
  ledger: Ledger,
  { folder, formats, jobs }: SyncOptions,
): Promise<Outcome<Saved>[]> {
  let all: Outcome<Saved>[] = [];
  for (const ext of formats) {
    const ids = ledger.files.notDownloaded(ext, resolve(folder));
    const selection = { ids, formats: [ext], test: false, deprecatedPath: false, delivered: true };
    const target = { folder, template: DEFAULT_TEMPLATE, ifExists: 'skip' as const, replacesDrafts: true };
    const outcomes = await saveTranscripts(selection, target, { transport, ledger, jobs });
    all = all.concat(outcomes.map((each) => ({ ...each, what: `${each.what}.${ext}` })));
  }
  return all;
}
