/** Transcripts on this disk in other formats, each written beside its source or where the user says. */
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { StenoError, systemReason, usage } from '../../lib/errors.ts';
import { pathKey } from '../../lib/fs.ts';
import { oneLine, shellWord } from '../../lib/text.ts';
import { monotonicMs } from '../../lib/time.ts';
import {
  cantWrite,
  nameUnlessExists,
  replaceFile,
  throwCantWrite,
  writeFileAtomic,
} from '../../lib/whole-file.ts';
import { cuesOf, fitCues } from '../../transcripts/fit.ts';
import { knownFormats, type TranscriptFile, type TranscriptText } from '../../transcripts/model.ts';
import { spokenIn } from '../../transcripts/prose.ts';
import { nextTurn, readTranscriptFile } from '../../transcripts/read.ts';
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
    if (name.includes('='))
      throw usage(
        `${where}: '${name}' is not a name`,
        'for several names: --speaker Man=Ada --speaker Woman=Eve',
      );
    const other = renames.get(nameKey(old))?.name ?? name;
    if (other !== name)
      throw usage(`${where}: ${old} has already been renamed to ${other}`, 'keep one of the two');
    renames.set(nameKey(old), { old, name, isUsed: false });
  };
  for (const text of texts) {
    if (text.includes('=')) {
      add(text, `--speaker ${text}`);
      continue;
    }
    const lines = await readFile(text, 'utf8').catch((error: unknown) => {
      throw usage(
        `--speaker ${text}: ${systemReason(error)}`,
        'give it Man=Ada, or a file with one such pair per line',
      );
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
  /** The newest in each format, the most precise times first. */
  readonly files?: readonly TranscriptFile[] | undefined;
  readonly error?: StenoError | undefined;
}

/** Of each argument the transcript, in each format; what is named again is taken once. */
export function itemsOf(
  found: ReadonlyArray<Outcome<readonly TranscriptFile[]>>,
  formats: readonly ConvertedFormat[],
): Item[] {
  const items = new Map<string, Omit<Item, 'format'>>();
  for (const { what: arg, value, error } of found) {
    const files = value && knownFormats.flatMap((ext) => value.find((file) => file.format === ext) ?? []);
    const what = files?.[0]?.path ?? arg;
    if (!items.has(resolve(what))) items.set(resolve(what), { what, files, error });
  }
  return [...items.values()].flatMap((item) => formats.map((format) => ({ ...item, format })));
}

type Warning = readonly [message: string, hint?: string];

/** Converts one transcript after the other; each is read once for all its formats. */
export class Converter {
  readonly #conversion: Conversion;
  readonly #faulty = new Map<string, Warning>();
  #read: { readonly file: TranscriptFile; readonly text: TranscriptText } | undefined;

  constructor(conversion: Conversion) {
    this.#conversion = conversion;
  }

  /** What of the files could not be read, though its words were kept, and which names nobody has. */
  get warnings(): readonly Warning[] {
    const unused = [...this.#conversion.renames.values()].filter(({ isUsed }) => this.#read && !isUsed);
    return [...this.#faulty.values(), ...unused.map(({ old }): Warning => [`no speaker is called '${old}'`])];
  }

  /** Of the first file that can be converted; the error is that of the first one. */
  async convert(
    files: readonly TranscriptFile[],
    format: ConvertedFormat,
  ): Promise<{ readonly file: TranscriptFile; readonly content: Buffer }> {
    let refusal: unknown;
    for (const file of files) {
      try {
        const content = await this.#converted(file, format);
        if (refusal instanceof StenoError)
          this.#faulty.set(`${file.path} instead`, [
            `${refusal.message}; ${file.path} was converted instead`,
          ]);
        return { file, content };
      } catch (error) {
        if (!(error instanceof StenoError) || error.kind === 'interrupted') throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  async #converted(file: TranscriptFile, format: ConvertedFormat): Promise<Buffer> {
    const { lineLength, link, signal } = this.#conversion;
    if (this.#read?.file !== file) this.#read = { file, text: await this.#textOf(file) };
    const { text } = this.#read;
    await nextTurn(signal);
    const showsNames = format === 'srt';
    const { path, duration } = file;
    const cues = isCaptions(format) ? cuesOf(text, { path, duration, showsNames }) : [];
    // What was refused needs no other word.
    const [first, ...more] = text.faults;
    const others = more.length ? ` (and ${more.length} more)` : '';
    const hint = `steno check ${shellWord(file.path)}`;
    if (first)
      this.#faulty.set(file.path, [`${file.path}, line ${first.line}: ${first.message}${others}`, hint]);
    const fitted = fitCues(cues, lineLength, showsNames, file.duration);
    const spoken = spokenIn(text);
    const write: Readonly<Record<ConvertedFormat, () => Iterable<string>>> = {
      vtt: () => toVtt(fitted),
      srt: () => toSrt(fitted),
      json: () => toJson(fitted),
      md: () => toMarkdown(spoken, file.title || stemOf(file.path), link),
      txt: () => toText(spoken),
    };
    return Buffer.from(await inTurns(write[format](), signal));
  }

  async #textOf(file: TranscriptFile): Promise<TranscriptText> {
    const { renames, signal } = this.#conversion;
    const text = await readTranscriptFile(file, signal);
    if (!text.segments.some((each) => each.text.trim()))
      throw new StenoError('failed', `${file.path} has no text`, { hint: 'download the transcript again' });
    const segments = text.segments.map((each) => {
      const segment = unmarked(each);
      const rename = renames.get(nameKey(segment.speaker ?? ''));
      if (rename) rename.isUsed = true;
      return { ...segment, speaker: rename?.name ?? (segment.speaker && oneLine(segment.speaker)) };
    });
    return { ...text, segments };
  }
}

/** After as long, an interruption is looked for. */
const TURN_MS = 50;

/** The whole of a text that takes long to make. */
async function inTurns(parts: Iterable<string>, signal: AbortSignal): Promise<string> {
  const all: string[] = [];
  let end = monotonicMs() + TURN_MS;
  for (const part of parts) {
    all.push(part);
    if (monotonicMs() < end) continue;
    await nextTurn(signal);
    end = monotonicMs() + TURN_MS;
  }
  return all.join('');
}

const stemOf = (path: string): string => basename(path, extname(path));

export interface TargetOptions {
  /** Without a folder and a file: beside each source. */
  readonly folder?: string | undefined;
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
    const isNew = await this.#writeTo(path, source, content).catch(throwCantWrite(path));
    return { audiofile, source, format, path, bytes: content.length, unchanged: !isNew };
  }

  /** False where the very same was there already. */
  async #writeTo(path: string, source: string, content: Buffer): Promise<boolean> {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there && !there.isFile()) throw cantWrite(path, 'it is not a regular file');
    const isSource = (each: string): boolean => this.#sources.has(each) || identityOf(source).includes(each);
    if (identityOf(path).some(isSource))
      throw usage(
        `${path} is the file being converted; steno does not overwrite it`,
        'choose another folder with -o',
      );
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
      const hint = 'replace it with --force, or choose another folder or name with -o';
      throw new StenoError('failed', `${path} already exists and differs`, { hint });
    },
  });
