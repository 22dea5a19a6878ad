/** Which purchase holds which name. A name has one holder: the primary key sees to that, whatever processes do. */

import { storedName } from '../lib/names.ts';
import { otherSender, senderText } from '../lib/sender.ts';
import { SKUS_NOW } from './files.ts';
import { IS_ACCEPTED } from './purchase.ts';
import { type SenderRow, shownStatus } from './shown-purchase.ts';
import type { Statement } from './stores/store.ts';
import { groupBy, jsonList, keptText, NOW, Table } from './table.ts';

/** The purchase that decides whether an audio may be ordered. */
export interface Holder {
  readonly id: string;
  /** Its number, for people. */
  readonly attempt: number;
  /** `unclear` has no known end; `being sent` will have one soon. */
  readonly status: 'placed' | 'unclear' | 'being sent';
  /** When it was begun. */
  readonly at: string;
  /** Empty where no order is known. */
  readonly order: string;
  /** The audio that has the name, as it is kept. */
  readonly url: string;
  /** Its file; empty where none is known. Of several, one from which a transcript may come. */
  readonly file: string;
  /** That file follows the sequence of the ids: the service has not said that it is of this audio. */
  readonly assumed: boolean;
  /** The service was asked about that file. */
  readonly isAsked: boolean;
  /** The SKUs of the file now, or of the order. */
  readonly skus: readonly string[];
  /** It was placed, and no transcript comes of any of its files. */
  readonly isOver: boolean;
  /** No transcript comes of some file of its order, and nobody knows whether that is its own. */
  readonly mayBeOver: boolean;
  /** A hash of the URL as it was given. */
  readonly spelling: string;
  /** The service has named the order, or files of it. */
  readonly isAccepted: boolean;
  /** Whether there was an answer, though not a clear one. */
  readonly answered: boolean;
  /** How long ago its outcome, or that there is none, was written; or it was begun, where nothing was. */
  readonly endedAgoMs: number;
  /** It was ordered elsewhere, and taken in with `track` at that time. */
  readonly tracked: boolean;
  /** `user@host, pid n` */
  readonly by: string;
  /** `user@host` or the CI job, where it is not this user on this machine. */
  readonly other: string;
}

interface HolderRow extends SenderRow {
  readonly name: string;
  readonly id: string;
  readonly number: number;
  readonly status: 'sending' | 'placed' | 'uncertain';
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly order_id: string;
  readonly tracked: number;
  readonly accepted: number | boolean;
  readonly url: string | null;
  readonly file: string | null;
  readonly spelling: string | null;
  readonly skus: string | null;
  readonly ended: string | null;
  readonly known: number | null;
  readonly checked_at: string | null;
  /** The order has a file of which nobody knows the audio; asked where its own has ended. */
  readonly unpaired: number | boolean;
  /** Asked where its file is assumed: another of the order that is too has ended without a transcript. */
  readonly doubtful: number | boolean;
}

/** SQL: a purchase that holds its names. An order does for good; an upgrade or a refund may be repeated once it is done. */
const HOLDS =
  "purchases.test = 0 AND purchases.status <> 'refused' AND (purchases.kind = 'order' OR purchases.status <> 'placed')";

const MADE = `SELECT 1 FROM purchase_items AS made
    LEFT JOIN files ON files.profile = made.profile AND files.id = made.file
    WHERE made.purchase = purchases.id`;

/** SQL: the file was made of it. Says that it is not null, or SQLite reads all items of the order, not the index. */
const IS_MADE = 'made.audio = names.position AND made.audio IS NOT NULL';

/** SQL: the order has a file that may be of any of its audios. */
const HAS_UNPAIRED = `EXISTS (${MADE} AND made.audio IS NULL AND made.file <> '' AND files.ended <> 'unfinished')`;

/** SQL: a file of the order has ended without a transcript, and nobody knows of which of its audios it is. */
const IS_DOUBTFUL = `EXISTS (SELECT 1 FROM files AS ended
  CROSS JOIN purchase_items AS theirs ON theirs.profile = ended.profile AND theirs.file = ended.id AND theirs.file <> ''
    AND theirs.purchase = ended.purchase
  WHERE ended.purchase = purchases.id AND ended.ended = 'unfinished' AND theirs.known = 0)`;

/** SQL: an order of an audio, with the name `names`, of which no file will have a transcript. It holds its name least. */
const IS_OVER = `(purchases.status = 'placed'
  AND EXISTS (${MADE} AND ${IS_MADE} AND made.known = 1 AND files.ended = 'unfinished')
  AND NOT EXISTS (${MADE} AND ${IS_MADE}
    AND (made.known = 0 OR coalesce(files.ended, '') <> 'unfinished'))
  AND NOT ${HAS_UNPAIRED})`;

/** Names a query: the text of them all stays within a few megabytes. */
const NAMES_PER_QUERY = 10_000;

/** The purchases whose names may be taken over, by their ids. */
export type TakeOver = readonly string[] | 'any';

export class Claims extends Table {
  /**
   * The holders of those of these names that are held. The newest purchase holds it, which may have had no clear answer
   * where an earlier one was placed: of all with the name, the one that says most counts.
   */
  async holders(names: readonly string[]): Promise<Map<string, Holder>> {
    const stored = new Map(names.map((name) => [name, this.stored(name)]));
    const found = new Map<string, Holder>();
    const all = [...new Set(stored.values())];
    for (let at = 0; at < all.length; at += NAMES_PER_QUERY) {
      const rows = await this.#rows(all.slice(at, at + NAMES_PER_QUERY));
      for (const ofPurchase of groupBy(rows, ({ name, id }) => `${id} ${name}`).values()) {
        const holder = holderOf(ofPurchase, this.db.isShared);
        const name = ofPurchase[0]?.name ?? '';
        if (!found.has(name) || weight(holder) > weight(found.get(name))) found.set(name, holder);
      }
    }
    return new Map([...stored].flatMap(([name, key]) => holderFor(name, found.get(key))));
  }

  /** CROSS JOIN keeps the order of the tables: each is then found by its key, however many items a purchase has. */
  #rows(names: readonly string[]): Promise<HolderRow[]> {
    return this.db.all<HolderRow>(
      `SELECT asked.value AS name, purchases.id, purchases.number, purchases.status, purchases.started_at,
         purchases.ended_at, purchases.order_id, purchases.tracked, ${IS_ACCEPTED} AS accepted, purchases."user",
         purchases.host, purchases.pid, purchases.job, purchases.process_start, purchases.seen_at, ${NOW} AS now,
         purchase_items.url, made.file, purchase_items.spelling,
         coalesce(${SKUS_NOW}, purchases.skus) AS skus, files.ended, made.known,
         files.checked_at, CASE WHEN files.ended = 'unfinished' THEN ${HAS_UNPAIRED} END AS unpaired,
         CASE WHEN made.known = 0 THEN ${IS_DOUBTFUL} END AS doubtful
       FROM json_each(?) AS asked CROSS JOIN item_names AS names ON names.profile = ? AND names.name = asked.value
       CROSS JOIN purchases ON purchases.id = names.purchase AND ${HOLDS}
       LEFT JOIN purchase_items ON purchase_items.purchase = purchases.id
         AND purchase_items.position = names.position
       LEFT JOIN purchase_items AS made ON made.purchase = purchases.id AND ${IS_MADE}
       LEFT JOIN files ON files.profile = purchases.profile AND files.id = made.file
       ORDER BY names.holds DESC, purchases.number DESC`,
      jsonList(names),
      this.profile,
    );
  }

  /**
   * Frees those of these names that may be taken over: from one of these purchases, unless it was placed or settled
   * meanwhile, or from one that was placed and of whose files no transcript comes; or all of them, from any.
   */
  freeing(names: readonly string[], from: TakeOver): Statement[] {
    if (from !== 'any' && from.length === 0) return [];
    return [
      {
        sql: `UPDATE item_names SET holds = 0 WHERE profile = ? AND holds = 1 AND name IN (SELECT value FROM json_each(?))
          AND (? = 1 OR EXISTS (SELECT 1 FROM purchases CROSS JOIN item_names AS names ON names.purchase = purchases.id
            WHERE purchases.id = item_names.purchase AND names.profile = item_names.profile AND names.name = item_names.name
              AND purchases.id IN (SELECT value FROM json_each(?))
              AND (purchases.status IN ('sending', 'uncertain') OR ${IS_OVER})))`,
        values: [
          ...[this.profile, jsonList(names.map((name) => this.stored(name))), Number(from === 'any')],
          JSON.stringify(from === 'any' ? [] : from),
        ],
      },
    ];
  }

  /** A name as it is kept. */
  stored(name: string): string {
    return keptText(storedName(this.hide(name)));
  }
}

/**
 * Gives each free name of these purchases to the one that holds it best, of all that have the name: one that was placed
 * and is not over, else the latest. First freed are the names of purchases that do not hold them any more; `isAnew`:
 * all, for use after records of purchases have met.
 */
export function givingNames(profile: string, purchases: readonly string[], isAnew = false): Statement[] {
  const theirs =
    'name IN (SELECT name FROM item_names AS own WHERE purchase IN (SELECT value FROM json_each(?)))';
  const stays = `EXISTS (SELECT 1 FROM purchases WHERE purchases.id = item_names.purchase AND ${HOLDS})`;
  const taken = `EXISTS (SELECT 1 FROM item_names AS held
    WHERE held.profile = item_names.profile AND held.name = item_names.name AND held.holds = 1)`;
  const best = `SELECT names.purchase, names.position FROM item_names AS names
    CROSS JOIN purchases ON purchases.id = names.purchase
    WHERE names.profile = item_names.profile AND names.name = item_names.name AND ${HOLDS}
    ORDER BY ${IS_OVER}, purchases.status = 'placed' DESC, purchases.started_at DESC, purchases.id DESC, names.position LIMIT 1`;
  const values = [profile, jsonList(purchases)];
  return [
    {
      sql: `UPDATE item_names SET holds = 0 WHERE profile = ? AND holds = 1 AND ${theirs} ${isAnew ? '' : `AND NOT ${stays}`}`,
      values,
    },
    {
      sql: `UPDATE item_names SET holds = 1 WHERE profile = ? AND holds = 0 AND ${theirs} AND NOT ${taken}
        AND (purchase, position) = (${best})`,
      values,
    },
  ];
}

/**
 * What is on order counts more than what is being sent, then what was accepted, then what may have been; least of all
 * counts an order of which nothing comes.
 */
function weight(holder: Holder | undefined): number {
  if (!holder || holder.isOver) return 0;
  if (holder.status === 'unclear') return holder.isAccepted ? 2 : 1;
  return holder.status === 'placed' ? 4 : 3;
}

const holderFor = (name: string, holder: Holder | undefined): Array<[string, Holder]> =>
  holder ? [[name, holder]] : [];

/** Of the rows of one purchase under one name: one for each file of its audio. */
function holderOf(rows: readonly HolderRow[], isShared: boolean): Holder {
  const row = rows.find(({ ended }) => ended !== 'unfinished') ?? (rows[0] as HolderRow);
  const isPlaced = row.status === 'placed';
  const hasEnded = isPlaced && row.ended === 'unfinished';
  return {
    id: row.id,
    attempt: row.number,
    status: shownStatus(row, isShared) as Holder['status'],
    at: row.started_at,
    order: row.order_id,
    url: row.url ?? '',
    file: row.file ?? '',
    assumed: Boolean(row.file) && Number(row.known) === 0,
    isAsked: row.checked_at !== null,
    skus: row.skus ? row.skus.split(',') : [],
    isOver: hasEnded && rows.every(({ known }) => Number(known) === 1) && !row.unpaired,
    mayBeOver: (isPlaced && Boolean(row.doubtful)) || (hasEnded && Boolean(row.unpaired)),
    spelling: row.spelling ?? '',
    isAccepted: Boolean(row.accepted),
    answered: row.status === 'uncertain',
    endedAgoMs: Date.parse(row.now) - Date.parse(row.ended_at ?? row.started_at),
    tracked: row.tracked === 1,
    by: senderText(row),
    other: otherSender(row),
  };
}
