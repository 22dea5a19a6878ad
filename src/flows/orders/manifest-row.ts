/** A row of a manifest, whichever way it is written. */
import type { Audio } from '../../ledger/purchase.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { oneLine } from '../../lib/text.ts';
import { checkUrl } from '../../lib/urls.ts';
import type { FileMark } from '../uploads/content.ts';

export interface Cells {
  readonly url: string;
  readonly skus?: readonly string[] | undefined;
  readonly notes?: string | undefined;
  readonly names?: readonly string[] | undefined;
  /** Identifies the audio in place of its URL. */
  readonly key?: string | undefined;
  /** How long the audio is. */
  readonly minutes?: string | undefined;
  /** In place of the URL: a file of this machine. */
  readonly path?: string | undefined;
  /** What the audio is filed under. */
  readonly tags?: readonly string[] | undefined;
}

export interface Row extends Omit<Cells, 'minutes'> {
  /** How long the audio is, where the list says it. */
  readonly seconds?: number | undefined;
  /** For messages: `talks.csv, line 3`; empty for a URL that is not from a manifest. */
  readonly at: string;
  /** Where more is known of the audio than its URL or key. */
  readonly audio?: Audio | undefined;
  /** What that file was when its content was read. */
  readonly mark?: FileMark | undefined;
}

/** A line of a manifest. */
export interface Place {
  /** The name of the manifest. */
  readonly where: string;
  readonly line: number;
}

export const placeText = (where: string, line: number): string => `${where}, line ${line}`;

export type OnRow = (row: Row, line: number) => void;

const fields = ['url', 'path', 'sku', 'notes', 'names', 'key', 'minutes', 'tags'];

/** The header that most manifests need. */
export const HEADER = 'url,sku,notes,names';

export const isField = (name: string): boolean => fields.includes(name.trim().toLowerCase());

/** How a manifest is read. */
export interface ManifestReading {
  /** Columns that are not known are passed over. */
  readonly ignoreColumns?: boolean | undefined;
}

/** Empty for one that is passed over. */
export function fieldName(name: string, { ignoreColumns }: ManifestReading): string {
  if (isField(name)) return name.trim().toLowerCase();
  if (ignoreColumns) return '';
  const list = `a manifest has: ${fields.join(', ')}; --ignore-columns ignores others`;
  if (name.trim() === '') throw usage('a field has no name', list);
  throw usage(`unknown field '${name}'`, didYouMean(name, fields, list));
}

/** A checked row; an error says where it is. */
export function rowAt({ where, line }: Place, read: () => Cells): Row {
  const at = placeText(where, line);
  return withPosition(at, () => {
    const { url, skus = [], notes, names = [], key, minutes, path, tags = [] } = read();
    // With an empty key the row would be identified by its URL, which is not what the file asks for.
    if (key?.trim() === '')
      throw usage('the key is empty', 'give the row a key, or leave out the column key');
    if (names.some((name) => name.trim() === ''))
      throw usage('a name is empty', 'leave it out, or write the names like Ada|Grace');
    checkPlace(url, path, key);
    return {
      at,
      url: path ? '' : checkUrl(url),
      path: path || undefined,
      skus: skus.length ? skus : undefined,
      notes: notes || undefined,
      names: names.length ? names : undefined,
      key: key?.trim(),
      seconds: secondsOf(minutes),
      tags: tags.length ? checkTags(tags) : undefined,
    };
  });
}

function checkPlace(url: string, path: string | undefined, key: string | undefined): void {
  if (path && url) throw usage('it has a url and a path', 'leave one of them empty');
  if (path && key)
    throw usage('it has a path and a key', 'a file is known by its content: leave the key empty');
  if (!path && url === '')
    throw usage(path === undefined ? 'the url is missing' : 'both url and path are empty');
}

export function checkTags(tags: readonly string[]): string[] {
  const all = tags.map((tag) => oneLine(tag.trim()));
  if (all.some((tag) => tag === '')) throw usage('a tag is empty', 'leave it out');
  return [...new Set(all)];
}

/** A year; more is a mistake. */
const MAX_MINUTES = 525_600;

function secondsOf(minutes: string | undefined): number | undefined {
  if (minutes === undefined || minutes.trim() === '') return undefined;
  const length = /^\d+(\.\d+)?$/.test(minutes.trim()) ? Number(minutes) : Number.NaN;
  // Whole milliseconds: 1.1 * 60 is a little more than 66, which would be billed as a second more.
  if (length > 0 && length <= MAX_MINUTES) return Math.max(1, Math.round(length * 60_000)) / 1_000;
  throw usage(
    `minutes is '${minutes}', which is not a length`,
    'write the length in minutes, like 35 or 35.5',
  );
}

export const splitTags = (text = ''): string[] =>
  text.trim() === '' ? [] : text.split(/[|,;]/).map((tag) => tag.trim());

export const splitSkus = (text = ''): string[] => text.split(/[\s,;|]+/).filter(Boolean);

export const splitNames = (text = ''): string[] =>
  text.trim() === '' ? [] : text.split('|').map((name) => name.trim());

/** Adds to an error where in the manifest it is. */
export function withPosition<T>(at: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(`${at}: ${error.message}`, error.hint);
  }
}
