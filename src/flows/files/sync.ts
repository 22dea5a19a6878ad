/** Brings the ledger up to date and fetches every transcript that is new. Safe to run at any rate, anywhere. */
import { resolve } from 'node:path';
import type { Transport } from '../../api/http/transport.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Outcome } from '../bulk.ts';
import { DEFAULT_TEMPLATE } from '../transcripts/downloads.ts';
import { saveTranscripts } from '../transcripts/fetch.ts';
import { removeLeftovers } from '../transcripts/partial-files.ts';
import type { Saved } from '../transcripts/save.ts';
import { followFiles } from './refresh.ts';

export interface Change {
  readonly id: string;
  readonly was: string;
  readonly state: string;
}

export interface Synced {
  readonly checked: number;
  readonly changed: readonly Change[];
  readonly downloaded: readonly Saved[];
  readonly outcomes: ReadonlyArray<Outcome<unknown>>;
}

export interface SyncOptions {
  readonly folder: string;
  readonly formats: readonly string[];
  readonly jobs: number;
}

export async function syncFiles(transport: Transport, ledger: Ledger, options: SyncOptions): Promise<Synced> {
  const looked = await followFiles(transport, ledger, ledger.files.open(), options.jobs);
  const changed = looked.flatMap(({ value }) =>
    value?.was === undefined ? [] : [{ id: value.file.id, was: value.was, state: value.file.state }],
  );
  await removeLeftovers(options.folder);
  const saved = await fetchNew(transport, ledger, options);
  const outcomes: Outcome<unknown>[] = [...looked, ...saved];
  const downloaded = saved.flatMap(({ value }) => (value && !value.skipped ? [value] : []));
  return { checked: looked.length, changed, downloaded, outcomes };
}

/** One format after the other, because each may lack other files. */
async function fetchNew(
  transport: Transport,
  ledger: Ledger,
  { folder, formats, jobs }: SyncOptions,
): Promise<Outcome<Saved>[]> {
  const all: Outcome<Saved>[] = [];
  for (const ext of formats) {
    const ids = ledger.files.delivered(ext, resolve(folder));
    const wanted = { ids, formats: [ext], test: false, deprecatedPath: false };
    const target = { folder, template: DEFAULT_TEMPLATE, ifExists: 'skip' as const };
    const outcomes = await saveTranscripts(transport, ledger, wanted, target, jobs);
    all.push(...outcomes.map((each) => ({ ...each, what: `${each.what}.${ext}` })));
  }
  return all;
}
