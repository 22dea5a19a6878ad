/** A call that costs or returns money, on its way to the service, and what the service made of it. */
import type { ProcessMark } from '../lib/processes.ts';
import { hiddenDetails } from './audio-details.ts';
import type { Audio } from './audio-names.ts';

export type PurchaseKind = 'order' | 'upgrade' | 'refund';

export interface NewPurchase {
  /** An order, unless it says something else. */
  readonly kind?: PurchaseKind | undefined;
  /** The raw call of `steno api`: `POST /order_url`. */
  readonly via?: string | undefined;
  /** Of an order; of an upgrade or a refund, the one file. */
  readonly audios: readonly PurchasedAudio[];
  readonly skus: readonly string[];
  /** Of the speakers. */
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
}

export interface PurchasedAudio extends Audio {
  /** The file that is upgraded or refunded. */
  readonly file?: string | undefined;
  /** What it is expected to cost; absent where that is not known. */
  readonly cost?: Cost | undefined;
  /** The total of the file, as the service last said it. */
  readonly totalBefore?: string | undefined;
}

export interface Cost {
  /** In millionths of the currency: databases add them up. */
  readonly millionths: number;
  /** Empty where it is not known. */
  readonly currency: string;
}

/** A purchase that was written to the ledger. */
export interface Begun {
  /** Made by the client. */
  readonly id: string;
  /** Its number, for people. */
  readonly attempt: number;
  readonly startedAt: string;
}

/** Who sends a purchase, and from which process. */
export interface PurchaseSender extends ProcessMark {
  readonly user: string;
  /** The CI job, and who started it; empty where there is none. */
  readonly job: string;
  readonly actor: string;
}

/** What the service answered to an order. */
export interface PlacedOrder {
  /** Empty where the answer has none. */
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}

export const kindOf = ({ kind = 'order' }: Pick<NewPurchase, 'kind'>): PurchaseKind => kind;

/** SQL: the service has named the order, or files of it. What it named was placed, whatever people say. */
export const IS_ACCEPTED =
  "(purchases.named <> '' OR EXISTS (SELECT 1 FROM files WHERE files.purchase = purchases.id))";

/** What is kept on this machine holds no secret either. */
export function hiddenPurchase(purchase: NewPurchase, hide: (text: string) => string): NewPurchase {
  const optional = (text: string | undefined): string | undefined => text && hide(text);
  const { audios, names, notes, via } = purchase;
  return {
    ...purchase,
    ...{ names: names.map(hide), notes: optional(notes), via: optional(via) },
    audios: audios.map(({ url, key, names: own, details, file, cost, totalBefore }) => ({
      ...{ url: hide(url), key: optional(key), names: own.map(hide), file, cost, totalBefore },
      details: hiddenDetails(details, hide),
    })),
  };
}
