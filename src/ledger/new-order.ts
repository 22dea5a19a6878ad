/** An order on its way to the service, and what the service made of it. */
import type { Audio } from './audio-names.ts';

export interface NewOrder {
  readonly audios: readonly Audio[];
  readonly skus: readonly string[];
  /** Of the speakers. */
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
}

export interface PlacedOrder {
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}
