/** An order that is to be placed. */
import type { OrderRequest } from '../../api/orders.ts';
import type { TakeOver } from '../../ledger/claims.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { withoutSignature } from '../../lib/signatures.ts';
import type { FileMark } from '../uploads/audio-files.ts';

export interface PlannedAudio extends Audio {
  /** A file of this machine, until it is uploaded. */
  readonly path?: string | undefined;
  /** Its place in the list that it comes from. */
  readonly row?: number | undefined;
  /** What it was when its content was read. */
  readonly mark?: FileMark | undefined;
}

export interface PlannedOrder extends Omit<OrderRequest, 'urls'> {
  readonly audios: readonly PlannedAudio[];
  /** The attempts whose names it may take: it orders again what they were about. */
  readonly takeOver?: TakeOver | undefined;
}

/** What people know an audio by. */
export const nameOf = ({ path, url, details }: PlannedAudio): string =>
  path ?? (details?.title || withoutSignature(url));

/** The URL of an audio without its secrets; of a file that has none yet, its path. */
export const shownUrl = ({ path, url }: PlannedAudio): string => path ?? withoutSignature(url);

/** How messages name an audio: what the user gave. Nobody knows a recording by the URL that an upload gave it. */
export const describeAudio = (audio: PlannedAudio): string =>
  audio.path ?? audio.details?.source ?? shownUrl(audio);

export const requestOf = ({ audios, skus, names, notes, test, extra }: PlannedOrder): OrderRequest => ({
  ...{ urls: audios.map(({ url }) => url), skus, names, notes, test, extra },
});

export const countAudios = (orders: readonly PlannedOrder[]): number =>
  orders.reduce((sum, { audios }) => sum + audios.length, 0);

export function describeUrls({ audios }: PlannedOrder): string {
  const first = audios[0] ? describeAudio(audios[0]) : '';
  return audios.length > 1 ? `${first} and ${audios.length - 1} more` : first;
}

export const rowOf = ({ row = 0 }: PlannedAudio): number => row;

/** The rows of a list before this one, and the others; without a row, all are before it. An order that is whole stays itself. */
export function splitRows(
  orders: readonly PlannedOrder[],
  row: number | undefined,
): { readonly before: readonly PlannedOrder[]; readonly others: readonly PlannedOrder[] } {
  if (row === undefined) return { before: orders, others: [] };
  const [before, others]: [PlannedOrder[], PlannedOrder[]] = [[], []];
  for (const order of orders) {
    const first = order.audios.filter((audio) => rowOf(audio) < row);
    const rest = order.audios.filter((audio) => rowOf(audio) >= row);
    if (first.length) before.push(rest.length ? { ...order, audios: first } : order);
    if (rest.length) others.push(first.length ? { ...order, audios: rest } : order);
  }
  return { before, others };
}
