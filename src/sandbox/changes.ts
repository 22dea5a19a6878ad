import { findUpgradeSku } from '../catalog/skus.ts';
import { findFileState } from '../catalog/states.ts';
import { addEvent } from './events.ts';
import { type FileRow, stateOf } from './files.ts';
import { addInvoice, costOf } from './invoices.ts';
import { addTransaction, balanceCents, chargeNow, paidFor } from './money.ts';
import { dollars } from './prices.ts';
import { Refusal } from './refusal.ts';
import { currentStep, replaceNextSteps, startStep } from './steps.ts';
import type { ServiceContext } from './store.ts';

/** Adds all the upgrades to the file, or none. */
export function upgrade(context: ServiceContext, file: FileRow, skus: readonly string[]): void {
  requireUpgradable(context, file);
  const after = skus.reduce<FileSkus>((before, sku) => withUpgrade(context, file, before, sku), {
    sku: file.sku,
    extras: file.extras.split(',').filter(Boolean),
  });
  const lines = skus.map((sku) => ({ file: file.id, sku, minutes: file.minutes }));
  const cost = costOf(lines);
  if (balanceCents(context) < cost) throw new Refusal(402, `The prepay balance is below $${dollars(cost)}.`);
  chargeNow(context, file.id, currentStep(context.db, `file/${file.id}`, context.now).n, cost);
  addInvoice(context, lines);
  context.db.run(
    'UPDATE files SET sku = ?, extras = ? WHERE id = ?',
    after.sku,
    after.extras.join(','),
    file.id,
  );
}

function requireUpgradable(context: ServiceContext, file: FileRow): void {
  const state = findFileState(stateOf(context, file.id));
  if (file.test) throw new Refusal(409, `Audiofile ${file.id} is a test and can not be upgraded.`);
  if (state?.held || state?.end === 'unfinished') {
    throw new Refusal(409, `Audiofile ${file.id} can not be upgraded in the state ${state.name}.`);
  }
}

interface FileSkus {
  readonly sku: string;
  readonly extras: readonly string[];
}

function withUpgrade(context: ServiceContext, { id }: FileRow, before: FileSkus, sku: string): FileSkus {
  const { from, to } = findUpgradeSku(sku) ?? {};
  if (from === undefined || to === undefined) {
    if (before.extras.includes(sku)) throw new Refusal(409, `Audiofile ${id} has ${sku} already.`);
    return { ...before, extras: [...before.extras, sku] };
  }
  if (before.sku !== from)
    throw new Refusal(409, `${sku} upgrades ${from}, but audiofile ${id} is ${before.sku}.`);
  if (stateOf(context, id) === 'Delivered') throw new Refusal(409, `Audiofile ${id} is delivered already.`);
  return { ...before, sku: to };
}

/** Gives the money back, if no transcription work has been done; returns the amount. */
export function refund(context: ServiceContext, file: FileRow): string {
  const { db, now } = context;
  const state = stateOf(context, file.id);
  if (file.order === null || file.test)
    throw new Refusal(409, `Nothing was paid for audiofile ${file.id}: it is a test.`);
  if (!findFileState(state)?.refundable) {
    throw new Refusal(409, `Audiofile ${file.id} can not be refunded in the state ${state}.`);
  }
  const paid = paidFor(context, file.id);
  const step = replaceNextSteps(db, `file/${file.id}`, 'Refunded', now);
  const amount = dollars(paid.cents);
  addEvent(db, `file/${file.id}`, step, 'REFUND_ISSUED', {
    amount,
    audiofile: file.id,
    order: file.order,
    original_transaction: paid.transaction,
    transaction: addTransaction(db, file.id, step, paid.cents),
  });
  startStep(db, `file/${file.id}`, step, now);
  return amount;
}
