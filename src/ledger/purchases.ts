/** Every purchase: on disk before it is sent, so that a crash or a power cut leaves a trace. */

import { errorMessage, StenoError, systemReason } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import { renewInvoices, updateBills } from './billing.ts';
import { type SpendingLimit, waitingForOthers, withinLimit } from './budgets.ts';
import type { TakeOver } from './claims.ts';
import { movedMark, refuseMoved, unlessMoved } from './moved.ts';
import { matchFiles, type OrderedAudio, type OrderedFiles } from './ordered-files.ts';
import { WITH_AUDIO } from './pairing.ts';
import { type Begun, hiddenPurchase, kindOf, type NewPurchase, type PlacedOrder } from './purchase.ts';
import { type Place, PurchaseTable } from './purchase-table.ts';
import { CommitUnknown, type Statement } from './stores/store.ts';
import { jsonList, NOW } from './table.ts';
import { howToRecord, type KeptOutcome, type PurchaseOutcome } from './waiting.ts';

const MAX_DETAIL_LENGTH = 600;

const NEVER_SENT = 'not sent: the ledger became unavailable';

const namesOf = ({ audios, test }: NewPurchase): string[] =>
  test ? [] : audios.flatMap(({ names }) => names);

/** Real files of these ids. */
const KNOWN = 'files.profile = ? AND files.test = 0 AND files.id IN (SELECT value FROM json_each(?))';

/** How often a purchase is begun anew whose COMMIT is known not to have come through. */
const MAX_BEGINNINGS = 3;

type NotPlaced = 'refused' | 'uncertain';

/** What became of an outcome that the ledger could not take. */
interface Kept {
  readonly what: string;
  readonly hint?: string | undefined;
}

const newId = (): string => process.getBuiltinModule('node:crypto').randomUUID();

export class Purchases extends PurchaseTable {
  /**
   * Writes a purchase and claims every name of its audios, all or none. Gives nothing where another purchase holds one of
   * them, unless it is one of those that may be taken over, or where a limit does not allow it. Tests claim nothing.
   */
  async begin(
    purchase: NewPurchase,
    takeOver: TakeOver,
    limits: readonly SpendingLimit[] = [],
  ): Promise<Begun | undefined> {
    // What costs nothing passes under any limit.
    const held = purchase.test || kindOf(purchase) === 'refund' ? [] : limits;
    for (let n = 1; ; n += 1) {
      const id = newId();
      this.#reserve(purchase, id);
      const begun = await this.#begin(purchase, id, takeOver, held).catch((error: unknown) => {
        this.context.waiting?.release(id);
        throw error;
      });
      if (begun && !(begun instanceof CommitUnknown)) return begun;
      this.context.waiting?.release(id);
      if (!begun) return undefined;
      if (n === MAX_BEGINNINGS) throw begun;
    }
  }

  /** Without room for the answer nothing is sent, unless the answer goes to another machine first. */
  #reserve(purchase: NewPurchase, id: string): void {
    try {
      this.context.waiting?.reserve(purchase, id);
    } catch (cause) {
      if (this.db.isShared) return;
      throw new StenoError('failed', `there is no room to save the answer: ${systemReason(cause)}`, {
        cause,
        hint: 'nothing was sent; free space on the disk of the ledger',
      });
    }
  }

  /** Gives the error where its COMMIT is known not to have come through. */
  async #begin(
    purchase: NewPurchase,
    id: string,
    takeOver: TakeOver,
    limits: readonly SpendingLimit[],
  ): Promise<Begun | undefined | CommitUnknown> {
    const startedAt = this.timestamp();
    const statements = [
      unlessMoved(this.profile),
      ...(limits.length ? [waitingForOthers(this.profile, startedAt)] : []),
      ...this.claims.freeing(namesOf(purchase), takeOver),
      ...this.adding(purchase, { id, claims: !purchase.test }),
      ...limits.map((limit) => withinLimit(this.profile, id, limit)),
      this.#finding(id),
    ];
    try {
      const [begun] = (await this.db.batch<Begun>(statements)) ?? [];
      if (begun === undefined) await refuseMoved(this.db, this.profile);
      return begun;
    } catch (error) {
      if (!(error instanceof CommitUnknown)) throw error;
      return (await this.#askAbout(purchase, { id, attempt: 0, startedAt }, error)) ?? error;
    }
  }

  #finding(id: string): Statement {
    return {
      sql: 'SELECT id, number AS attempt, started_at AS "startedAt" FROM purchases WHERE id = ?',
      values: [id],
    };
  }

  /** A COMMIT got no answer: nothing is sent unless the purchase is known to be there. */
  async #askAbout(purchase: NewPurchase, begun: Begun, error: CommitUnknown): Promise<Begun | undefined> {
    try {
      return await this.#unlessForbidden(purchase, begun);
    } catch {
      await this.#keep(purchase, begun, { kind: 'refused', detail: NEVER_SENT });
      throw error;
    }
  }

  /**
   * Takes the place of a purchase that is not there, so that a COMMIT which is still on its way fails: the id is unique,
   * and the database waits for the end of whatever holds it. Gives the purchase where it is there.
   */
  #unlessForbidden(purchase: NewPurchase, { id, startedAt }: Begun): Promise<Begun | undefined> {
    return this.db.durable(async (db) => {
      const there = this.#finding(id);
      const [row, ...others] = this.adding(purchase, { id, startedAt });
      if (row && (await db.run(row.sql, ...row.values)) === 0)
        return db.get<Begun>(there.sql, ...there.values);
      await db.batch([...others, ...this.answering(id, 'refused', NEVER_SENT)]);
      return undefined;
    });
  }

  /** Says that the process which sends it is still there. */
  async heartbeat({ id }: Begun): Promise<void> {
    await this.db.run(`UPDATE purchases SET seen_at = ${NOW} WHERE id = ? AND status = 'sending'`, id);
  }

  /** Renews the lease of a purchase, if it is still to be sent, holds all its names, and the ledger has not moved. */
  async renew({ id }: Begun, purchase: NewPurchase): Promise<boolean> {
    const renewed = await this.db.run(
      `UPDATE purchases SET seen_at = ${NOW} WHERE id = ? AND status = 'sending'
       AND (SELECT count(*) FROM item_names WHERE item_names.purchase = purchases.id AND holds = 1) = ?
       AND NOT EXISTS (SELECT 1 FROM properties WHERE name = ?)`,
      id,
      new Set(namesOf(purchase).map((name) => this.claims.stored(name))).size,
      movedMark(this.profile),
    );
    return renewed > 0;
  }

  /**
   * The service accepted the order: keeps those of its files that can be told. Where that is not all of them, the
   * purchase stays open.
   */
  markPlaced(begun: Begun, order: NewPurchase, placed: PlacedOrder): Promise<OrderedFiles> {
    const at = this.timestamp();
    const outcome = {
      kind: 'placed' as const,
      placed: { ...placed, hold: placed.hold && this.hide(placed.hold) },
    };
    return this.#sure(order, begun, outcome, () => this.#writePlaced(begun, order, placed, at));
  }

  async #writePlaced(
    begun: Begun,
    order: NewPurchase,
    placed: PlacedOrder,
    at: string,
  ): Promise<OrderedFiles> {
    const { id } = begun;
    const audios = order.audios.map(({ url, key = '' }) => ({ url: this.hide(url), key: this.hide(key) }));
    const hold = placed.hold === undefined ? null : this.hide(placed.hold);
    const row = { id: placed.id, hold, at, test: order.test, isNamed: true };
    const write = (found: OrderedFiles, places: readonly Place[]): Statement[] => {
      const isOpen = found.problem !== undefined && !order.test;
      return [
        ...this.answering(id, isOpen ? 'uncertain' : 'placed', found.problem ?? '', placed.id),
        ...this.addingFiles(id, row, found.files, places),
      ];
    };
    const asNew = matchFiles(audios, placed.audiofiles, new Map());
    // Mostly none of the files is known: then nothing has to be read first.
    const empty = audios.map((_, position) => ({ position, recording: 1, file: '', named: '', audio: null }));
    const first = [...this.#ifThere(id), ...this.#ifNoneIsKnown(id, order, placed), ...write(asNew, empty)];
    if (await this.db.batch(first)) return asNew;
    return this.db.durable(async (db) => {
      const known = await this.within(db).#knownAudios(placed.audiofiles);
      const found = matchFiles(audios, placed.audiofiles, known);
      const restoring = this.#restoring(begun, order);
      if (restoring.length) await db.batch(restoring);
      await db.batch(write(found, await this.within(db).places(id)));
      return found;
    });
  }

  /** Undoes the batch where the ledger has one of the files of a real order. */
  #ifNoneIsKnown(id: string, { test }: NewPurchase, { audiofiles }: PlacedOrder): Statement[] {
    const none = {
      sql: `UPDATE purchase_items SET known = known WHERE purchase = ? AND file <> ''`,
      values: [id],
      expects: 0,
    };
    if (test) return [none];
    return [
      none,
      {
        sql: `UPDATE files SET seq = seq WHERE ${KNOWN}`,
        values: [this.profile, jsonList(audiofiles)],
        expects: 0,
      },
    ];
  }

  /** The audio of those of these files that the ledger has; test files belong to none. */
  async #knownAudios(ids: readonly string[]): Promise<ReadonlyMap<string, OrderedAudio>> {
    const rows = await this.db.all<OrderedAudio & { id: string }>(
      `SELECT files.id, coalesce(audios.url, '') AS url, coalesce(audios.key, '') AS key FROM files ${WITH_AUDIO} WHERE ${KNOWN}`,
      this.profile,
      jsonList(ids),
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** The service accepted the upgrade or the refund: the file shows it at once. */
  markDone(begun: Begun, purchase: NewPurchase): Promise<void> {
    return this.#sure(purchase, begun, { kind: 'done' }, () => this.#writeDone(begun, purchase));
  }

  async #writeDone(begun: Begun, purchase: NewPurchase): Promise<void> {
    const file = purchase.audios[0]?.file ?? '';
    await this.db.durable(async (db) => {
      await db.batch([...this.#restoring(begun, purchase), ...this.answering(begun.id, 'placed', '')]);
      if (purchase.test) return;
      await this.within(db).changeFile(kindOf(purchase), file);
      await renewInvoices(db, this.profile, [file]);
      await updateBills(db, this.profile, [file]);
    });
  }

  /** It was clearly not accepted: its audios may be ordered again. */
  markRefused(begun: Begun, purchase: NewPurchase, detail: string): Promise<void> {
    return this.#markOpen(begun, purchase, 'refused', detail);
  }

  /** It may have been accepted. */
  markUncertain(begun: Begun, purchase: NewPurchase, detail: string): Promise<void> {
    return this.#markOpen(begun, purchase, 'uncertain', detail);
  }

  #markOpen(begun: Begun, purchase: NewPurchase, kind: NotPlaced, detail: string): Promise<void> {
    const text = oneLine(this.hide(detail), MAX_DETAIL_LENGTH);
    return this.#sure(purchase, begun, { kind, detail: text }, async () => {
      await this.#writeOpen(begun, purchase, kind, text);
    });
  }

  async #writeOpen(begun: Begun, purchase: NewPurchase, kind: NotPlaced, detail: string): Promise<void> {
    const statements = this.answering(begun.id, kind, detail);
    if (await this.db.batch([...this.#ifThere(begun.id), ...statements])) return;
    await this.db.batch([...this.#restoring(begun, purchase), ...statements]);
  }

  /** Undoes the batch where a shared ledger has lost the purchase. */
  #ifThere(id: string): Statement[] {
    if (!this.db.isShared) return [];
    return [{ sql: 'UPDATE purchases SET seen_at = seen_at WHERE id = ?', values: [id], expects: 1 }];
  }

  /** Other machines may have restored a shared ledger from an older copy, or it has failed over to one. */
  #restoring({ id, startedAt }: Begun, purchase: NewPurchase): Statement[] {
    return this.db.isShared ? this.adding(purchase, { id, startedAt }) : [];
  }

  /** Writes an outcome that the ledger could not take at its time; once, though two processes may have it. */
  async take({ begun, at, sender, purchase, outcome }: KeptOutcome): Promise<void> {
    // A failover, or a ledger that was restored, may have lost the purchase.
    await this.db.batch(this.adding(purchase, { id: begun.id, startedAt: begun.startedAt, sender }));
    if (outcome.kind === 'placed') {
      const sql = "SELECT 1 FROM purchases WHERE id = ? AND outcome = 'placed' AND named = ?";
      if (await this.db.get(sql, begun.id, outcome.placed.id)) return;
      await this.#writePlaced(begun, purchase, outcome.placed, at);
    } else if (outcome.kind === 'done') await this.#writeDone(begun, purchase);
    else await this.#writeOpen(begun, purchase, outcome.kind, outcome.detail);
  }

  /**
   * Each outcome may be written twice, so a write that may have come through is repeated. The outcome is kept here first
   * where the ledger may go away meanwhile, and else where it can't be written: it is never dropped.
   */
  async #sure<Result>(
    purchase: NewPurchase,
    begun: Begun,
    outcome: PurchaseOutcome,
    write: () => Promise<Result>,
  ): Promise<Result> {
    let kept = this.db.isShared ? await this.#keep(purchase, begun, outcome) : undefined;
    try {
      const result = await write().catch((error: unknown) => {
        if (error instanceof CommitUnknown) return write();
        throw error;
      });
      this.context.waiting?.release(begun.id);
      if (kept) await this.context.waiting?.remove([begun.id]);
      return result;
    } catch (cause) {
      if (!this.context.waiting) throw cause;
      kept ??= await this.#keep(purchase, begun, outcome);
      throw new StenoError('failed', `${errorMessage(cause)}; ${kept.what}`, { cause, hint: kept.hint });
    }
  }

  /** A disk that can't take it is no reason not to tell the ledger. */
  async #keep(purchase: NewPurchase, begun: Begun, outcome: PurchaseOutcome): Promise<Kept> {
    const { waiting } = this.context;
    try {
      if (!waiting) throw new Error('there is nowhere to save it');
      await waiting.keepOutcome({
        ...{ begun, outcome, at: this.timestamp(), sender: this.sender() },
        purchase: hiddenPurchase(purchase, this.hide),
      });
      return { what: 'the next steno command on this machine that can write to the ledger records it' };
    } catch (error) {
      return {
        what: `it could not be saved on this machine, either: ${systemReason(error)}; the service said: ${JSON.stringify(outcome)}`,
        hint: howToRecord(begun, outcome),
      };
    }
  }
}
