/** File names made of the service's data: safe on every system, whatever the data holds. */

import { closeSync, existsSync, openSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { errorCode, StenoError, systemReason, usage } from '../../lib/errors.ts';
import { isDanglingLink, makeFolder, pathKey } from '../../lib/fs.ts';
import { isUrl } from '../../lib/url.ts';
import { partialPath } from './partial-files.ts';

const places = ['dir', 'basename', 'path', 'ext'] as const;
const placeholders = ['id', 'title', 'order', 'key', 'tag', 'feed', 'guid', 'date', ...places] as const;

type Placeholder = (typeof placeholders)[number];

/**
 * What placeholders stand for. `date` is the day on which an episode came out, in UTC; `dir` is the folder of the audio,
 * `basename` its name without its extension, `path` its folders below the folder that was ordered.
 */
export type NameParts = { readonly [Name in Placeholder]?: string } & Record<'id' | 'ext', string>;

export const DEFAULT_TEMPLATE = '{id}.{ext}';

/** What the service has to be asked for; the ledger has the rest. */
const fromService = /\{(title|order)\}/;
/** File systems take 255; a partial file's name is longer than the final one. */
const MAX_NAME_BYTES = 180;
const MAX_MARK_BYTES = 60;
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)/i;

/** Refuses a template with unknown placeholders, or one that leads out of its folder; none is given without --name-as. */
export function checkTemplate(template = DEFAULT_TEMPLATE, formats: readonly string[] = []): void {
  if (formats.length > 1 && !template.includes('{ext}'))
    throw usage(`--name-as '${template}' gives every format the same name`, 'put {ext} into it');
  for (const [, name = ''] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (!placeholders.some((each) => each === name)) {
      throw usage(
        `--name-as does not know {${name}}`,
        `it knows ${placeholders.map((each) => `{${each}}`).join(', ')}`,
      );
    }
  }
  const steps = template.split(/[/\\]/);
  if (steps.some((step) => /^\.*\s*$/.test(step)) || /^[a-z]:/i.test(template)) {
    throw usage(`--name-as '${template}' is not a name below the download folder`);
  }
}

export const asksService = (template: string): boolean => fromService.test(template);

/** Whether more than the id and the format is asked for. */
export const asksDetails = (template: string): boolean => /\{(?!id\}|ext\})\w+\}/.test(template);

/** Fills a template; a slash in the template or in {path} makes a folder, one in other data does not. */
export function fileName(template: string, parts: NameParts): string {
  const folders = (parts.path ?? '').split('/').filter(Boolean).map(safeValue);
  const fill = (step: string): string =>
    step.replace(/\{(\w+)\}/g, (_, name: keyof NameParts) =>
      name === 'path' ? folders.join('/') : partText(name, parts),
    );
  const steps = template.split(/[/\\]/).flatMap((step) => {
    const filled = fill(step);
    return step.includes('{path}') ? filled.split('/').filter(Boolean) : [filled];
  });
  return steps.map(safeStep).join('/') || safeStep(parts.id);
}

/** What is not known of a file is its id, which alone is taken as it is. */
const partText = (name: keyof NameParts, parts: NameParts): string => {
  const value = safeValue(name === 'id' ? parts.id : percentDecoded(parts[name] ?? ''));
  return /^\.*$/.test(value) ? safeValue(parts.id) : value;
};

/** Each run of escapes that is text; others stay. */
const percentDecoded = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/** The last folder and the bare name of an audio, by its path or its URL. */
export function placeOf(source: string | undefined, url: string): Pick<NameParts, 'dir' | 'basename'> {
  const path = source ?? (isUrl(url) ? new URL(url).pathname : url);
  const [name = '', dir = ''] = path.split(/[/\\]/).filter(Boolean).reverse();
  return { dir, basename: name.replace(/(?<=.)\.[A-Za-z0-9]{1,5}$/, '') };
}

const safeValue = (value: string): string =>
  value
    .normalize('NFC')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, ' ')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/\s+/g, ' ')
    .trim();

/** One step of a path: no reserved name, nothing that a shell takes for a flag, no more bytes than fit. */
function safeStep(text: string): string {
  let step = withoutEnd(
    Buffer.from(text)
      .toString('utf8')
      .replace(/^[.\s-]+/, '_'),
  );
  if (step === '') step = '_';
  if (reserved.test(step)) step = `_${step}`;
  return shorten(step);
}

/** Cuts the stem, not the extension, at a whole character; `mark` goes between the two. */
function shorten(step: string, mark = ''): string {
  const ext = /\.[A-Za-z0-9]{1,8}$/.exec(step)?.[0] ?? '';
  const stem = step.slice(0, step.length - ext.length);
  return cut(stem, MAX_NAME_BYTES - Buffer.byteLength(mark + ext)) + mark + ext;
}

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return withoutEnd(kept);
}

/** Without the dots and blanks at the end. A pattern would look for the end again at each dot of a long title. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[.\s]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The name of a further copy: `talk-2.txt`. */
export const numberedPath = (path: string, n: number): string => shortenLast(path, `-${n}`);

/** Gives each transcript a name of its own; the later of two equal ones gets its id added. */
export class Names {
  /** The owner of each name. */
  readonly #claimed = new Map<string, string>();

  /** `isTaken` knows names that are in use outside this run. */
  async claim(
    name: string,
    { id, ext }: Pick<NameParts, 'id' | 'ext'>,
    isTaken: (name: string) => Promise<boolean> = async () => false,
  ): Promise<string> {
    const owner = `${ext} ${id}`;
    for (let n = 1; ; n += 1) {
      const candidate = shortenLast(name, n === 1 ? '' : markOf(id, n));
      const key = pathKey(candidate);
      if ((this.#claimed.get(key) ?? owner) !== owner) continue;
      // Claimed before the question: another claim may be made while it is answered.
      this.#claimed.set(key, owner);
      if (!(await isTaken(candidate))) return candidate;
      this.#claimed.delete(key);
    }
  }
}

/** What the second and later claims of a name get: `-7`, `-7-2`, `-7-3`. */
const markOf = (id: string, n: number): string => {
  const mark = `-${cut(safeValue(id), MAX_MARK_BYTES)}`;
  return n === 2 ? mark : `${mark}-${n - 1}`;
};

function shortenLast(path: string, mark = ''): string {
  const slash = Math.max(path.lastIndexOf('/'), path.lastIndexOf(sep)) + 1;
  return path.slice(0, slash) + shorten(path.slice(slash), mark);
}

/** Refuses a download folder in which no file can be made, before anything is sent; `note` is told of a new one. */
export function checkFolder(path: string, note?: (text: string) => void): void {
  if (isDanglingLink(path)) throw usage(`'${path}' is a broken symlink`);
  const folder = resolve(path);
  const existing = existingFolder(folder);
  if (existing === undefined) throw usage(`'${path}' is not a folder`);
  const reason = whyNotWritable(folder, existing);
  if (reason) throw usage(reason, 'choose another folder for --download');
  if (existing !== folder) note?.(`transcripts go to a new folder: ${folder}`);
}

/** The folder itself, or the one below which it can be made. Node 26 does not tell what is missing from what lies below a file. */
function existingFolder(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? path : undefined;
    return dirname(path) === path ? path : existingFolder(dirname(path));
  } catch {
    return undefined;
  }
}

/**
 * Tried, because permissions alone don't tell: the disk may be full or read-only. What a crash leaves is swept by the next
 * download there, or is the new folder itself.
 */
function whyNotWritable(folder: string, existing: string): string | undefined {
  try {
    if (folder === existing) {
      const probe = partialPath(join(folder, 'probe'));
      closeSync(openSync(probe, 'wx'));
      unlinkSync(probe);
    } else {
      const first = join(existing, relative(existing, folder).split(sep)[0] ?? '');
      makeFolder(first);
      removeIfEmpty(first);
    }
    return undefined;
  } catch (error) {
    if (error instanceof StenoError) return error.message;
    // Another process has just tried the same new folder.
    if (!existsSync(folder)) return whyNotWritable(folder, existingFolder(folder) ?? folder);
    // Where a folder is no place for files, as in /proc.
    const reason = errorCode(error) === 'ENOENT' ? 'it takes no files' : systemReason(error);
    return `can't write to ${folder}: ${reason}`;
  }
}

/** Another process may have removed it, or written to it. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {}
}
