/** The journals of all listeners of a state folder, as every process sees them. */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage, StenoError } from '../../lib/errors.ts';
import { accountName } from '../../lib/names.ts';
import { holdsLease, isSilent } from '../lease.ts';
import { leftName, parseJournalName } from './journal-file.ts';
import { type Arrival, type JournalHead, type JournalRecord, MAX_RECORD_BYTES, scan } from './record.ts';

/** A journal whose listener is gone. */
export interface LeftJournal {
  readonly path: string;
  readonly marker: Buffer;
  /** Undefined where the beginning of the file is damaged. */
  readonly head: JournalHead | undefined;
}

interface ListedJournal {
  readonly path: string;
  readonly marker: Buffer;
  /** Another process has taken it over before. */
  readonly isLeft: boolean;
}

/**
 * Bytes in which no record checks out. At the end of a file they are zeros that were written ahead, or what a crash left
 * of the last write.
 */
export interface Gap {
  readonly kind: 'gap';
  readonly start: number;
  readonly end: number;
  readonly isTail: boolean;
}

/** Holds more than one record, so that each is whole in one of the reads. */
const READ_BYTES = 2 * MAX_RECORD_BYTES;

type OnWarning = (text: string, hint: string) => void;

export class JournalFolder {
  readonly path: string;
  readonly profile: string;
  readonly #onWarning: OnWarning;
  readonly #warnedOf = new Set<string>();

  constructor(path: string, profile: string, onWarning: OnWarning = () => {}) {
    this.path = path;
    this.profile = accountName(profile);
    this.#onWarning = onWarning;
  }

  /** Every delivery of this profile that is in a journal, of listeners that run or ran, in no order. */
  *arrivals(): Generator<Arrival> {
    for (const journal of this.#list()) yield* this.#arrivalsOf(journal);
  }

  *#arrivalsOf({ path, marker }: ListedJournal): Generator<Arrival> {
    try {
      for (const record of readJournal(path, marker))
        if (record.kind === 'arrival' && record.arrival.profile === this.profile) yield record.arrival;
    } catch (error) {
      this.#warnOf(path, error);
    }
  }

  /**
   * Takes over the journals of this profile whose listeners are gone. They get another name before they are read:
   * should a listener be there after all, it finds its file gone, and writes what it has not answered into a new one.
   */
  takeOver(): LeftJournal[] {
    return this.#list().flatMap((journal) => {
      try {
        return this.#tryTakeOver(journal) ?? [];
      } catch (error) {
        this.#warnOf(journal.path, error);
        return [];
      }
    });
  }

  #tryTakeOver(journal: ListedJournal): LeftJournal | undefined {
    const { path, marker, isLeft } = journal;
    const { head, profile, seenAt } = inspect(journal);
    const isTheirs = profile !== undefined && profile !== this.profile;
    if (seenAt === undefined || isTheirs || (!isLeft && isOwned(head, seenAt))) return undefined;
    const taken = isLeft ? path : leftName(path);
    return isLeft || tryRename(path, taken) ? { path: taken, marker, head } : undefined;
  }

  /** One that can't be used must not hold up the others. */
  #warnOf(path: string, error: unknown): void {
    if (this.#warnedOf.has(path)) return;
    this.#warnedOf.add(path);
    this.#onWarning(
      `events may wait in ${path}, which can't be used: ${errorMessage(error)}`,
      'make it a file that you may read and write, or move it out of that folder',
    );
  }

  /** Deletes what listeners that are gone have left. */
  removeLeft(): void {
    for (const { path } of this.takeOver()) rmSync(path, { force: true });
  }

  #list(): ListedJournal[] {
    return namesIn(this.path).flatMap((name) => {
      const parsed = parseJournalName(name);
      return parsed ? [{ path: join(this.path, name), ...parsed }] : [];
    });
  }
}

/** All records and gaps of a file, which may be written to meanwhile; none if it is gone. */
export function* readJournal(path: string, marker: Buffer): Generator<JournalRecord | Gap> {
  const file = tryOpen(path);
  if (file === undefined) return;
  try {
    let end = 0;
    for (const record of recordsOf(file, marker)) {
      if (record.start > end) yield { kind: 'gap', start: end, end: record.start, isTail: false };
      yield record;
      end = record.end;
    }
    const { size } = fstatSync(file);
    if (size > end) yield { kind: 'gap', start: end, end: size, isTail: true };
  } finally {
    closeSync(file);
  }
}

function* recordsOf(file: number, marker: Buffer): Generator<JournalRecord> {
  for (let at = 0; ; ) {
    const bytes = readAt(file, at);
    const isEnd = bytes.length < READ_BYTES;
    const records = scan(bytes, marker, isEnd);
    let next = records.next();
    for (; !next.done; next = records.next())
      yield { ...next.value, start: next.value.start + at, end: next.value.end + at };
    if (isEnd) return;
    at += next.value;
  }
}

/** Less than asked for only at the end of the file. */
function readAt(file: number, start: number): Buffer {
  const bytes = Buffer.allocUnsafe(READ_BYTES);
  let at = 0;
  for (let read = -1; at < READ_BYTES && read !== 0; at += read)
    read = readSync(file, bytes, at, READ_BYTES - at, start + at);
  return bytes.subarray(0, at);
}

interface Inspected {
  readonly head?: JournalHead;
  /** Undefined where no record is whole. */
  readonly profile?: string;
  /** When its listener last wrote or touched it; undefined if the file is gone. */
  readonly seenAt?: Date;
}

function inspect({ path, marker }: ListedJournal): Inspected {
  const file = tryOpen(path);
  if (file === undefined) return {};
  const seenAt = fstatSync(file).mtime;
  closeSync(file);
  for (const record of readJournal(path, marker)) {
    if (record.kind === 'head') return { head: record.head, profile: record.head.profile, seenAt };
    if (record.kind === 'arrival') return { profile: record.arrival.profile, seenAt };
  }
  return { seenAt };
}

/** Two ticks of a listener, in each of which it touches its files. */
const MAX_UNKNOWN_SILENCE_MS = 10_000;

/**
 * Where it can't be told whose it is, time tells. A listener that is there and silent (stopped by Ctrl-Z) loses nothing
 * when its file is taken over, so that its events need not wait for it.
 */
function isOwned(head: JournalHead | undefined, mtime: Date): boolean {
  const seenAt = mtime.toISOString();
  if (!head) return !isSilent(seenAt, MAX_UNKNOWN_SILENCE_MS);
  return !isSilent(seenAt) && holdsLease({ ...head.owner, seenAt });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}

function tryOpen(path: string): number | undefined {
  try {
    // Opening a pipe may wait for ever.
    if (!lstatSync(path).isFile()) throw new StenoError('failed', 'it is no regular file');
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** False if another process was faster. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
