/** Which file of an accepted order belongs to which audio, as far as the service's answer tells. */

import { urlName } from '../lib/names.ts';
import { isUrl } from '../lib/url.ts';
import type { Statement, Store } from './stores/store.ts';
import { jsonList } from './table.ts';

export interface OrderedAudio {
  readonly url: string;
  readonly key?: string | undefined;
  /** As the ledger keeps them. */
  readonly details?: string | undefined;
}

type NamedAudio = Pick<OrderedAudio, 'url' | 'key'>;

export interface OrderedFile {
  readonly id: string;
  /** Absent where it can't be told. */
  readonly audio: OrderedAudio | undefined;
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
  /** The audios of which none is known; more than `count` where it can't be told of which of them a known file is. */
  readonly audios: readonly OrderedAudio[];
}

/** More would fill the screen. */
const MAX_LISTED = 10;

/** `known`: the audio of those ids that the ledger has already. */
export function matchFiles(
  audios: readonly OrderedAudio[],
  ids: readonly string[],
  known: ReadonlyMap<string, OrderedAudio>,
): OrderedFiles {
  const distinct = [...new Set(ids)];
  const [only] = audios;
  const isSingle = audios.length === 1;
  // Files come in the order of the URLs. With another number of them, no URL can be told.
  const inStep = ids.length === audios.length && distinct.length === ids.length;
  const files = distinct.map((id, at): OrderedFile => {
    const audio = inStep ? audios[at] : undefined;
    return { id, audio: isSingle ? only : (audio ?? audioOf(audios, known.get(id))) };
  });
  const foreign = new Set(files.filter(({ id, audio }) => isOfAnother(audio, known.get(id))));
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

/** Which files of an order are missing; nothing if none is. A file without a URL may be of any of the audios. */
export function missingFiles(
  audios: readonly OrderedAudio[],
  files: readonly OrderedAudio[],
): MissingFiles | undefined {
  const lacking = audiosWithoutFile(audios, files);
  const unassigned = files.filter(({ url }) => url === '').length;
  const count = Math.max(lacking.length - unassigned, audios.length - files.length);
  return count > 0 ? { count, audios: lacking.length ? lacking : audios } : undefined;
}

/** The audios that are not told to have one of these files. */
export function audiosWithoutFile<Each extends NamedAudio>(
  audios: readonly Each[],
  files: readonly NamedAudio[],
): Each[] {
  const keys = new Set(files.flatMap(({ key }) => (key ? [key.normalize('NFC')] : [])));
  const urls = new Set(files.map(({ url }) => nameOf(url)));
  const keyless = new Set(files.flatMap(({ url, key }) => (key ? [] : [nameOf(url)])));
  const hasFile = ({ url, key }: NamedAudio): boolean =>
    key ? keys.has(key.normalize('NFC')) || keyless.has(nameOf(url)) : urls.has(nameOf(url));
  return audios.filter((audio) => !hasFile(audio));
}

const nameOf = (url: string): string => (isUrl(url) ? urlName(url) : url);

/** The files that are missing, in words. */
export function missingText({ count, audios }: MissingFiles): string {
  const listed = audios.slice(0, MAX_LISTED).map(({ url }) => url);
  const urls = [...listed, ...(audios.length > MAX_LISTED ? ['…'] : [])].join(', ');
  return count >= audios.length
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

const audioOf = (
  audios: readonly OrderedAudio[],
  known: OrderedAudio | undefined,
): OrderedAudio | undefined => known && audios.find((audio) => isSameAudio(audio, known));

const isOfAnother = (audio: OrderedAudio | undefined, known: OrderedAudio | undefined): boolean =>
  known !== undefined && known.url !== '' && !(audio && isSameAudio(audio, known));

/** By their keys where both have one, else by their URLs. */
export function isSameAudio(one: OrderedAudio, other: OrderedAudio): boolean {
  if (one.key && other.key) return one.key.normalize('NFC') === other.key.normalize('NFC');
  return isSameUrl(one.url, other.url);
}

export const isSameUrl = (one: string, other: string): boolean =>
  one === other || (isUrl(one) && isUrl(other) && urlName(one) === urlName(other));

/** What was ordered with an order, as it is kept; nothing of one that is known only by `track`, or that was a test. */
export async function audiosOfOrder(db: Store, profile: string, order: string): Promise<OrderedAudio[]> {
  if (!order) return [];
  return db.all<OrderedAudio>(
    `SELECT items.url, items.key, items.details FROM purchases
     CROSS JOIN purchase_items AS items ON items.purchase = purchases.id
     WHERE purchases.profile = ? AND purchases.order_id = ? AND purchases.kind = 'order' AND purchases.test = 0
       AND purchases.tracked = 0 AND purchases.status IN ('placed', 'uncertain') AND (items.url_key <> '' OR items.url <> '')
     ORDER BY purchases.number, items.position`,
    profile,
    order,
  );
}

/** What a purchase was to order, as it is kept; not the files that it got beyond. */
export const audiosOf = (db: Store, purchase: string): Promise<OrderedAudio[]> =>
  db.all<OrderedAudio>(
    `SELECT url, key, details FROM purchase_items WHERE purchase = ? AND (url_key <> '' OR url <> '') ORDER BY position`,
    purchase,
  );

// Which audio of its order a file is of: taken from the order of the URLs at first, then from the service's own word.

export interface PairedFile {
  readonly id: string;
  /** The order that it belongs to. */
  readonly purchase: string;
  /** Empty where it was not known. */
  readonly url: string;
  readonly key: string;
  readonly details: string;
}

/** A file, and the audio that the service says it was made of. */
export interface LinkedFile {
  readonly file: PairedFile;
  readonly link: string;
}

const isRight = ({ url, purchase }: PairedFile, link: string): boolean =>
  !link || !purchase || isSameUrl(url, link);

/** Where the link of a file is another audio of its order, the two files that were mixed up change places. */
export async function correctPairings(
  db: Store,
  profile: string,
  linked: readonly LinkedFile[],
): Promise<void> {
  const wrong = linked.filter(({ file, link }) => !isRight(file, link));
  if (wrong.length === 0) return;
  const purchases = [...new Set(wrong.map(({ file }) => file.purchase))];
  const [files, audios] = await Promise.all([
    db.all<PairedFile>(
      `SELECT id, purchase, url, key, details FROM files
       WHERE profile = ? AND purchase IN (SELECT value FROM json_each(?)) ORDER BY seq`,
      profile,
      jsonList(purchases),
    ),
    audiosOfUnpaired(db, wrong),
  ]);
  const paired = new Map(files.map((file) => [file.id, file]));
  const changed = new Set<string>();
  const setAudio = (id: string, { url, key = '', details = '' }: OrderedAudio): void => {
    const file = paired.get(id);
    if (file) paired.set(id, { ...file, url, key, details });
    changed.add(id);
  };
  for (const { file, link } of wrong) {
    const now = paired.get(file.id);
    // Another file may have changed places with it meanwhile.
    if (!now || isRight(now, link)) continue;
    const ofOrder = now.url === '' ? audios.get(now.purchase) : undefined;
    const audio = ofOrder?.find(({ url }) => isSameUrl(url, link));
    const others =
      now.url === '' ? [] : [...paired.values()].filter(({ purchase }) => purchase === now.purchase);
    const other = others.find(({ id, url }) => id !== now.id && isSameUrl(url, link));
    if (audio) setAudio(now.id, audio);
    if (!other) continue;
    setAudio(now.id, other);
    setAudio(other.id, now);
  }
  await db.batch([...changed].sort().flatMap((id) => settingAudio(profile, paired.get(id))));
}

/** What was ordered with those files whose audio is not known. */
async function audiosOfUnpaired(
  db: Store,
  linked: readonly LinkedFile[],
): Promise<ReadonlyMap<string, readonly OrderedAudio[]>> {
  const purchases = [...new Set(linked.flatMap(({ file }) => (file.url === '' ? [file.purchase] : [])))];
  const audios = await Promise.all(purchases.map((purchase) => audiosOf(db, purchase)));
  return new Map(purchases.map((purchase, at) => [purchase, audios[at] ?? []]));
}

function settingAudio(profile: string, file: PairedFile | undefined): Statement[] {
  if (!file) return [];
  const { id, url, key, details } = file;
  return [
    {
      sql: 'UPDATE files SET url = ?, key = ?, details = ? WHERE profile = ? AND id = ?',
      values: [url, key, details, profile, id],
    },
  ];
}
