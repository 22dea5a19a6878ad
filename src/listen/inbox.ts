/**
 * Keeps each delivery in the journal before its sender gets an answer, and has it moved into the ledger, with the
 * actions that it asks for.
 */

import type { EventRow } from '../ledger/events.ts';
import type { MissedFile } from '../ledger/expected-events.ts';
import { Journal } from '../ledger/journal/journal.ts';
import type { JournalFolder } from '../ledger/journal/journal-folder.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nowMs } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { countStreamedBytes } from '../lib/memory.ts';
import { thisProcess } from '../lib/processes.ts';
import { plural } from '../lib/text.ts';
import { ArrivalWriter } from './arrival-writer.ts';
import { cleanDelivery } from './clean-delivery.ts';
import { completeForm, ReceivedEvent } from './event.ts';
import { type GroupCommit, reopeningCommits } from './group-commit.ts';
import { movedNote, moveLeftJournals } from './left-journals.ts';
import { Mover } from './mover.ts';
import { parseForm } from './parse.ts';
import { RawBodies } from './raw-bodies.ts';
import { eventRow, Recorder, type RecorderRules } from './recorder.ts';
import type { Delivery } from './server.ts';
import type { OnError } from './timers.ts';
import { BACK_TEXT, type LedgerWatch, waitingText } from './warnings.ts';

interface InboxOptions {
  readonly ledger: Ledger;
  readonly journals: JournalFolder;
  readonly rules: RecorderRules;
  /** Whether the ledger knows of this session; else `begin` comes first, as in one that was put in its place. */
  readonly isBegun: boolean;
  readonly begin: () => Promise<void>;
  readonly watch: LedgerWatch;
  /** Masks the key. */
  readonly hide: (text: string) => string;
  /** The event is in the ledger, and has its number. */
  readonly onEvent: (event: ReceivedEvent) => void;
  /** A delivery could not be kept: its event has no number, and the service does not send it again. */
  readonly onLost: (error: unknown, event: ReceivedEvent) => void;
  readonly onNote: (text: string) => void;
  readonly onWarning: (text: string, hint?: string) => void;
  readonly onError: OnError;
}

interface ExpectedTest {
  readonly type: string;
  readonly arrived: () => void;
}

export class Inbox {
  /** Every write of the session to the ledger goes through it. */
  readonly commits: GroupCommit;
  readonly rawBodies: RawBodies;
  readonly journal: Journal;
  readonly #options: InboxOptions;
  readonly #recorder: Recorder;
  readonly #mover: Mover;
  #expected: ExpectedTest | undefined;
  /** Nothing else says it. */
  #saysWhenOver = false;

  /** Throws if the journal can't be written. */
  constructor(options: InboxOptions) {
    const { journals, rules } = options;
    const { actions, only } = rules;
    this.#options = options;
    this.rawBodies = new RawBodies(actions.filter(({ kind }) => kind === 'forward').length);
    this.commits = reopeningCommits({ ...options, onCommitted: () => options.watch.noteSuccess() });
    const recorder = new Recorder(rules);
    this.#recorder = recorder;
    const rulesToKeep = actions.map(({ kind, target, sources, events }) => ({
      kind,
      target,
      sources,
      ...(events && { events }),
    }));
    this.journal = new Journal({
      folder: journals.path,
      head: { profile: journals.profile, owner: thisProcess(), actions: rulesToKeep, only },
      onKept: (batch) => this.#mover.add(batch),
    });
    const expectsTest = (): boolean => this.#expected !== undefined;
    const writer = new ArrivalWriter({ commits: this.commits, recorder, expectsTest });
    this.#mover = new Mover(this.journal, writer, {
      onMoved: (rows) => this.#addEvents(rows),
      onTrouble: (error) => this.#noteTrouble(error),
      onTroubleOver: () => this.#noteTroubleOver(),
      onRefused: (count) =>
        options.onWarning(waitingText(`${count} of them can't be written; the next listen tries again`)),
      onError: options.onError,
    });
  }

  /** Calls back when the delivery is on disk, or with the error if it can't be kept. */
  keep(received: Delivery, done: (error?: unknown) => void): void {
    const { kept, forwarded } = cleanDelivery(received, this.#options.hide);
    // Of a large body, cleaning leaves copies behind.
    countStreamedBytes(2 * received.body.length);
    const id = this.journal.append(kept, this.#mayBeTest(kept), (error) => {
      done(error);
      if (error !== undefined) this.#lose(id, kept, error);
    });
    if (forwarded) this.rawBodies.set(id, forwarded);
  }

  #lose(id: string, delivery: Delivery, error: unknown): void {
    this.rawBodies.delete(id);
    const row = eventRow(0, { source: 'received', delivery, parsed: parseForm(delivery.body) });
    this.#options.onLost(error, new ReceivedEvent(row));
  }

  /** Whether it is one needs the ledger, which may not work now. */
  #mayBeTest({ body }: Delivery): boolean {
    return this.#expected !== undefined && parseForm(body).event === this.#expected.type;
  }

  #noteTrouble(error: unknown): void {
    const { watch, onWarning } = this.#options;
    this.#saysWhenOver = !watch.noteFailure(error);
    if (this.#saysWhenOver) onWarning(waitingText(errorMessage(error)));
  }

  #noteTroubleOver(): void {
    if (this.#saysWhenOver) this.#options.onNote(BACK_TEXT);
  }

  /** Moves what listeners that are gone have left into the ledger; gives the number of events. */
  async moveLeft(signal: AbortSignal): Promise<number> {
    const { ledger, journals, onNote, onWarning } = this.#options;
    const { commits } = this;
    const moved = await moveLeftJournals({ ledger, commits, journals, signal, onWarning });
    if (moved > 0) onNote(movedNote(moved));
    return moved;
  }

  /** Moves what is kept into the ledger, and says where that stays which can't be moved. */
  async close(): Promise<void> {
    await this.journal.settled();
    await this.#mover.finish();
    const left = this.journal.close();
    if (left.length === 0) return;
    this.#options.onWarning(
      `${plural(this.#mover.pending, 'event')} not in the ledger yet: kept in ${left.join(', ')}`,
      'the next steno listen or steno sync moves them there',
    );
  }

  #addEvents(rows: readonly EventRow[]): void {
    for (const row of rows) {
      if (row.source === 'test') {
        this.#expected?.arrived();
        this.#expected = undefined;
      }
      this.#options.onEvent(new ReceivedEvent(row));
    }
  }

  /** Keeps an event for a file that is delivered though no event came; undefined if one came after all. */
  async addFound(file: MissedFile): Promise<ReceivedEvent | undefined> {
    // Its delivery may be among those that are on their way.
    if (this.#mover.pending > 0) return undefined;
    const body = completeForm(file);
    const delivery = { body, contentType: '', receivedAt: new Date(nowMs()).toISOString(), remote: '' };
    const newEvent = { source: 'found' as const, delivery, parsed: parseForm(body) };
    const row = await this.commits.add(async (tables) => {
      await tables.events.lock();
      if (!(await tables.expectedEvents.stopExpecting(file.id))) return undefined;
      return (await this.#recorder.write(tables, [newEvent]))[0];
    });
    return row && new ReceivedEvent(row);
  }

  /** Resolves when the test delivery that was asked for is in the ledger; it leads to no action. */
  expectTest(type: string): Promise<void> {
    return new Promise((arrived) => {
      this.#expected = { type, arrived };
    });
  }
}
