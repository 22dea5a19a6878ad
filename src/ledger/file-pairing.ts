/** Which audio of its order a file is of: taken from the order of the URLs at first, then from the service's own word. */

import { jsonList } from './json-list.ts';
import { audiosOf } from './order-audios.ts';
import { isSameUrl, type OrderedAudio } from './ordered-files.ts';
import type { Statement, Store } from './stores/store.ts';

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
