import type { PlannedAudio, PlannedOrder } from '../flows/orders/planned-order.ts';
import type { Estimate } from '../flows/prices/estimate.ts';
import { cutSignatures } from '../lib/audio-identity.ts';
import { type Json, type JsonObject, toJson } from '../lib/json.ts';
import { cutJsonSignatures } from '../lib/json-signatures.ts';
import type { View } from '../lib/view.ts';
import { estimateJson } from './estimate.ts';

export interface PlanRow {
  readonly order: PlannedOrder;
  /** What would be sent. */
  readonly document: JsonObject;
  readonly estimate: Estimate;
}

export interface PlanForm {
  readonly isList: boolean;
  /** The audios come from a feed or from files, which say more of them than a URL. */
  readonly hasDetails: boolean;
}

/**
 * What --dry-run shows: a row for each URL; as JSON, the document that would be sent, or with `isList` an array of
 * them; with `hasDetails`, each has `audios` and `estimate` beside. Signatures are left out.
 */
export function planView(plan: readonly PlanRow[], { isList, hasDetails }: PlanForm): View {
  const documents = plan.map((row) => (hasDetails ? withDetails(row) : row.document));
  const detailColumns = [
    { name: 'title', importance: 80 },
    { name: 'date', importance: 40, uncut: true },
    { name: 'minutes', header: 'length', kind: 'minutes' as const, importance: 50 },
  ];
  const rows = plan.flatMap(({ order }, at) =>
    order.audios.map((audio) =>
      [
        ...[String(at + 1), ...(hasDetails ? detailCells(audio) : []), audio.path ?? audio.url],
        ...[order.skus.join(','), order.names.join('|'), order.notes ?? '', order.test ? 'test' : ''],
      ].map(cutSignatures),
    ),
  );
  return {
    json: cutJsonSignatures(isList ? documents : (documents[0] ?? null)),
    columns: [
      { name: 'order', kind: 'id' },
      ...(hasDetails ? detailColumns : []),
      { name: 'url', kind: 'link', importance: 70 },
      { name: 'skus', importance: 60 },
      { name: 'names', importance: 20 },
      { name: 'notes', importance: 30 },
      { name: 'test', importance: 65, uncut: true },
    ],
    rows,
    quiet: plan.flatMap(({ order }) => order.audios.map(({ path, url }) => path ?? cutSignatures(url))),
  };
}

const detailCells = ({ details }: PlannedAudio): string[] => [
  details?.title ?? '',
  details?.published?.slice(0, 10) ?? '',
  minutesText(details?.seconds),
];

const withDetails = ({ order, document, estimate }: PlanRow): JsonObject =>
  new Map([...document, ['audios', order.audios.map(audioJson)], ['estimate', estimateJson(estimate)]]);

const audioJson = ({ path, url, details = {} }: PlannedAudio): Json =>
  toJson({
    url: path === undefined ? url : null,
    file: path ?? null,
    title: details.title || null,
    published: details.published ?? null,
    minutes: minutesText(details.seconds) || null,
    guid: details.guid ?? null,
    link: details.link ?? null,
  });

/** As `files` has them. */
const minutesText = (seconds: number | undefined): string =>
  seconds === undefined ? '' : String(Math.round(seconds / 0.6) / 100);
