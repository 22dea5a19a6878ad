/** Files that were ordered elsewhere and are followed here. */

import { isUrl } from '../lib/url.ts';
import { givingNames } from './claims.ts';
import { nameSkus } from './invoices.ts';
import { refuseMoved } from './moved.ts';
import { itemsOf, missingFiles } from './ordered-files.ts';
import { correctPairings } from './pairing.ts';
import { makeAudio } from './purchase.ts';
import { PurchaseTable } from './purchase-table.ts';
import { NOW } from './table.ts';

/** What the service says of a file. */
export interface TrackedFile {
  readonly id: string;
  /** Empty where the service names none. */
  readonly order: string;
  readonly link: string;
  /** Of the speakers. */
  readonly names: string;
  readonly notes: string;
}

/** How an order ended whose files were not in the answer. */
const FILES_TRACKED = 'its files were added with steno track';

export class TrackedFiles extends PurchaseTable {
  /** Takes a file in; of one that is known, only what was not known. From now on its link counts as ordered. */
  add(file: TrackedFile): Promise<void> {
    return this.db.transaction(async (db) => {
      await refuseMoved(db, this.profile);
      await this.within(db).#add(file);
    });
  }

  async #add(file: TrackedFile): Promise<void> {
    const { id, order, link, names, notes } = file;
    const known = await this.db.get<{ purchase: string }>(
      'SELECT purchase FROM files WHERE profile = ? AND id = ? AND test = 0',
      this.profile,
      id,
    );
    const own = known?.purchase || (await this.#ownPurchase(file));
    // It stays, also where the settlement that brought it is taken back.
    await this.db.run(
      `UPDATE purchase_items SET named = file, file_at = ${NOW} WHERE purchase = ? AND file = ? AND named <> file`,
      own ?? '',
      id,
    );
    if (own) await this.claim(link, undefined, own, id);
    const purchase = own || (await this.takeIn({ link, file: id, order, names, notes }));
    await this.db.run(
      `INSERT INTO files (profile, id, purchase, order_id, link, test, ordered_at) VALUES (?, ?, ?, ?, ?, 0, coalesce((SELECT started_at FROM purchases WHERE id = ? AND tracked = 0), ?))
         ON CONFLICT (profile, id) DO UPDATE SET order_id = coalesce(nullif(files.order_id, ''), excluded.order_id),
           purchase = excluded.purchase, test = 0`,
      ...[this.profile, id, purchase, order, this.hide(link), purchase, this.timestamp()],
    );
    await correctPairings(this.db, this.profile, [{ id, purchase, link: this.hide(link) }]);
    await nameSkus(this.db, this.profile, [id]);
    if (order) await this.#endAccepted(order);
  }

  /** The order of this ledger that the file belongs to; one that was bought elsewhere has none. */
  async #ownPurchase(file: TrackedFile): Promise<string | undefined> {
    if (!file.order) return undefined;
    const own = await this.db.get<{ id: string }>(
      `SELECT id FROM purchases WHERE profile = ? AND order_id = ? AND kind = 'order' AND test = 0 AND tracked = 0
       ORDER BY number LIMIT 1`,
      this.profile,
      file.order,
    );
    if (own) await this.#giveItem(own.id, file.id);
    return own?.id;
  }

  /** The item of its audio has its cost, once the service has said which that is. */
  async #giveItem(purchase: string, id: string): Promise<void> {
    const places = await this.places(purchase);
    const isSingle = places.filter(({ recording }) => recording).length === 1;
    const file = { id, position: isSingle ? 0 : undefined, known: isSingle };
    await this.db.batch(this.givingPlaces(purchase, [file], places, true));
  }

  /** An order that was accepted without its files has a known end when the file of each of its URLs is known. */
  async #endAccepted(order: string): Promise<void> {
    const accepted = await this.db.all<{ id: string }>(
      `SELECT id FROM purchases WHERE profile = ? AND order_id = ? AND kind = 'order' AND status = 'uncertain' AND test = 0`,
      this.profile,
      order,
    );
    if (accepted.length === 0) return;
    for (const { id } of accepted) {
      const items = await itemsOf(this.db, id);
      // A file of which nobody knows the recording ends nothing.
      if (missingFiles(items.map((item) => (item.audio === null ? { ...item, file: '' } : item)))) continue;
      await this.db.batch(this.answering(id, 'placed', FILES_TRACKED, order));
    }
  }

  /** A purchase that stands for a file which was ordered elsewhere: it holds its audio, as if it had been ordered here. */
  async takeIn({ link, key, file, order, names = '', notes = '' }: TakenIn): Promise<string> {
    const isNamed = key !== undefined || isHttpUrl(link);
    const audio = isNamed ? makeAudio(link, key) : { url: link, names: [] };
    const id = process.getBuiltinModule('node:crypto').randomUUID();
    const audios = [{ url: audio.url, key: audio.key, names: audio.names, file }];
    const purchase = { audios, skus: [], names: names ? [names] : [], notes, test: false };
    await this.db.batch([
      ...this.adding(purchase, { id, tracked: true, sender: { ...this.sender(), ...nobody } }),
      ...this.answering(id, 'placed', '', order),
    ]);
    if (isNamed) await this.claim(link, key, id, file);
    return id;
  }

  /** Has a purchase hold the names of a link, if no order that was placed does. */
  async claim(link: string, key: string | undefined, purchase: string, file: string): Promise<void> {
    if (key === undefined && !isHttpUrl(link)) return;
    const { names } = makeAudio(link, key);
    const [holder] = (await this.claims.holders(names)).values();
    if (holder?.status === 'placed') return;
    const position =
      'coalesce((SELECT min(position) FROM purchase_items WHERE purchase = ? AND file = ?), 0)';
    await this.db.batch([
      ...this.claims.freeing(names, 'any'),
      ...names.map((name) => ({
        sql: `INSERT INTO item_names (profile, name, purchase, position) VALUES (?, ?, ?, ${position}) ON CONFLICT DO NOTHING`,
        values: [this.profile, this.claims.stored(name), purchase, purchase, file],
      })),
      ...givingNames(this.profile, [purchase]),
    ]);
  }
}

/** Who ordered it elsewhere is unknown. */
const nobody = { user: '', host: '', job: '', actor: '' };

interface TakenIn {
  readonly link: string;
  readonly key?: string | undefined;
  readonly file: string;
  readonly order: string;
  readonly names?: string;
  readonly notes?: string;
}

const isHttpUrl = (text: string): boolean => /^https?:/i.test(text) && isUrl(text);
