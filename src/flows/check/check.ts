/** Checks transcripts on this disk, and remembers when. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Report } from '../../lib/progress.ts';
import { nowMs } from '../../lib/time.ts';
import { disk, writeFileAtomic } from '../../lib/whole-file.ts';
import type { TranscriptFile } from '../../transcripts/model.ts';
import { nextTurn, readTranscriptFile } from '../../transcripts/read.ts';
import { doEach, type Outcome } from '../bulk.ts';
import { mostPrecise, transcriptsOf, transcriptsOnDisk } from '../transcripts/on-disk.ts';
import type { CaptionRules } from './captions.ts';
import type { Judged } from './finding.ts';
import { findingsIn } from './findings.ts';

/** The work is all computing; more would only fill the memory. */
const FILES_AT_ONCE = 1;

/** What is to be looked at in a transcript. */
export interface Checked {
  readonly file: TranscriptFile;
  readonly found: readonly Judged[];
}

interface CheckOptions {
  readonly rules: CaptionRules | undefined;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** Of a file in several formats, the one with the most precise times. What can't be read has an error in its place. */
export async function checkGiven(
  ledger: Ledger | undefined,
  args: readonly string[],
  options: CheckOptions,
): Promise<Outcome<Checked>[]> {
  const given = await transcriptsOf(ledger, [...new Set(args)]);
  const files = new Map<string, TranscriptFile>();
  for (const { value } of given)
    for (const file of mostPrecise(value ?? []))
      if (!files.has(resolve(file.path))) files.set(resolve(file.path), file);
  const wrong = given.flatMap((each) => (each.error ? [each] : []));
  return [...(await checkFiles([...files.values()], options)), ...wrong];
}

/** All that was downloaded since then (milliseconds). */
export async function checkNew(
  ledger: Ledger,
  since: number | undefined,
  options: CheckOptions,
): Promise<Outcome<Checked>[]> {
  const files: TranscriptFile[] = [];
  for await (const page of transcriptsOnDisk(ledger, { since })) files.push(...mostPrecise(page));
  return checkFiles(files, options);
}

const checkFiles = (
  files: readonly TranscriptFile[],
  { rules, signal, report }: CheckOptions,
): Promise<Outcome<Checked>[]> =>
  doEach(
    files,
    FILES_AT_ONCE,
    ({ path }) => path,
    async (file) => {
      const text = await readTranscriptFile(file, signal);
      return { file, found: await findingsIn(text, file, { rules, nextTurn: () => nextTurn(signal) }) };
    },
    report,
  );

/**
 * When this machine last checked all new transcripts of each profile. Not in the ledger, which others may share: it is
 * about files of this disk. One that can't be read is as none: more is checked again.
 */
export class LastCheck {
  readonly begunAt = nowMs();
  readonly #path: string;
  readonly #profile: string;

  constructor(stateFolder: string, profile: string) {
    this.#path = join(stateFolder, 'last-check.json');
    this.#profile = profile;
  }

  /** In milliseconds. */
  get at(): number | undefined {
    const at = Date.parse(this.#all()[this.#profile] ?? '');
    return Number.isNaN(at) ? undefined : at;
  }

  /** This check was the last one. */
  async keep(): Promise<void> {
    const all = { ...this.#all(), [this.#profile]: new Date(this.begunAt).toISOString() };
    await writeFileAtomic(this.#path, (write) => write(Buffer.from(`${JSON.stringify(all)}\n`)), {
      mode: 0o600,
      name: (draft) => disk.rename(draft, this.#path),
    });
  }

  #all(): Readonly<Record<string, string>> {
    try {
      const all: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      const entries = typeof all === 'object' && all !== null ? Object.entries(all) : [];
      return Object.fromEntries(entries.filter(([, at]) => typeof at === 'string'));
    } catch {
      return {};
    }
  }
}
