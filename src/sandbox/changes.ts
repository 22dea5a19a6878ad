import { findUpgradeSku } from '../catalog/skus.ts';
import { findFileState } from '../catalog/states.ts';
import { addEvent } from './events.ts';
import { type FileRow, stateOf } from './files.ts';
import { costOf, makeInvoice } from './invoices.ts';
import { addTransaction, balanceCents, chargeNow, paidFor } from './money.ts';
import { dollars } from './prices.ts';
import { Refusal } from './refusal.ts';
import { begin, current, divert } from './steps.ts';
import type { Moment } from './store.ts';

/** Adds the upgrades to the file, or none of them. */
export function upgrade(moment: Moment, file: FileRow, skus: readonly string[]): void {
  mustBeUnderOrder(moment, file);
  const after = skus.reduce<Had>((had, sku) => withUpgrade(moment, file, had, sku), {
    sku: file.sku,
    extras: file.extras.split(',').filter(Boolean),
  });
  const lines = skus.map((sku) => ({ file: file.id, sku, minutes: file.minutes }));
  const cost = costOf(lines);
  if (balanceCents(moment) < cost) throw new Refusal(402, `The prepay balance is below $${dollars(cost)}.`);
  chargeNow(moment, file.id, current(moment.db, `file/${file.id}`, moment.now).n, cost);
  makeInvoice(moment, lines);
  moment.db.run(
    'UPDATE files SET sku = ?, extras = ? WHERE id = ?',
    after.sku,
    after.extras.join(','),
    file.id,
  );
}

function mustBeUnderOrder(moment: Moment, file: FileRow): void {
  const state = findFileState(stateOf(moment, file.id));
  if (file.test) throw new Refusal(409, `Audiofile ${file.id} is a test and can not be upgraded.`);
  if (state?.held || state?.end === 'unfinished') {
    throw new Refusal(409, `Audiofile ${file.id} can not be upgraded in the state ${state.name}.`);
  }
}

interface Had {
  readonly sku: string;
  readonly extras: readonly string[];
}

function withUpgrade(moment: Moment, { id }: FileRow, had: Had, sku: string): Had {
  const { from, to } = findUpgradeSku(sku) ?? {};
  if (from === undefined || to === undefined) {
    if (had.extras.includes(sku)) throw new Refusal(409, `Audiofile ${id} has ${sku} already.`);
    return { ...had, extras: [...had.extras, sku] };
  }
  if (had.sku !== from) throw new Refusal(409, `${sku} upgrades ${from}, but audiofile ${id} is ${had.sku}.`);
  if (stateOf(moment, id) === 'Delivered') throw new Refusal(409, `Audiofile ${id} is delivered already.`);
  return { ...had, sku: to };
}

/** Gives the money back, as long as nobody has begun to transcribe. */
export function refund(moment: Moment, file: FileRow): string {
  const { db, now } = moment;
  const state = stateOf(moment, file.id);
  if (file.order === null || file.test)
    throw new Refusal(409, `Nothing was paid for audiofile ${file.id}: it is a test.`);
  if (!findFileState(state)?.refundable) {
    throw new Refusal(409, `Audiofile ${file.id} can not be refunded in the state ${state}.`);
  }
  const paid = paidFor(moment, file.id);
  const step = divert(db, `file/${file.id}`, 'Refunded', now);
  const amount = dollars(paid.cents);
  addEvent(db, `file/${file.id}`, step, 'REFUND_ISSUED', {
    amount,
    audiofile: file.id,
    order: file.order,
    original_transaction: paid.transaction,
    transaction: addTransaction(db, file.id, step, paid.cents),
  });
  begin(db, `file/${file.id}`, step, now);
  return amount;
}
