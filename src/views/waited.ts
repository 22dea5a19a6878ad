import type { AudioFile } from '../api/files.ts';
import type { Order } from '../api/orders.ts';
import type { WaitResult } from '../flows/files/wait-and-download.ts';
import type { JsonObject } from '../lib/json.ts';
import { cutJsonSignatures } from '../lib/json-signatures.ts';
import type { View } from '../lib/view.ts';
import { failureJson } from './documents.ts';
import { filesView } from './file.ts';
import { savedJson, savedView } from './saved.ts';

export interface WaitViewOptions {
  readonly forPeople: boolean;
  /** The JSON is an array: several files were asked for, or the command line does not say how many. */
  readonly several: boolean;
  readonly orders?: readonly Order[];
  /** Files that were not waited for, because their order is on hold. */
  readonly held?: readonly AudioFile[];
}

/** What waiting came to: the transcripts if they were downloaded, otherwise the files. */
export function waitedView(
  { outcomes, saved }: WaitResult,
  { forPeople, several, orders = [], held = [] }: WaitViewOptions,
): View {
  const files = outcomes.flatMap(({ file }) => file ?? []);
  const all = outcomes.map(({ what, file, error }) =>
    file ? cutJsonSignatures(file.json) : failureJson(what, error),
  );
  const [only] = all;
  const plain = filesView([...files, ...held], only !== undefined && !several ? only : all, forPeople);
  const delivered = outcomes.flatMap(({ file, error }) => (file && !error ? [file.id] : []));
  // Of an order every new id is printed, delivered or not.
  const ids = orders.length ? orders.flatMap((order) => order.audiofiles) : delivered;
  const shown = saved ? savedView(saved) : { ...plain, quiet: ids };
  if (!saved && orders.length === 0) return shown;
  const json: JsonObject = new Map();
  const [first] = orders;
  if (first && orders.length === 1) json.set('order', cutJsonSignatures(first.json));
  if (orders.length > 1)
    json.set(
      'orders',
      orders.map((order) => cutJsonSignatures(order.json)),
    );
  json.set('files', all);
  if (saved) json.set('downloads', saved.map(savedJson));
  return { ...shown, json };
}
