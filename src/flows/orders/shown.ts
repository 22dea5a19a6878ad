/** The files of many orders, and what was not ordered: what a list of orders prints. */
import { resolve } from 'node:path';
import { audiosWithoutFile, type OrderedAudio } from '../../ledger/ordered-files.ts';
import { detailsText } from '../../ledger/purchase.ts';
import type { StenoError } from '../../lib/errors.ts';
import { cutSignatures, withoutSignature } from '../../lib/signatures.ts';
import { type KnownFiles, type ListedFile, listed, unknownFile } from '../files/listed.ts';
import { type ShownFile, savedByFile, shownFile } from '../files/shown.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import type { HeldFailure } from './duplicates.ts';
import { fileProblem, notSentError } from './failures.ts';
import type { KeptOut } from './guard.ts';
import { heldOrder, type OrderResult } from './order-and-wait.ts';
import { keptAudio, ownFiles, type PlacedOrder } from './place.ts';
import { type PlannedAudio, type PlannedOrder, shownUrl } from './planned-order.ts';
import type { SentOrders } from './sending.ts';

interface ListOptions {
  readonly waits: boolean;
  readonly currency: string;
  readonly known: KnownFiles;
  readonly leftOut: readonly KeptOut[];
  /** What did not even become part of an order. */
  readonly unplanned: readonly LeftOut[];
}

/** In the order in which they were sent; then what was not. */
export function orderedFiles(result: OrderResult, options: ListOptions): ShownFile[] {
  const waited: Waited = {
    outcomes: new Map(result.waited?.outcomes.map((each) => [each.what, each])),
    saved: savedByFile(result.waited?.saved),
  };
  return [
    ...result.sent.outcomes.flatMap(({ value, error, planned }) =>
      value ? placedFiles(value, result, waited, options) : unplacedFiles(planned, error, options),
    ),
    ...unsentFiles(result.sent, options),
    ...overBudgetFiles(result.overBudget, options),
    ...options.leftOut.flatMap((row) => leftOutFile(row, options)),
    ...options.unplanned.map((row) => unplannedFile(row, options)),
  ];
}

/** What became of each file that was waited for, by its id. */
interface Waited {
  readonly outcomes: ReadonlyMap<string, NonNullable<OrderResult['waited']>['outcomes'][number]>;
  readonly saved: ReturnType<typeof savedByFile>;
}

const overBudgetFiles = (orders: readonly PlannedOrder[], options: ListOptions): ShownFile[] =>
  orders.flatMap((planned) =>
    unplacedFiles(planned, undefined, options).map((file) => ({ ...file, leftOut: 'budget' as const })),
  );

/** The document of what exists, where it is on order. */
function leftOutFile({ planned, why, holder }: KeptOut, options: ListOptions): ShownFile[] {
  const { file: what = '', order: order_id = '' } = holder ?? {};
  const base = holder ? unknownFile : plannedRow(planned);
  return planned.audios.map((audio) => {
    const otherwise = { ...audioRow(base, audio), order_id };
    const sources = { what, file: undefined, error: undefined, saved: [], otherwise };
    return { ...shownFile({ ...options, ...sources }), leftOut: why };
  });
}

const unplannedFile = ({ path, why = 'unusable', audio }: LeftOut, options: ListOptions): ShownFile => {
  const ofPath = { ...unknownFile, url: path, audio: { source: resolve(path) } };
  const row = audio ? audioRow(unknownFile, audio) : ofPath;
  return { ...unplaced(row, undefined, options), leftOut: why };
};

/** The files of what is left out. */
export const leftOutIds = ({ held }: SentOrders, leftOut: readonly KeptOut[]): string[] =>
  [
    ...leftOut.map(({ holder }) => holder?.file ?? ''),
    ...held.flatMap(({ error }) => error.duplicate?.audiofiles ?? []),
  ].filter(Boolean);

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
  const lacking = problem ? audiosWithoutFile(placed.planned.audios, audiosOf(placed)) : [];
  // An order without files is an element too.
  const files = (ids.length || lacking.length ? ids : ['']).map((id) => {
    const outcome = waited.outcomes.get(id);
    const shown = shownFile({
      ...{ ...options, what: id, file: outcome?.file, saved: waited.saved.get(id) },
      error: outcome ? outcome.error : otherError(placed, result, options.waits),
      otherwise: rowOf(id),
    });
    if (!options.waits)
      return placed.isExisting ? { ...shown, error: undefined } : { ...shown, answer, error: undefined };
    if (outcome?.file) return shown;
    const state = order.hold ? 'On Hold' : shown.row.state;
    return { ...shown, row: { ...shown.row, state }, answer, error: shown.error ?? problem };
  });
  const without = lacking.map((audio) => ({
    ...unplaced(
      { ...audioRow(plannedRow(placed.planned), audio), order_id: order.id, hold: order.hold ?? null },
      problem,
      options,
    ),
    answer,
  }));
  return [...files, ...without];
}

const audiosOf = ({ files }: PlacedOrder): OrderedAudio[] =>
  files.files.flatMap(({ audio }) => (audio ? [audio] : []));

/** Why a file was not waited for. */
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
  const [only] = planned.audios.length === 1 ? planned.audios.map(keptAudio) : [];
  const audios = new Map(files.files.map(({ id, audio }) => [id, audio]));
  const common = { ...plannedRow(planned), order_id: order.id, hold: order.hold ?? null };
  return (id) => {
    const audio = id ? audios.get(id) : only;
    const { url = '', key = '', details = '' } = audio ?? {};
    return listed({ ...common, id, url: withoutSignature(url), key, details });
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
    details: detailsText(audio.details, cutSignatures),
  });

const unplaced = (row: ListedFile, error: StenoError | undefined, { currency }: ListOptions): ShownFile => ({
  ...{ row, downloads: [], currency, error, answer: null },
});

const unplacedFiles = (
  planned: PlannedOrder,
  error: StenoError | undefined,
  options: ListOptions,
): ShownFile[] =>
  planned.audios.map((audio: PlannedAudio) => {
    return unplaced(audioRow(plannedRow(planned), audio), error, options);
  });

/** The document of what is on order, where that is known. */
function heldFile({ what, error, planned }: HeldFailure, options: ListOptions): ShownFile {
  const { reason, order = '', audiofiles: [file = ''] = [] } = error.duplicate ?? {};
  const [audio] = planned?.audios ?? [];
  const row = planned && audio ? audioRow(plannedRow(planned), audio) : { ...unknownFile, url: what };
  const otherwise = { ...row, order_id: order };
  return {
    ...shownFile({ ...options, what: file, file: undefined, error, saved: [], otherwise }),
    leftOut: reason,
  };
}

/** What the ledger held up, and what was left when the sending stopped. */
const unsentFiles = (sent: SentOrders, options: ListOptions): ShownFile[] => [
  ...sent.held.map((held) => heldFile(held, options)),
  ...sent.notSent.flatMap((planned) => unplacedFiles(planned, notSentError(sent), options)),
];
