/**
 * Runs the command of `sync --exec` for each transcript that waits for it, as `listen --exec` does for an event. What
 * waits stands in `downloads` until the command exits 0; who runs it is a leader task, which ends with its process.
 */

import { existsSync } from 'node:fs';
import { doMany, type Tally } from '../flows/bulk.ts';
import type { TakenTranscript, WaitingTranscript } from '../ledger/downloads.ts';
import { Downloads } from '../ledger/downloads.ts';
import type { FileRow } from '../ledger/files.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { audioRowOf, detailsOf } from '../ledger/purchase.ts';
import { HEARTBEAT_INTERVAL_MS, Runs } from '../ledger/runs.ts';
import { StenoError } from '../lib/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Report } from '../lib/progress.ts';
import { repeat } from './background.ts';
import { ReceivedEvent } from './event.ts';
import { type ExecOptions, runCommand } from './exec.ts';
import { eventRow, foundEvent } from './recorder.ts';

export interface HandOverOptions {
  readonly ledger: Ledger;
  readonly folder: string;
  readonly exec: ExecOptions;
  readonly signal: AbortSignal;
  readonly report: Report;
  /** Told of each: its command exited 0, or another `sync` has it. */
  readonly onHandedOver: (byUs: boolean) => void;
}

const PAGE = 1_000;

/** Gives which failed; those wait for the next `sync`. */
export async function handOver(options: HandOverOptions): Promise<Tally[]> {
  const { ledger, folder, exec, report, onHandedOver } = options;
  const tallies: Tally[] = [];
  const lease = new RunLease(ledger);
  try {
    for (const ext of await new Downloads(ledger).waitingFormats(folder))
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page: WaitingTranscript[] = await new Downloads(ledger).waiting(folder, ext, after, PAGE);
        after = page.length < PAGE ? undefined : page.at(-1)?.file;
        // One that is gone could not be downloaded again, which is told already.
        const there = page.filter(({ path }) => existsSync(path));
        if (there.length === 0) continue;
        const run = await lease.run();
        report({ what: 'Running the command' });
        const name = (at: number): string => `${there[at]?.file}.${ext}`;
        const work = async (at: number): Promise<void> =>
          onHandedOver(await handOverOne(there[at] as WaitingTranscript, run, options));
        tallies.push(await doMany({ count: there.length, concurrency: exec.jobs, name, work, report }));
      }
  } finally {
    await lease.end();
  }
  return tallies;
}

/** False where another `sync` has it, or had it meanwhile. */
async function handOverOne(
  waiting: WaitingTranscript,
  run: number,
  { ledger, exec, signal }: HandOverOptions,
): Promise<boolean> {
  const { file, ext, folder } = waiting;
  const task = `hand over ${JSON.stringify([ledger.profile, file, ext, folder])}`;
  const taken = await ledger.transaction(async (tables) => {
    if (!(await new Runs(tables).takeTask(task, run))) return undefined;
    const found = await new Downloads(tables).take(waiting);
    if (!found) await new Runs(tables).leaveTask(task, run);
    return found;
  });
  if (!taken) return false;
  let isDone = false;
  try {
    const row = await new Files(ledger).get(file);
    const { end, text } = await runCommand(
      new TranscriptEvent(waiting, taken, row),
      taken.tries,
      exec,
      signal,
    );
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    if (end !== 'done') throw new StenoError('failed', `the command for file ${file} failed: ${text}`);
    isDone = true;
  } finally {
    await ledger.transaction(async (tables) => {
      if (isDone) await new Downloads(tables).setHandedOver(waiting, taken);
      await new Runs(tables).leaveTask(task, run);
    });
  }
  return true;
}

/** What a command is given of a transcript: the event that would have told of it, and where it is. */
class TranscriptEvent extends ReceivedEvent {
  override readonly path: string;
  override readonly format: string;

  constructor({ file, ext }: WaitingTranscript, { path }: TakenTranscript, row: FileRow | undefined) {
    const { order_id = '', url = '', title = '', key = '' } = row ?? {};
    const found = foundEvent({ id: file, order_id, url });
    super({ ...eventRow(0, found), ...audioRowOf(detailsOf(row), String), title, key });
    this.path = path;
    this.format = ext;
  }

  override get json(): JsonObject {
    return super.json.set('format', this.format).set('path', this.path);
  }
}

/** This process in the ledger, from the first transcript on: others see whether it is alive. */
class RunLease {
  readonly #ledger: Ledger;
  readonly #end = new AbortController();
  #run: number | undefined;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async run(): Promise<number> {
    if (this.#run === undefined) {
      this.#run = await new Runs(this.#ledger).begin();
      // On a shared ledger this writes the end of those that are silent.
      await new Runs(this.#ledger).gone(this.#run);
      void repeat(HEARTBEAT_INTERVAL_MS, this.#end.signal, () => this.#beat());
    }
    return this.#run;
  }

  /** After the lease was lost it begins anew; a ledger that can't be reached for a moment gets the next heartbeat. */
  async #beat(): Promise<void> {
    const runs = new Runs(this.#ledger);
    try {
      if (this.#run !== undefined && !(await runs.heartbeat(this.#run))) this.#run = await runs.begin();
    } catch {}
  }

  /** Where that fails, others see that the process is gone. */
  async end(): Promise<void> {
    this.#end.abort();
    if (this.#run !== undefined) await new Runs(this.#ledger).end(this.#run).catch(() => {});
  }
}
