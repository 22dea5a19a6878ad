import { type Audio, audioAt } from './audio.ts';
import { addEvent } from './events.ts';
import { nextId } from './ids.ts';
import { addInvoice, costOf, type InvoiceLine } from './invoices.ts';
import { planFile } from './lifecycle.ts';
import { addTransaction, balanceCents, findRefundStep, planRefund } from './money.ts';
import { sampleFiles } from './samples.ts';
import { type Scenario, scenariosOf } from './scenarios.ts';
import { addSteps, type Step, startStep } from './steps.ts';
import type { ServiceContext } from './store.ts';

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
  db.run(
    'INSERT INTO orders (id, skus, held, unpaid) VALUES (?, ?, ?, ?)',
    ...[order, skus, Number(held), Number(unpaid)],
  );
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

function addFile(
  { db }: ServiceContext,
  order: string,
  request: OrderRequest,
  { id, url, audio }: Draft,
): void {
  db.run(
    `INSERT INTO files (id, "order", link, title, names, notes, minutes, stars, sku, extras, test)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    order,
    url,
    request.title ?? audio.title,
    request.names,
    request.notes,
    audio.minutes,
    audio.stars,
    request.sku,
    request.extras.join(','),
    request.test ? 1 : 0,
  );
}

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
