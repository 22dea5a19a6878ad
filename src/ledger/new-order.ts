/** An order on its way to the service, and what the service made of it. */
import { NO_ORDER_ID } from '../lib/names.ts';
import type { Audio } from './audio-names.ts';

export interface NewOrder {
  readonly audios: readonly Audio[];
  readonly skus: readonly string[];
  /** Of the speakers. */
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
  /** What it is expected to cost; absent where that is not known. */
  readonly cost?: OrderCost | undefined;
}

export interface OrderCost {
  /** In millionths of the currency: databases add them up. */
  readonly millionths: number;
  /** Empty where it is not known. */
  readonly currency: string;
}

/** What may be ordered in a period. */
export interface SpendingLimit {
  readonly millionths: number;
  /** The beginning of the period, in ISO 8601. */
  readonly since: string;
}

/** SQL for the id that the service gave the order of this name; empty where it gave none. */
export const orderIdIn = (column: string): string =>
  `CASE WHEN ${column} LIKE '${NO_ORDER_ID}%' THEN '' ELSE ${column} END`;

/** SQL for the name of an order that the service gave no id, from its attempt. */
export const NAMED_BY_ATTEMPT = `'${NO_ORDER_ID}' || attempts.token`;

export interface PlacedOrder {
  /** Empty where the answer named none. */
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}
