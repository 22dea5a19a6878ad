/** The one way from the service to a transcript on disk: a name that no other transcript has, the file, the ledger. */
import { join } from 'node:path';
import type { Transport } from '../../api/http/transport.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { fileName, type NameParts, Names } from './name.ts';
import { type IfExists, type Saved, saveTranscript } from './save.ts';

export interface DownloadOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  readonly folder: string;
  readonly template?: string;
  readonly ifExists: IfExists;
  /** Fake transcripts, which are not noted in the ledger. */
  readonly test?: boolean;
  readonly deprecatedPath?: boolean;
}

/** One format of one transcript, and where it goes. */
export interface Destination {
  readonly id: string;
  readonly ext: string;
  readonly path: string;
}

export const DEFAULT_TEMPLATE = '{id}.{ext}';

export class TranscriptDownloads {
  readonly #options: DownloadOptions;
  readonly #names = new Names();
  readonly #running = new Map<string, Promise<Saved>>();
  /** The size of each file that was saved while the ledger failed: a later call for the same one notes it. */
  readonly #notNoted = new Map<string, number>();

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  /** Gives a transcript a path that no other has, in this run or in the ledger; names that differ in case are equal. */
  claim(parts: NameParts): Destination {
    return { id: parts.id, ext: parts.ext, path: join(this.#options.folder, this.#claimName(parts)) };
  }

  /** Downloads a transcript and notes it in the ledger. A file that was there already is not noted: it may be anything. */
  async save({ id, ext, path }: Destination): Promise<Saved> {
    const { transport, ledger, ifExists, test = false, deprecatedPath = false } = this.#options;
    const saved = await saveTranscript(transport, { id, ext, test, deprecatedPath }, path, ifExists);
    const bytes = saved.skipped ? this.#notNoted.get(path) : saved.bytes;
    if (bytes === undefined) return { ...saved, unidentified: !ledger?.downloads.isOf(id, ext, path) };
    if (!test && ledger) {
      this.#notNoted.set(path, bytes);
      ledger.downloads.add(id, ext, path, bytes);
      this.#notNoted.delete(path);
    }
    return saved;
  }

  /**
   * Claims and saves, for a listener that runs for months: its claims end with the download, because the ledger has the
   * name then. Calls for the same transcript at the same time share one download.
   */
  async fetch(id: string, ext: string): Promise<Saved> {
    const key = `${ext} ${id}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const name = this.#claimName({ id, ext, title: '', order: '' });
    const saving = this.save({ id, ext, path: join(this.#options.folder, name) }).finally(() => {
      this.#names.release(name);
      this.#running.delete(key);
    });
    this.#running.set(key, saving);
    return saving;
  }

  #claimName(parts: NameParts): string {
    const { ledger, folder, template = DEFAULT_TEMPLATE } = this.#options;
    const { id, ext } = parts;
    return this.#names.claim(
      fileName(template, parts),
      id,
      (name) => ledger?.downloads.isOfAnother(id, ext, join(folder, name)) ?? false,
    );
  }
}
