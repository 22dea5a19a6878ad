/** Downloads the transcript of each file that is complete, as `sync` and `wait` do. */

import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { getBalance } from '../api/account.ts';
import type { Transport } from '../api/http/transport.ts';
import { findFileState } from '../catalog/states.ts';
import { refreshFile } from '../flows/files/refresh.ts';
import { TranscriptDownloads } from '../flows/transcripts/downloads.ts';
import { partialPath } from '../flows/transcripts/partial-files.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { DiskError, errorMessage, StenoError, systemReason } from '../lib/errors.ts';
import { makeFolder } from '../lib/fs.ts';
import { monotonicMs } from '../lib/time.ts';
import { leaveDiskToPool, onDisk } from '../lib/whole-file.ts';
import { type Action, fileRetries, type Outcome, unknownFileRetries } from './action.ts';
import type { ReceivedEvent } from './event.ts';

// Tells trouble with one file from trouble with the service: asks it something that names no file.

/** How long an answer holds: any number of events may ask. */
const VALID_MS = 10_000;

export class ServiceCheck {
  readonly #transport: Transport;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #latest: Promise<StenoError | undefined> = Promise.resolve(undefined);

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A call about a file has worked, so the service and the key do. */
  noteSuccess(): void {
    this.#keep(Promise.resolve(undefined));
  }

  /** After an error about a file: what is wrong with the service or the key; undefined: it is about this file alone. */
  async troubleBehind(error: unknown): Promise<StenoError | undefined> {
    if (!(error instanceof StenoError) || !mayConcernAll(error)) return undefined;
    if (monotonicMs() >= this.#validUntilMs) this.#keep(this.#ask());
    return this.#latest;
  }

  #keep(answer: Promise<StenoError | undefined>): void {
    this.#latest = answer;
    this.#validUntilMs = monotonicMs() + VALID_MS;
  }

  async #ask(): Promise<StenoError | undefined> {
    try {
      await getBalance(this.#transport);
    } catch (error) {
      if (error instanceof StenoError && mayConcernAll(error)) {
        // The next event asks again: it may be over by then.
        this.#validUntilMs = Number.NEGATIVE_INFINITY;
        return error;
      }
    }
    return undefined;
  }
}

const mayConcernAll = ({ kind, status = 0 }: StenoError): boolean =>
  kind === 'network' || kind === 'timeout' || kind === 'auth' || status === 429 || status >= 500;

const JOBS = 4;

export function downloadAction(
  transport: Transport,
  ledger: Ledger,
  folder: string,
  formats: readonly string[],
  template: string | undefined,
): Action {
  // This thread answers deliveries.
  leaveDiskToPool();
  const downloads = new TranscriptDownloads({
    ...{ transport, ledger, folder, template, keepsNames: true },
    ifExists: 'skip',
  });
  // Not waited for: a shared ledger may not be reachable yet. A download waits for it, and tries it again.
  void downloads.clean(folder).catch(() => {});
  const check = new ServiceCheck(transport);
  const place = new FolderCheck(folder);
  const download = async ({ audiofile, source }: ReceivedEvent): Promise<Outcome> => {
    const refusal = await place.knownTrouble();
    if (refusal) return refusal;
    try {
      // A found event comes from the service's own answer; a delivery may be forged, or come before its time.
      if (source !== 'found') await requireDelivered(transport, ledger, audiofile);
      const saved: Saved[] = [];
      for (const ext of formats) saved.push(await downloads.fetch(audiofile, ext));
      if (saved.some(({ skipped }) => !skipped)) check.noteSuccess();
      return {
        end: 'done',
        text: saved.map(describe).join(', '),
        saved: saved.flatMap(({ path, unidentified }) => (unidentified ? [] : [path])),
      };
    } catch (error) {
      const trouble = await check.troubleBehind(error);
      if (trouble) return { end: 'down', text: errorMessage(trouble) };
      return (error instanceof DiskError && (await place.trouble())) || outcomeOf(error);
    }
  };
  return {
    kind: 'download',
    target: `${resolve(folder)} ${formats.join(',')}`,
    jobs: JOBS,
    retriedByNext: true,
    retries: (isUnknown) => (isUnknown ? unknownFileRetries : fileRetries),
    perFile: true,
    events: ['TRANSCRIPT_COMPLETE'],
    run: (event, { signal }) => unlessAborted(download(event), signal),
    close: () => transport.close(),
  };
}

/** A disk that hangs must not hold up the end; what it finishes after all is found by the next listener. */
function unlessAborted(work: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve({ end: 'retry', text: 'interrupted' });
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    void work.finally(() => signal.removeEventListener('abort', onAbort)).then(resolve, reject);
  });
}

/** The service gives a draft as long as it works on a file: only its state tells. */
async function requireDelivered(transport: Transport, ledger: Ledger, id: string): Promise<void> {
  if (await new Files(ledger).isDelivered(id)) return;
  const { state } = (await refreshFile(transport, ledger, id)).file;
  const end = findFileState(state)?.end;
  if (end === 'unfinished')
    throw new StenoError('unfinished', `ended as '${state}', so there will be no transcript`);
  if (end !== 'delivered') throw new StenoError('failed', `still '${state}': no transcript was saved`);
  if ((await new Files(ledger).awaitingRework([id])).has(id))
    throw new StenoError('failed', 'not delivered again since its upgrade: no transcript was saved');
}

const describe = ({ path, unidentified }: Saved): string =>
  unidentified ? `${path} (already exists, left unchanged)` : path;

/** Of an error that is about this file alone. */
function outcomeOf(error: unknown): Outcome {
  const kind = error instanceof StenoError ? error.kind : 'failed';
  const isFinal = kind === 'usage' || kind === 'unfinished';
  return { end: isFinal ? 'failed' : 'retry', text: textOf(error) };
}

/** The key works for other calls, so that it is not what is wrong here. */
const textOf = (error: unknown): string =>
  error instanceof StenoError && error.kind === 'auth'
    ? `the service refuses this file (HTTP ${error.status})`
    : errorMessage(error);

/** More than most transcripts take. */
const PROBE_BYTES = 65_536;

/** Tells trouble with one file from a folder that takes none: a full disk, one that can only be read. */
class FolderCheck {
  readonly #folder: string;
  #isTroubled = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Asked before a download: as long as the folder takes nothing, no transcript is fetched in vain. */
  async knownTrouble(): Promise<Outcome | undefined> {
    return this.#isTroubled ? this.trouble() : undefined;
  }

  async trouble(): Promise<Outcome | undefined> {
    const probe = partialPath(join(this.#folder, 'probe'));
    try {
      await onDisk(async () => {
        makeFolder(this.#folder);
        await writeFile(probe, Buffer.alloc(PROBE_BYTES), { flag: 'wx', mode: 0o600 });
      });
      this.#isTroubled = false;
      return undefined;
    } catch (error) {
      this.#isTroubled = true;
      const text =
        error instanceof DiskError ? error.message : `can't write to ${this.#folder}: ${systemReason(error)}`;
      return { end: 'down', text };
    } finally {
      await onDisk(() => rm(probe, { force: true })).catch(() => {});
    }
  }
}
