import type { OrderedAudio } from './ordered-files.ts';
import type { Store } from './stores/store.ts';

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
