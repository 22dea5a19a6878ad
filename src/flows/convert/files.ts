/** Transcripts on this disk in other formats, each written beside its source or where the user says. */
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { StenoError, systemReason, usage } from '../../lib/errors.ts';
import { pathKey } from '../../lib/fs.ts';
import { oneLine, shellWord } from '../../lib/text.ts';
import {
  cantWrite,
  nameUnlessExists,
  replaceFile,
  throwCantWrite,
  writeFileAtomic,
} from '../../lib/whole-file.ts';
import { type Cue, cuesOf, fitCues } from '../../transcripts/fit.ts';
import type { Segment, TranscriptFile, TranscriptText } from '../../transcripts/model.ts';
import { readTranscriptFile } from '../../transcripts/read.ts';
import {
  type ConvertedFormat,
  isCaptions,
  toJson,
  toMarkdown,
  toSrt,
  toText,
  toVtt,
  unmarked,
} from '../../transcripts/write.ts';
import type { Outcome } from '../bulk.ts';
import { mostPrecise } from '../transcripts/on-disk.ts';

export interface Converted {
  readonly audiofile?: string | undefined;
  readonly source: string;
  readonly format: string;
  readonly path: string;
  readonly bytes: number;
  /** It was there before, with the same content. */
  readonly unchanged: boolean;
}

export interface Conversion {
  readonly lineLength: number;
  readonly renames: Renames;
  /** Of Markdown: has `{seconds}` in it. */
  readonly link: string | undefined;
  readonly signal: AbortSignal;
}

/** The new name of each speaker that is renamed, and whether somebody had the old one. */
type Renames = Map<string, { readonly old: string; readonly name: string; isUsed: boolean }>;

const nameKey = (name: string): string => name.normalize('NFC').toLowerCase();

/** From `Man=Ada`, or from a file of such lines. */
export async function readRenames(texts: readonly string[]): Promise<Renames> {
  const renames: Renames = new Map();
  const add = (pair: string, where: string): void => {
    const [old = '', name = ''] = pair.split(/=(.*)/s).map((each) => oneLine(each));
    if (!old || !name) throw usage(`${where}: write it like Man=Ada`);
    renames.set(nameKey(old), { old, name, isUsed: false });
  };
  for (const text of texts) {
    if (text.includes('=')) {
      add(text, `--speaker ${text}`);
      continue;
    }
    const lines = await readFile(text, 'utf8').catch((error: unknown) => {
      throw usage(`--speaker ${text}: ${systemReason(error)}`, 'give it Man=Ada, or a file of such lines');
    });
    for (const [at, line] of lines.split('\n').entries())
      if (!/^\s*(?:#|$)/.test(line)) add(line, `${text}, line ${at + 1}`);
  }
  return renames;
}

/** One format of one transcript, or an argument that is none. */
export interface Item {
  readonly what: string;
  readonly format: ConvertedFormat;
  readonly file?: TranscriptFile | undefined;
  readonly error?: StenoError | undefined;
}

/** Of each argument the transcript with the most precise times, in each format. */
export const itemsOf = (
  found: ReadonlyArray<Outcome<readonly TranscriptFile[]>>,
  formats: readonly ConvertedFormat[],
): Item[] =>
  found.flatMap(({ what, value, error }) => {
    const files = value ? mostPrecise(value).map((file) => ({ what: file.path, file })) : [{ what, error }];
    return files.flatMap((each) => formats.map((format) => ({ ...each, format })));
  });

type Warning = readonly [message: string, hint?: string];

/** Converts one transcript after the other; each is read once for all its formats. */
export class Converter {
  readonly #conversion: Conversion;
  readonly #faulty = new Map<string, Warning>();
  #read: { readonly file: TranscriptFile; readonly text: TranscriptText; cues?: readonly Cue[] } | undefined;

  constructor(conversion: Conversion) {
    this.#conversion = conversion;
  }

  /** What of the files could not be read, though its words were kept, and which names nobody has. */
  get warnings(): readonly Warning[] {
    const unused = [...this.#conversion.renames.values()].filter(({ isUsed }) => !isUsed);
    return [...this.#faulty.values(), ...unused.map(({ old }): Warning => [`no speaker is called '${old}'`])];
  }

  async convert(file: TranscriptFile, format: ConvertedFormat): Promise<Buffer> {
    const { lineLength, link } = this.#conversion;
    if (this.#read?.file !== file) this.#read = { file, text: await this.#textOf(file) };
    const { text } = this.#read;
    if (isCaptions(format)) this.#read.cues ??= cuesOf(text, file.path, file.duration);
    // What was refused needs no other word.
    const [first, ...more] = text.faults;
    const others = more.length ? ` (and ${more.length} more)` : '';
    const hint = `steno check ${shellWord(file.path)}`;
    if (first)
      this.#faulty.set(file.path, [`${file.path}, line ${first.line}: ${first.message}${others}`, hint]);
    const { cues = [] } = this.#read;
    const spoken = spokenIn(text);
    const write: Readonly<Record<ConvertedFormat, () => string>> = {
      vtt: () => toVtt(fitCues(cues, lineLength)),
      srt: () => toSrt(fitCues(cues, lineLength, true)),
      json: () => toJson(fitCues(cues, lineLength)),
      md: () => toMarkdown(spoken, file.title || stemOf(file.path), link),
      txt: () => toText(spoken),
    };
    return Buffer.from(write[format]());
  }

  async #textOf(file: TranscriptFile): Promise<TranscriptText> {
    const { renames, signal } = this.#conversion;
    const text = await readTranscriptFile(file, signal);
    const segments = text.segments.map((each) => {
      const segment = unmarked(each);
      const rename = renames.get(nameKey(segment.speaker ?? ''));
      if (rename) rename.isUsed = true;
      return { ...segment, speaker: rename?.name ?? (segment.speaker && oneLine(segment.speaker)) };
    });
    return { ...text, segments };
  }
}

/** Without the head of a tstxt, which is all that has no time before the first turn. */
function spokenIn({ format, segments }: TranscriptText): readonly Segment[] {
  const first = segments.findIndex(({ start }) => start !== undefined);
  return format === 'tstxt' && first > 0 ? segments.slice(first) : segments;
}

const stemOf = (path: string): string => basename(path, extname(path));

interface TargetOptions {
  /** Without a folder and a file: beside each source. */
  readonly folder?: string;
  readonly file?: string | undefined;
  readonly force: boolean;
}

/** Where converted files go: never onto a file that is read, and never two onto one. */
export class Targets {
  readonly #sources: ReadonlySet<string>;
  readonly #options: TargetOptions;
  readonly #taken = new Set<string>();

  constructor(sources: readonly string[], options: TargetOptions) {
    this.#sources = new Set(sources.flatMap(identityOf));
    this.#options = options;
  }

  async write(
    file: Pick<TranscriptFile, 'path' | 'audiofile'>,
    format: string,
    content: Buffer,
  ): Promise<Converted> {
    const { path: source, audiofile } = file;
    const { file: named, folder = dirname(source) } = this.#options;
    const path = named ?? join(folder, `${stemOf(source)}.${format}`);
    const isNew = await this.#writeTo(path, content).catch(throwCantWrite(path));
    return { audiofile, source, format, path, bytes: content.length, unchanged: !isNew };
  }

  /** False where the very same was there already. */
  async #writeTo(path: string, content: Buffer): Promise<boolean> {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there && !there.isFile()) throw cantWrite(path, 'it is not a regular file');
    if (identityOf(path).some((each) => this.#sources.has(each)))
      throw usage(`${path} is itself converted, so it is not replaced`, 'choose another place with -o');
    const key = pathKey(resolve(path));
    if (this.#taken.has(key)) throw cantWrite(path, 'another transcript of this command has the same name');
    this.#taken.add(key);
    if (there?.size === content.length && readFileSync(path).equals(content)) return false;
    if (there && this.#options.force) await replaceFile(path, content);
    else await writeNew(path, content);
    return true;
  }
}

/** Whatever its name is; nothing where there is no such file. */
function identityOf(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? [`${found.dev} ${found.ino}`] : [];
}

const writeNew = (path: string, content: Buffer): Promise<void> =>
  writeFileAtomic(path, (write) => write(content), {
    name: async (draft) => {
      if ((await nameUnlessExists(draft, path)) !== 'exists') return;
      const hint = 'compare them, then replace it with --force, or name another with -o';
      throw new StenoError('failed', `${path} already exists and differs`, { hint });
    },
  });
