import { findUpgradeSku } from '../catalog/skus.ts';
import { findFileState } from '../catalog/states.ts';
import { addEvent } from './events.ts';
import { type FileRow, stateOf } from './files.ts';
import { addInvoice, costOf, type InvoiceLine } from './invoices.ts';
import { planRework } from './lifecycle.ts';
import { balanceCents, chargeNow, findRefundStep, planRefund } from './money.ts';
import { dollars } from './prices.ts';
import { Refusal } from './refusal.ts';
import { scenariosOf } from './scenarios.ts';
import { appendSteps, currentStep, replaceNextSteps, startStep } from './steps.ts';
import type { ServiceContext } from './store.ts';

/** Adds all the upgrades to the file, or none. */
export function upgrade(context: ServiceContext, file: FileRow, skus: readonly string[]): void {
  requireUpgradable(context, file);
  const after = skus.reduce<FileSkus>((before, sku) => withUpgrade(context, file, before, sku), {
    sku: file.sku,
    extras: file.extras.split(',').filter(Boolean),
  });
  bill(
    context,
    file,
    skus.map((sku) => ({ file: file.id, sku, minutes: file.minutes })),
  );
  context.db.run(
    'UPDATE files SET sku = ?, extras = ? WHERE id = ?',
    after.sku,
    after.extras.join(','),
    file.id,
  );
  if (stateOf(context, file.id) === 'Delivered') rework(context, file);
}

function bill(context: ServiceContext, file: FileRow, lines: readonly InvoiceLine[]): void {
  const { db, now } = context;
  const { n } = currentStep(db, `file/${file.id}`, now);
  const unpaid = isUnpaid(context, file);
  if (!unpaid) {
    const cost = costOf(lines);
    if (balanceCents(context) < cost)
      throw new Refusal(402, `The prepay balance is below $${dollars(cost)}.`);
    chargeNow(context, file.id, n, cost);
  }
  addInvoice(context, lines, { held: false, unpaid });
  const refundStep = findRefundStep(db, `file/${file.id}`);
  if (refundStep !== undefined) planRefund(db, file, refundStep);
}

const isUnpaid = ({ db }: ServiceContext, { order }: FileRow): boolean =>
  db.get<{ unpaid: number }>('SELECT unpaid FROM orders WHERE id = ?', order)?.unpaid === 1;

/** A delivered file is delivered again with what was added. */
function rework({ db, now, speed }: ServiceContext, { id, order, link }: FileRow): void {
  const steps = appendSteps(db, `file/${id}`, planRework(scenariosOf(link), speed));
  const [first = 0] = steps;
  const fields = { audiofile: id, order: order ?? '', originallink: link };
  addEvent(db, `file/${id}`, steps.at(-1) ?? first, 'TRANSCRIPT_COMPLETE', fields);
  startStep(db, `file/${id}`, first, now);
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

/** Gives the money back, if no transcription work has been done; returns how many cents went to the balance. */
export function refund(context: ServiceContext, file: FileRow): number {
  const { db, now } = context;
  const state = stateOf(context, file.id);
  if (file.order === null || file.test)
    throw new Refusal(409, `Nothing was paid for audiofile ${file.id}: it is a test.`);
  if (!findFileState(state)?.refundable) {
    throw new Refusal(409, `Audiofile ${file.id} can not be refunded in the state ${state}.`);
  }
  const step = replaceNextSteps(db, `file/${file.id}`, 'Refunded', now);
  const cents = planRefund(db, file, step);
  startStep(db, `file/${file.id}`, step, now);
  return cents;
}
