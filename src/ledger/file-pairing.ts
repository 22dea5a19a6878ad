/** Which audio of its order a file is of: taken from the order of the URLs at first, then from the service's own word. */
import { audiosOfOrder } from './order-audios.ts';
import { isSameUrl, type OrderedAudio } from './ordered-files.ts';
import type { Store } from './store.ts';

export interface PairedFile {
  readonly id: string;
  readonly order_id: string;
  /** Empty where it was not known. */
  readonly url: string;
  readonly key: string;
}

/** Where the link of a file is another audio of its order, the two files that were mixed up change places. */
export async function correctPairing(
  db: Store,
  profile: string,
  file: PairedFile,
  link: string,
): Promise<void> {
  if (!link || !file.order_id || isSameUrl(file.url, link)) return;
  if (file.url === '') {
    const audio = (await audiosOfOrder(db, profile, file.order_id)).find(({ url }) => isSameUrl(url, link));
    if (audio) await setAudio(db, profile, file.id, audio);
    return;
  }
  const others = await db.all<PairedFile>(
    'SELECT id, order_id, url, key FROM files WHERE profile = ? AND order_id = ? AND id <> ? ORDER BY seq',
    profile,
    file.order_id,
    file.id,
  );
  const other = others.find(({ url }) => isSameUrl(url, link));
  if (!other) return;
  await setAudio(db, profile, file.id, other);
  await setAudio(db, profile, other.id, file);
}

const setAudio = (db: Store, profile: string, id: string, { url, key = '' }: OrderedAudio): Promise<number> =>
  db.run('UPDATE files SET url = ?, key = ? WHERE profile = ? AND id = ?', url, key, profile, id);
