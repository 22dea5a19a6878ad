/** The files of many orders, and what was not ordered: what a list of orders prints. */
import { resolve } from 'node:path';
import { audioRowOf } from '../../ledger/purchase.ts';
import type { StenoError } from '../../lib/errors.ts';
import { cutSignatures } from '../../lib/signatures.ts';
import { type KnownFiles, knownFiles, type ListedFile, listed, unknownFile } from '../files/listed.ts';
import { type ShownFile, savedByFile, shownFile } from '../files/shown.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import type { HeldFailure } from './duplicates.ts';
import { fileProblem, heldOrder, notSentError } from './failures.ts';
import type { KeptOut } from './guard.ts';
import type { OrderJob, OrderResult } from './order-flow.ts';
import { ownFiles, type PlacedOrder } from './place.ts';
import { type PlannedAudio, type PlannedOrder, shownUrl } from './planned-order.ts';

interface ListOptions {
  readonly waits: boolean;
  readonly currency: string;
  readonly known: KnownFiles;
}

const FILES_PER_PAGE = 2_000;

/**
 * Every row as a file, those that were left out too: in the order in which they were sent, then what was not. In pages:
 * the documents of a hundred thousand of them would fill the memory.
 */
export async function* orderedFiles(job: OrderJob, result: OrderResult): AsyncGenerator<ShownFile[]> {
  const { means, waits, isShown, ledger } = job;
  const options = { waits: waits && !isShown, currency: means.settings.currency };
  let [parts, ids]: [Part[], string[]] = [[], []];
  const shown = async (): Promise<ShownFile[]> => {
    const known = await knownFiles(ledger, ids);
    return parts.flatMap(({ files }) => files({ ...options, known }));
  };
  for (const part of partsOf(job, result)) {
    parts.push(part);
    for (const id of part.ids) if (id) ids.push(id);
    if (Math.max(parts.length, ids.length) < FILES_PER_PAGE) continue;
    yield await shown();
    [parts, ids] = [[], []];
  }
  yield await shown();
}

interface Part {
  /** Those of which the ledger may know more. */
  readonly ids: readonly string[];
  files(options: ListOptions): ShownFile[];
}

function* partsOf({ isShown, plan, run }: OrderJob, result: OrderResult): Generator<Part> {
  const { sent, waited } = result;
  const found: Waited = {
    outcomes: new Map(waited?.outcomes.map((each) => [each.what, each])),
    saved: savedByFile(waited?.saved),
  };
  const rows = (planned: PlannedOrder, why: RowState): Part => ({
    ids: [],
    files: (options) =>
      planned.audios.map((audio) => rowFile(audioRow(plannedRow(planned), audio), options, why)),
  });
  for (const { value, error, planned } of sent.outcomes)
    yield value
      ? { ids: value.order.audiofiles, files: (options) => placedFiles(value, result, found, options) }
      : rows(planned, { error });
  for (const held of sent.held)
    yield { ids: held.error.duplicate?.audiofiles ?? [], files: (options) => [heldFile(held, options)] };
  for (const planned of sent.notSent) yield rows(planned, { error: notSentError(sent) });
  for (const planned of run.overBudget) yield rows(planned, { leftOut: 'budget' });
  // In a plan, what counts as ordered is left out too.
  for (const row of isShown ? [...run.leftOut, ...run.existing] : run.leftOut)
    yield { ids: [row.holder?.file ?? ''], files: (options) => leftOutFile(row, options) };
  for (const row of [...plan.leftOut, ...plan.counted.flatMap((each) => (each.isOther ? [] : each.rows))])
    yield { ids: [], files: (options) => [unplannedFile(row, options)] };
}

interface Waited {
  readonly outcomes: ReadonlyMap<string, NonNullable<OrderResult['waited']>['outcomes'][number]>;
  readonly saved: ReturnType<typeof savedByFile>;
}

interface RowState extends Pick<ShownFile, 'error' | 'leftOut'> {
  /** The id of the file, where it is on order. */
  readonly what?: string;
}

/** A row of a list: the document of what exists, where it is on order; else what is known of it here. */
const rowFile = (
  otherwise: ListedFile,
  options: ListOptions,
  { what = '', error, leftOut }: RowState,
): ShownFile => ({
  ...shownFile({ ...options, what, error, otherwise }),
  leftOut,
});

function leftOutFile({ planned, why: leftOut, holder }: KeptOut, options: ListOptions): ShownFile[] {
  const { file: what = '', order: order_id = '' } = holder ?? {};
  const base = holder ? unknownFile : plannedRow(planned);
  return planned.audios.map((audio) =>
    rowFile({ ...audioRow(base, audio), order_id }, options, { what, leftOut }),
  );
}

const unplannedFile = (
  { path, why: leftOut = 'unusable', audio }: LeftOut,
  options: ListOptions,
): ShownFile => {
  const ofPath = { ...unknownFile, url: path, audio: { source: resolve(path) } };
  return rowFile(audio ? audioRow(unknownFile, audio) : ofPath, options, { leftOut });
};

function heldFile({ what, error, planned }: HeldFailure, options: ListOptions): ShownFile {
  const { reason: leftOut, order: order_id = '', audiofiles: [file = ''] = [] } = error.duplicate ?? {};
  const [audio] = planned?.audios ?? [];
  const row = planned && audio ? audioRow(plannedRow(planned), audio) : { ...unknownFile, url: what };
  return rowFile({ ...row, order_id }, options, { what: file, error, leftOut });
}

function placedFiles(
  placed: PlacedOrder,
  result: OrderResult,
  waited: Waited,
  options: ListOptions,
): ShownFile[] {
  const { order } = placed;
  const problem = fileProblem(placed)[0]?.error;
  const answer = options.waits ? null : order.json;
  const rowOf = orderedRows(placed);
  const ids = ownFiles(placed);
  const found = new Set(placed.files.files.map(({ position }) => position));
  const lacking = problem ? placed.planned.audios.filter((_, position) => !found.has(position)) : [];
  // An order without files is an element too.
  const files = (ids.length || lacking.length ? ids : ['']).map((id) => {
    const outcome = waited.outcomes.get(id);
    const shown: ShownFile = {
      ...shownFile({
        ...{ ...options, what: id, file: outcome?.file, saved: waited.saved.get(id) },
        error: outcome ? outcome.error : otherError(placed, result, options.waits),
        otherwise: rowOf(id),
      }),
      isExisting: placed.isExisting,
    };
    if (!options.waits)
      return placed.isExisting ? { ...shown, error: undefined } : { ...shown, answer, error: undefined };
    if (outcome?.file) return shown;
    const state = order.hold ? 'On Hold' : shown.row.state;
    return { ...shown, row: { ...shown.row, state }, answer, error: shown.error ?? problem };
  });
  const row = { ...plannedRow(placed.planned), order_id: order.id, hold: order.hold ?? null };
  const without = lacking.map((audio) => ({
    ...rowFile(audioRow(row, audio), options, { error: problem }),
    answer,
  }));
  return [...files, ...without];
}

function otherError(
  { order }: PlacedOrder,
  { waitError }: OrderResult,
  waits: boolean,
): StenoError | undefined {
  if (!waits) return undefined;
  return order.hold ? heldOrder(order.hold) : waitError;
}

/** What is known of a file from its order, where there is no ledger. */
function orderedRows({ planned, order, files }: PlacedOrder): (id: string) => ListedFile {
  const byId = new Map(files.files.map((file) => [file.id, file]));
  const common = { ...plannedRow(planned), order_id: order.id, hold: order.hold ?? null };
  const single = planned.audios.length === 1 ? 0 : undefined;
  return (id) => {
    const { position = single, known = true } = byId.get(id) ?? {};
    const audio = position === undefined ? undefined : planned.audios[position];
    const row = { ...common, id, assumed: Number(!known) };
    return audio ? audioRow(row, audio) : listed(row);
  };
}

const plannedRow = ({ skus, names, notes, test }: PlannedOrder): ListedFile => ({
  ...unknownFile,
  skus: skus.join(','),
  names: cutSignatures(names.join('|')),
  notes: notes === undefined ? null : cutSignatures(notes),
  test: test ? 1 : 0,
});

/** A row of a list, with what its feed or file says of it. */
const audioRow = (row: ListedFile, audio: PlannedAudio): ListedFile =>
  listed({
    ...row,
    url: shownUrl(audio),
    key: audio.key ?? '',
    ...audioRowOf(audio.details ?? {}, cutSignatures),
  });
