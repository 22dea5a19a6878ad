import { findUpgradeSku } from '../catalog/skus.ts';
import { findFileState } from '../catalog/states.ts';
import { type Audio, audioAt } from './audio.ts';
import { Refusal } from './calls.ts';
import { addEvent } from './events.ts';
import {
  addSteps,
  appendSteps,
  currentStep,
  dollars,
  type FileRow,
  planFile,
  planRework,
  replaceNextSteps,
  type Step,
  startStep,
  stateOf,
} from './files.ts';
import {
  addInvoice,
  addTransaction,
  balanceCents,
  chargeNow,
  costOf,
  findRefundStep,
  type InvoiceLine,
  planRefund,
} from './invoices.ts';
import { type Scenario, scenariosOf } from './scenarios.ts';
import { insert, nextId, type ServiceContext, sampleFiles } from './store.ts';

export interface OrderRequest {
  readonly urls: readonly string[];
  /** The transcription SKU (never an alias), and the add-ons. */
  readonly sku: string;
  readonly extras: readonly string[];
  readonly notes: string;
  readonly names: string;
  readonly title: string | undefined;
  readonly test: boolean;
}

export interface PlacedOrder {
  readonly order: string;
  readonly files: readonly string[];
  readonly held: boolean;
}

interface Draft {
  readonly id: string;
  readonly url: string;
  readonly audio: Audio;
  readonly scenarios: ReadonlySet<Scenario>;
  readonly original: string | undefined;
  readonly lines: readonly InvoiceLine[];
}

export function placeOrder(context: ServiceContext, request: OrderRequest): PlacedOrder {
  const { db } = context;
  const order = nextId(db, 'order');
  const drafts = draftFiles(context, request);
  const lines = drafts.flatMap((draft) => draft.lines);
  const unpaid = drafts.some(({ scenarios }) => scenarios.has('unpaid'));
  const held = !request.test && isHeld(context, drafts, unpaid ? 0 : costOf(lines));
  const skus = [request.sku, ...request.extras].join(',');
  insert(db, 'orders', { id: order, skus, held: Number(held), unpaid: Number(unpaid) });
  for (const draft of drafts) addFile(context, order, request, draft);
  if (!request.test) addInvoice(context, lines, { held, unpaid });
  drafts.forEach((draft, index) => {
    const steps = planFile({ ...request, scenarios: draft.scenarios, held }, context.speed);
    addSteps(db, `file/${draft.id}`, steps);
    if (!request.test) {
      if (!unpaid) addTransaction(db, draft.id, held ? 1 : 0, -costOf(draft.lines));
      addFileEffects(context, order, draft, steps);
      if (index === 0) addOrderEvents(context, order, drafts, steps, { held, skus });
    }
    startStep(db, `file/${draft.id}`, 0, context.now);
  });
  return { order, files: drafts.map(({ id }) => id), held };
}

function draftFiles({ db, lengths }: ServiceContext, { urls, sku, extras, test }: OrderRequest): Draft[] {
  const drafts: Draft[] = [];
  for (const url of urls) {
    const id = nextId(db, 'file');
    const audio = audioAt(url, lengths.get(url));
    const scenarios = scenariosOf(url);
    const earlier =
      drafts.find((each) => each.url === url)?.id ??
      db.get<{ id: string }>('SELECT id FROM files WHERE link = ? AND test = 0 ORDER BY rowid LIMIT 1', url)
        ?.id;
    const original = earlier ?? (scenarios.has('duplicate') ? sampleFiles[0] : undefined);
    const lines = [sku, ...extras].map((each) => ({ file: id, sku: each, minutes: audio.minutes }));
    drafts.push({ id, url, audio, scenarios, original, lines: test ? [] : lines });
  }
  return drafts;
}

/** An order is also held if the balance does not cover it. */
function isHeld(context: ServiceContext, drafts: readonly Draft[], cost: number): boolean {
  return drafts.some(({ scenarios }) => scenarios.has('hold')) || balanceCents(context) < cost;
}

const addFile = (
  { db }: ServiceContext,
  order: string,
  { title, names, notes, sku, extras, test }: OrderRequest,
  { id, url, audio: { minutes, stars, title: ownTitle } }: Draft,
): void =>
  insert(db, 'files', {
    ...{ id, order, link: url, title: title ?? ownTitle, names, notes, minutes, stars },
    ...{ sku, extras: extras.join(','), test: Number(test) },
  });

function addFileEffects(
  { db }: ServiceContext,
  order: string,
  { id, url, original, scenarios }: Draft,
  steps: readonly Step[],
): void {
  const addEventAt = (state: string, name: string, fields: Readonly<Record<string, string>>): void => {
    const step = steps.findIndex((each) => each.state === state);
    if (step >= 0) addEvent(db, `file/${id}`, step, name, { audiofile: id, order, ...fields });
  };
  if (original !== undefined)
    addEventAt('Audio Processing', 'DUPLICATE_FILE', { original_audiofile: original });
  if (scenarios.has('difficult')) addEventAt('Checking Audio Quality', 'DIFFICULT_AUDIO', {});
  addEventAt('Delivered', 'TRANSCRIPT_COMPLETE', { originallink: url });
  const refundStep = findRefundStep(db, `file/${id}`);
  if (refundStep !== undefined) planRefund(db, { id, order }, refundStep);
}

/** Events of the whole order are sent once, with the steps of its first file. */
function addOrderEvents(
  { db }: ServiceContext,
  order: string,
  drafts: readonly Draft[],
  steps: readonly Step[],
  { held, skus }: { held: boolean; skus: string },
): void {
  const subject = `file/${drafts[0]?.id ?? ''}` as const;
  if (held) {
    const audiofiles = drafts.map(({ id }) => id).join(',');
    addEvent(db, subject, 0, 'ORDER_ON_HOLD', { order, audiofiles, hold: 'billing', skus });
  }
  if (drafts.some(({ scenarios }) => scenarios.has('card-failure'))) {
    const billing = steps.findIndex(({ state }) => state === 'Billing Processing');
    addEvent(db, subject, Math.max(billing, held ? 1 : 0), 'CC_AUTH_FAILURE', { order });
  }
}

/** Adds all the upgrades to the file, or none. */
export function upgrade(context: ServiceContext, file: FileRow, skus: readonly string[]): void {
  requireUpgradable(context, file);
  const after = skus.reduce<FileSkus>((before, sku) => withUpgrade(context, file, before, sku), {
    sku: file.sku,
    extras: file.extras.split(',').filter(Boolean),
  });
  const { id, minutes } = file;
  const lines = skus.map((sku) => ({ file: id, sku, minutes }));
  bill(context, file, lines);
  const extras = after.extras.join(',');
  context.db.run('UPDATE files SET sku = ?, extras = ? WHERE id = ?', after.sku, extras, id);
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
  if (file.test) throw new Refusal(409, `Audiofile ${file.id} is a test and can't be upgraded.`);
  if (state?.held || state?.end === 'unfinished') {
    throw new Refusal(409, `Audiofile ${file.id} can't be upgraded in the state ${state.name}.`);
  }
}

interface FileSkus {
  readonly sku: string;
  readonly extras: readonly string[];
}

function withUpgrade(context: ServiceContext, { id }: FileRow, before: FileSkus, sku: string): FileSkus {
  const { from, to } = findUpgradeSku(sku) ?? {};
  if (from === undefined || to === undefined) {
    if (before.extras.includes(sku)) throw new Refusal(409, `Audiofile ${id} already has ${sku}.`);
    return { ...before, extras: [...before.extras, sku] };
  }
  if (before.sku !== from)
    throw new Refusal(409, `${sku} upgrades ${from}, but audiofile ${id} is ${before.sku}.`);
  if (stateOf(context, id) === 'Delivered') throw new Refusal(409, `Audiofile ${id} is already delivered.`);
  return { ...before, sku: to };
}

/** Gives the money back, if no transcription work has been done; returns how many cents went to the balance. */
export function refund(context: ServiceContext, file: FileRow): number {
  const { db, now } = context;
  const state = stateOf(context, file.id);
  if (file.order === null || file.test)
    throw new Refusal(409, `Nothing was paid for audiofile ${file.id}: it is a test.`);
  if (!findFileState(state)?.refundable) {
    throw new Refusal(409, `Audiofile ${file.id} can't be refunded in the state ${state}.`);
  }
  const step = replaceNextSteps(db, `file/${file.id}`, 'Refunded', now);
  const cents = planRefund(db, file, step);
  startStep(db, `file/${file.id}`, step, now);
  return cents;
}
