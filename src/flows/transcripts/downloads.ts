/** The one way from the service to a transcript on disk: a name that no other transcript has, the file, the ledger. */
import { join } from 'node:path';
import type { Transport } from '../../api/http/transport.ts';
import type { Written } from '../../ledger/downloads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerTables } from '../../ledger/ledger-tables.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { fileName, type NameParts, Names } from './name.ts';
import { type IfExists, type Saved, saveTranscript } from './save.ts';

export interface DownloadOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  /** Where the download counts even if the ledger fails: what is asked and written goes through this. */
  readonly notes?: LedgerNotes | undefined;
  readonly folder: string;
  readonly template?: string;
  readonly ifExists: IfExists;
  /** Whether a delivered transcript takes the place of our own draft of it, if that was not changed. */
  readonly replacesDrafts?: boolean;
  /** Fake transcripts, which are not noted in the ledger. */
  readonly test?: boolean;
  readonly deprecatedPath?: boolean;
}

/** One format of one transcript, and where it goes. */
export interface Destination {
  readonly id: string;
  readonly ext: string;
  readonly path: string;
  /** The service has said in this run that the file is delivered. */
  readonly delivered?: boolean | undefined;
}

export const DEFAULT_TEMPLATE = '{id}.{ext}';

export class TranscriptDownloads {
  readonly #options: DownloadOptions;
  readonly #names = new Names();
  readonly #running = new Map<string, Promise<Saved>>();
  /** Each file that was saved while the ledger failed: a later call for the same one notes it. */
  readonly #notNoted = new Map<string, Written>();

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  /** Gives a transcript a path that no other has, in this run or in the ledger; names that differ in case are equal. */
  async claim(parts: NameParts): Promise<Destination> {
    return { id: parts.id, ext: parts.ext, path: join(this.#options.folder, await this.#claimName(parts)) };
  }

  /** Downloads a transcript and notes it in the ledger. A file that was there already is not noted: it may be anything. */
  async save({ id, ext, path, delivered = false }: Destination): Promise<Saved> {
    const { transport, ifExists, replacesDrafts, test = false, deprecatedPath = false } = this.#options;
    const draft = await this.#ask((ledger) => ledger.downloads.draftAt(id, ext, path));
    const saved = await saveTranscript(transport, { id, ext, test, deprecatedPath }, path, {
      ifExists,
      replaceable: replacesDrafts && delivered ? draft : undefined,
      // Also where the ledger does not know the file: its state was not asked for.
      hashes: !delivered && !test && (await this.#ask((ledger) => ledger.files.isDelivered(id))) === false,
    });
    const written = saved.skipped ? this.#notNoted.get(path) : { bytes: saved.bytes, draft: saved.hash };
    if (!written) return { ...saved, ...(await this.#whatWasThere({ id, ext, path }, draft)) };
    if (!test) await this.#note({ id, ext, path }, written);
    return saved;
  }

  async #note({ id, ext, path }: Destination, written: Written): Promise<void> {
    const { ledger, notes } = this.#options;
    const note = (into: LedgerTables): Promise<void> => into.downloads.add(id, ext, path, written);
    if (notes) return void notes.add(`download ${path}`, note);
    if (!ledger) return;
    this.#notNoted.set(path, written);
    await note(ledger);
    this.#notNoted.delete(path);
  }

  /** What the ledger says, if there is one. */
  async #ask<Value>(question: (ledger: LedgerTables) => Promise<Value>): Promise<Value | undefined> {
    const { ledger, notes } = this.#options;
    return notes ? notes.read<Value | undefined>(question, undefined) : ledger && question(ledger);
  }

  async #whatWasThere({ id, ext, path }: Destination, draft: string | undefined): Promise<Partial<Saved>> {
    const isDraft = draft !== undefined;
    return {
      isDraft,
      unidentified: isDraft || !(await this.#ask((ledger) => ledger.downloads.isOf(id, ext, path))),
    };
  }

  /**
   * Claims and saves, for a listener that runs for months: its claims end with the download, because the ledger has the
   * name then. Calls for the same transcript at the same time share one download. The file must be delivered.
   */
  async fetch(id: string, ext: string): Promise<Saved> {
    const key = `${ext} ${id}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const saving = this.#claimAndSave(id, ext).finally(() => this.#running.delete(key));
    this.#running.set(key, saving);
    return saving;
  }

  async #claimAndSave(id: string, ext: string): Promise<Saved> {
    const name = await this.#claimName({ id, ext, title: '', order: '' });
    try {
      return await this.save({ id, ext, path: join(this.#options.folder, name), delivered: true });
    } finally {
      this.#names.release(name);
    }
  }

  #claimName(parts: NameParts): Promise<string> {
    const { folder, template = DEFAULT_TEMPLATE } = this.#options;
    const { id, ext } = parts;
    return this.#names.claim(
      fileName(template, parts),
      id,
      async (name) =>
        (await this.#ask((ledger) => ledger.downloads.isOfAnother(id, ext, join(folder, name)))) ?? false,
    );
  }
}
