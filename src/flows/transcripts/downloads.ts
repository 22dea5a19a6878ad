/** The one way from the service to a transcript on disk: a name that no other transcript has, the file, the ledger. */
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type AudioFile, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { Downloads, type NotedCopy, type Written } from '../../ledger/downloads.ts';
import { type FileRow, Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { audioTitle, detailsOf } from '../../ledger/purchase.ts';
import type { TableContext } from '../../ledger/table.ts';
import { cutSignatures } from '../../lib/signatures.ts';
import { disk, onDisk } from '../../lib/whole-file.ts';
import { keepAnswer } from '../answer.ts';
import {
  asksDetails,
  asksService,
  DEFAULT_TEMPLATE,
  fileName,
  type NameParts,
  Names,
  numberedPath,
  placeOf,
} from './name.ts';
import { removeLeftovers, secondNames } from './partial-files.ts';
import {
  hasHash,
  type IfExists,
  isTranscript,
  type OnBytes,
  type Saved,
  type SaveOptions,
  savedAt,
  saveTranscript,
} from './save.ts';

export interface DownloadOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  /** Where the download counts even if the ledger fails: what is asked and written goes through this. */
  readonly notes?: LedgerNotes | undefined;
  readonly folder: string;
  readonly template?: string | undefined;
  /** The folder is one of --download: what it has, under whatever name, is left as it is. */
  readonly keepsNames?: boolean;
  readonly ifExists: IfExists;
  /** Whether a delivered transcript takes the place of our own draft of it, if that was not changed. */
  readonly replacesDrafts?: boolean;
  /** What is saved waits for the command of `sync --exec`: noted with the transcript, so that no crash loses it. */
  readonly forCommand?: boolean;
  /** Fake transcripts, which are not noted in the ledger. */
  readonly test?: boolean;
  readonly deprecatedPath?: boolean;
  readonly onBytes?: OnBytes | undefined;
}

/** One format of one transcript, and where it goes. */
export interface Destination {
  readonly id: string;
  readonly ext: string;
  readonly path: string;
  /** The service has said in this run that the file is delivered. */
  readonly delivered?: boolean | undefined;
}

/** What a transcript is named after. */
export interface Named {
  readonly id: string;
  readonly ext: string;
  /** What the service has just said of its file. */
  readonly file?: Pick<AudioFile, 'title' | 'orders'> | undefined;
}

export class TranscriptDownloads {
  readonly #options: DownloadOptions;
  readonly #names = new Names();
  readonly #cleaned = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Promise<Saved>>();
  /** Files that were there before and are known to be their transcripts, without a ledger. */
  readonly #identified = new Set<string>();

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  /**
   * Downloads a transcript and notes it in the ledger. Of one that a killed run may have left there, the text tells what
   * it is; anything else that was there is left as it is.
   */
  async save(
    { id, ext, path, delivered = false }: Destination,
    onAnswered?: SaveOptions['onAnswered'],
  ): Promise<Saved> {
    const { transport, ledger, ifExists, test = false, deprecatedPath = false, onBytes } = this.#options;
    const noted = await this.#ask((tables) => new Downloads(tables).copyAt(id, ext, path));
    // Also where the ledger does not know the file: its state was not asked for.
    const isDraft =
      !delivered && !test && (await this.#ask((tables) => new Files(tables).isDelivered(id))) === false;
    const { target, replaceable } = await this.#replacing({ id, ext, path, delivered }, noted);
    const isNoted =
      ledger !== undefined && !test && !isFinal(noted) && !(await this.#isOfAnother(id, ext, path));
    const written = await saveTranscript(transport, { id, ext, test, deprecatedPath }, target, {
      ...{ ifExists, onBytes, onAnswered, replaceable, hashes: ledger !== undefined, isNoted },
    });
    const { bytes, sha256, skipped, isSame = false, draft } = written;
    // Another process may have noted it meanwhile.
    const isKnown = async (): Promise<boolean> =>
      isFinal(await this.#ask((tables) => new Downloads(tables).copyAt(id, ext, target)));
    const others = isSame ? await onDisk(() => secondNames(target)) : undefined;
    if (skipped && (!isSame || !isNoted || others?.isBeingNoted || (await isKnown()))) {
      const isIdentified = isSame || noted !== undefined || this.#identified.has(target);
      const wasDraft = noted?.isDraft ?? false;
      const unidentified = wasDraft || !isIdentified;
      return { id, ext, path: target, bytes, skipped, isDraft: wasDraft, unidentified };
    }
    const removeHidden = async (): Promise<void> => {
      // What stays of it is removed by a later run.
      const hidden = draft === undefined ? [] : [draft];
      for (const each of others?.hidden ?? hidden) await disk.unlink(each).catch(() => {});
    };
    if (!test) await this.#note({ id, ext, path: target }, { bytes, sha256, isDraft }, removeHidden);
    return { id, ext, path: target, bytes, at: savedAt() };
  }

  /**
   * Where what was delivered goes: in the place of what we wrote before it, unless that was changed. Beside a changed
   * copy from before an upgrade; a changed draft is left to the user.
   */
  async #replacing(
    to: Destination,
    noted: NotedCopy | undefined,
  ): Promise<{ readonly target: string; readonly replaceable: string | undefined }> {
    const { path, delivered } = to;
    const { ifExists, replacesDrafts } = this.#options;
    const isOurs = noted?.isOutdated || (replacesDrafts && noted?.isDraft);
    if (!delivered || !isOurs) return { target: path, replaceable: undefined };
    const replaceable = noted.sha256;
    const isKept =
      noted.isOutdated && ifExists === 'skip' && (await exists(path)) && !(await hasHash(path, replaceable));
    return { target: isKept ? await this.#freePath(to) : path, replaceable };
  }

  /** Beside a copy that was changed by somebody: a name that nothing has. */
  async #freePath({ id, ext, path }: Destination): Promise<string> {
    for (let n = 2; ; n += 1) {
      const other = numberedPath(path, n);
      if (!(await exists(other)) && !(await this.#isOfAnother(id, ext, other))) return other;
    }
  }

  async #note(
    { id, ext, path }: Destination,
    written: Written,
    afterwards: () => Promise<void>,
  ): Promise<void> {
    const { ledger, notes, forCommand: isForCommand } = this.#options;
    const folder = this.#options.keepsNames ? this.#options.folder : dirname(path);
    const note = (into: TableContext): Promise<void> =>
      new Downloads(into).add(id, ext, path, { ...written, isForCommand }, folder);
    if (notes) return notes.add(`download ${path}`, note, afterwards);
    if (ledger) await note(ledger);
    await afterwards();
  }

  /** What the ledger says, if there is one. */
  async #ask<Value>(question: (ledger: TableContext) => Promise<Value>): Promise<Value | undefined> {
    const { ledger, notes } = this.#options;
    return notes ? notes.read<Value | undefined>(question, undefined) : ledger && question(ledger);
  }

  #isOfAnother(id: string, ext: string, path: string): Promise<boolean | undefined> {
    return this.#ask((ledger) => new Downloads(ledger).isOfAnother(id, ext, path));
  }

  /** Claims and saves what is delivered. Calls for the same transcript at the same time share one download. */
  async fetch(id: string, ext: string): Promise<Saved> {
    const key = `${ext} ${id}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const saving = this.claim({ id, ext })
      .then((path) => this.save({ id, ext, path, delivered: true }))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, saving);
    return saving;
  }

  /** Gives a transcript a path that no other has, in this run or in the ledger; names that differ in case are equal. */
  async claim(named: Named): Promise<string> {
    const { folder, template = DEFAULT_TEMPLATE } = this.#options;
    const { id, ext } = named;
    const previous = await this.#nameInFolder(id, ext);
    const name = previous ?? fileName(template, await this.#partsOf(named, template));
    const isTaken = async (each: string): Promise<boolean> =>
      (await this.#isOfAnother(id, ext, join(folder, each))) ??
      !(await this.#isFree(named, join(folder, each), each !== name || template.includes('{id}')));
    const path = join(folder, await this.#names.claim(name, named, isTaken));
    await this.clean(dirname(path));
    return path;
  }

  /** Without a ledger, only the id in its name, or its text, tells whether a file that was there is this transcript. */
  async #isFree({ id, ext }: Named, path: string, hasId: boolean): Promise<boolean> {
    const { transport, ifExists, test = false, deprecatedPath = false } = this.#options;
    if (ifExists !== 'skip' || !(await disk.lstat(path))?.isFile()) return true;
    const isSame = hasId || (await isTranscript(transport, { id, ext, test, deprecatedPath }, path));
    if (isSame) this.#identified.add(path);
    return isSame;
  }

  /** The name under which the folder has the transcript: another template, or a new title, is no new transcript. */
  async #nameInFolder(id: string, ext: string): Promise<string | undefined> {
    const { folder, keepsNames } = this.#options;
    if (!keepsNames) return undefined;
    const path = await this.#ask((ledger) => new Downloads(ledger).pathIn(folder, id, ext));
    if (path === undefined || !(await exists(path))) return undefined;
    const name = relative(resolve(folder), path);
    // A ledger that was imported may hold anything.
    return name === '' || name.startsWith('..') || isAbsolute(name) ? undefined : name.split(sep).join('/');
  }

  /** What the ledger knows of a file, once the service has said which audio of its order it is of. */
  async #rowOf(id: string): Promise<FileRow | undefined> {
    const row = await this.#ask((ledger) => new Files(ledger).get(id));
    if (row?.assumed !== 1 || row.checked_at !== null) return row;
    const file = await getFile(this.#options.transport, id);
    await this.#ask((ledger) => keepAnswer(ledger, id, file));
    return this.#ask((ledger) => new Files(ledger).get(id));
  }

  async #partsOf({ id, ext, file }: Named, template: string): Promise<NameParts> {
    if (!asksDetails(template)) return { id, ext };
    const row = await this.#rowOf(id);
    const isKnown = file !== undefined || (row?.checked_at ?? null) !== null;
    const said = isKnown || !asksService(template) ? file : await getFile(this.#options.transport, id);
    const audio = detailsOf(row);
    const { guid = '', published = '', feed = '', tags: [tag = ''] = [], source, folder = '' } = audio;
    // As the ledger keeps a title, so that one template gives one name; a name on disk is read by anybody.
    const clean = (text: string): string => cutSignatures(this.#options.transport.hide(text));
    return {
      ...{ id, ext, guid, feed, tag, key: row?.key ?? '', path: folder, ...placeOf(source, row?.url ?? '') },
      title: clean(audioTitle(said?.title || row?.title || '', audio, row?.url ?? '')),
      order: said?.orders[0] ?? row?.order_id ?? '',
      date: /^\d{4}-\d\d-\d\d/.exec(published)?.[0] ?? '',
    };
  }

  /** A template may lead to folders that are met here first. */
  clean(folder: string): Promise<void> {
    const begun = this.#cleaned.get(folder);
    if (begun !== undefined) return begun;
    const isNoted = (path: string) => this.#ask((ledger) => new Downloads(ledger).has(path));
    const cleaning = onDisk(() => removeLeftovers(folder, isNoted)).catch((error: unknown) => {
      this.#cleaned.delete(folder);
      throw error;
    });
    this.#cleaned.set(folder, cleaning);
    return cleaning;
  }
}

/** It was written since the last delivery. */
const isFinal = (copy: NotedCopy | undefined): boolean =>
  copy !== undefined && !copy.isDraft && !copy.isOutdated;

const exists = (path: string): Promise<boolean> =>
  disk.stat(path).then(
    () => true,
    () => false,
  );
