/** Which file of an accepted order belongs to which audio, as far as the service's answer tells. */

import { urlName } from '../lib/names.ts';
import { isUrl } from '../lib/url.ts';
import { AUDIO_COLUMNS } from './pairing.ts';
import type { AudioRow } from './purchase.ts';
import type { Store } from './stores/store.ts';

export interface OrderedAudio extends Partial<AudioRow> {
  readonly url: string;
  readonly key?: string | undefined;
}

type NamedAudio = Pick<OrderedAudio, 'url' | 'key'>;

export interface OrderedFile {
  readonly id: string;
  /** The place of its audio among those of the order; absent where it can't be told. */
  readonly position: number | undefined;
  /** The order has no other audio, or the service has said it; else the place follows the sequence of the ids. */
  readonly known: boolean;
}

export interface OrderedFiles {
  /** Without those that belong to another audio. */
  readonly files: readonly OrderedFile[];
  /** What is odd about the answer, though it tells the file of each audio. */
  readonly remark: string | undefined;
  /** Why the file of some audio can't be told. */
  readonly problem: string | undefined;
}

/** Audios of an order of which no file is known. */
export interface MissingFiles {
  /** How many files are not known. */
  readonly count: number;
  /** The URLs of which none is known; more than `count` where it can't be told of which of them a known file is. */
  readonly urls: readonly string[];
}

/** More would fill the screen. */
const MAX_LISTED = 10;

/** `known`: the audio of those ids that the ledger has already. */
export function matchFiles(
  audios: readonly NamedAudio[],
  ids: readonly string[],
  known: ReadonlyMap<string, NamedAudio>,
): OrderedFiles {
  const distinct = [...new Set(ids)];
  const isSingle = audios.length === 1;
  // Files mostly come in the order of the URLs. With another number of them, no URL can be told.
  const inStep = ids.length === audios.length && distinct.length === ids.length;
  const files = distinct.map((id, at): OrderedFile => {
    const before = known.get(id);
    const position = inStep ? at : audios.findIndex((audio) => before && isSameAudio(audio, before));
    if (isSingle) return { id, position: 0, known: true };
    return { id, position: position < 0 ? undefined : position, known: false };
  });
  const isOfAnother = ({ id, position }: OrderedFile): boolean => {
    const before = known.get(id);
    const audio = position === undefined ? undefined : audios[position];
    return before !== undefined && before.url !== '' && !(audio && isSameAudio(audio, before));
  };
  const foreign = new Set(files.filter(isOfAnother));
  const problems = [
    ...(inStep || (isSingle && ids.length) ? [] : [countText(audios, ids, distinct)]),
    ...[...foreign]
      .slice(0, MAX_LISTED)
      .map(({ id }) => `the ledger has audiofile ${id} as the file of ${known.get(id)?.url}`),
  ];
  return {
    files: files.filter((file) => !foreign.has(file)),
    remark: isSingle && ids.length > 1 ? countText(audios, ids, distinct) : undefined,
    problem: problems.length ? problems.join('; ') : undefined,
  };
}

interface ItemRow {
  readonly purchase: string;
  /** 1: its order was only taken in with `track`. */
  readonly tracked: number;
  readonly position: number;
  readonly url: string;
  readonly url_key: string;
  readonly file: string;
  readonly audio: number | null;
}

/** Which files are missing of purchases, by their items; nothing if none is. A file may be of any audio where nobody knows. */
export function missingFiles(items: readonly ItemRow[]): MissingFiles | undefined {
  const placeOf = (purchase: string, position: number): string => `${purchase} ${position}`;
  const found = items.filter(({ file }) => file);
  const made = new Set(
    found.flatMap(({ purchase, audio }) => (audio === null ? [] : [placeOf(purchase, Number(audio))])),
  );
  const audios = items.filter(({ url, url_key, tracked }) => !tracked && (url || url_key));
  const tracked = new Set(found.flatMap((item) => (item.tracked ? [item.url_key] : [])));
  const lacking = audios.filter(
    ({ purchase, position, url_key }) =>
      !made.has(placeOf(purchase, Number(position))) && !tracked.has(url_key),
  );
  const unassigned = found.filter(({ audio }) => audio === null).length;
  const count = Math.max(lacking.length - unassigned, audios.length - found.length);
  return count > 0 ? { count, urls: (lacking.length ? lacking : audios).map(({ url }) => url) } : undefined;
}

/** The files that are missing, in words. */
export function missingText({ count, urls: all }: MissingFiles): string {
  const urls = [...all.slice(0, MAX_LISTED), ...(all.length > MAX_LISTED ? ['…'] : [])].join(', ');
  return count >= all.length
    ? `the files of ${urls} are unknown`
    : `${count} of the files of ${urls} ${count === 1 ? 'is' : 'are'} unknown`;
}

function countText(audios: readonly unknown[], ids: readonly string[], distinct: readonly string[]): string {
  const urls = audios.length === 1 ? 'one URL' : `${audios.length} URLs`;
  if (ids.length === 0) return `the answer names no audiofile for ${urls}`;
  const repeated = distinct.length < ids.length ? `, some of them twice` : '';
  const listed = distinct.slice(0, MAX_LISTED).join(', ');
  const files = ids.length === 1 ? 'one audiofile' : `${ids.length} audiofiles`;
  return `the answer names ${files} for ${urls}${repeated} (${listed}${distinct.length > MAX_LISTED ? ', …' : ''})`;
}

/** By their keys where both have one, else by their URLs. */
export function isSameAudio(one: NamedAudio, other: NamedAudio): boolean {
  if (one.key && other.key) return one.key.normalize('NFC') === other.key.normalize('NFC');
  return isSameUrl(one.url, other.url);
}

export const isSameUrl = (one: string, other: string): boolean =>
  one === other || (isUrl(one) && isUrl(other) && urlName(one) === urlName(other));

const ITEMS =
  'items.purchase, purchases.tracked, items.position, items.url, items.url_key, items.file, items.audio';

/** The items of an order that was no test. */
export async function itemsOfOrder(db: Store, profile: string, order: string): Promise<ItemRow[]> {
  if (!order) return [];
  return db.all<ItemRow>(
    `SELECT ${ITEMS} FROM purchases CROSS JOIN purchase_items AS items ON items.purchase = purchases.id
     WHERE purchases.profile = ? AND purchases.order_id = ? AND purchases.kind = 'order' AND purchases.test = 0
       AND purchases.status IN ('placed', 'uncertain')
     ORDER BY purchases.number, items.position`,
    profile,
    order,
  );
}

export const itemsOf = (db: Store, purchase: string): Promise<ItemRow[]> =>
  db.all<ItemRow>(
    `SELECT ${ITEMS} FROM purchases CROSS JOIN purchase_items AS items ON items.purchase = purchases.id
     WHERE purchases.id = ? ORDER BY items.position`,
    purchase,
  );

/** What a purchase was to order, as it is kept; not the files that it got beyond. */
export const audiosOf = (db: Store, purchase: string): Promise<OrderedAudio[]> =>
  db.all<OrderedAudio>(
    `SELECT url, key, ${AUDIO_COLUMNS} FROM purchase_items AS audios
     WHERE purchase = ? AND (url_key <> '' OR url <> '') ORDER BY position`,
    purchase,
  );
