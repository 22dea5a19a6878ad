import { TRACKED } from './claims.ts';
import type { OrderedAudio } from './ordered-files.ts';
import type { Store } from './store.ts';

/** What was ordered with an order, as it is kept; nothing of one that is known only by `track`, or that was a test. */
export const audiosOfOrder = (db: Store, profile: string, order: string): Promise<OrderedAudio[]> =>
  db.all<OrderedAudio>(
    `SELECT url, key, details FROM attempts CROSS JOIN attempt_urls ON attempt_urls.attempt = attempts.id
     WHERE profile = ? AND order_id = ? AND test = 0 AND status IN ('placed', 'uncertain')
       AND detail IS DISTINCT FROM ? ORDER BY attempts.id, position`,
    profile,
    order,
    TRACKED,
  );
