import type { AudioFile } from '../api/files.ts';
import type { Order } from '../api/orders.ts';
import type { Waited } from '../flows/wait-and-fetch.ts';
import type { Json, JsonObject } from '../json.ts';
import type { View } from '../ui/view.ts';
import { documents } from './documents.ts';
import { filesView } from './file.ts';
import { savedJson, savedView } from './saved.ts';

const fileJson = (file: AudioFile): Json => file.json;

/** What waiting came to: the transcripts if they were fetched, else the files. */
export function waitedView(
  { outcomes, saved }: Waited,
  forPeople: boolean,
  orders: readonly Order[] = [],
): View {
  const files = outcomes.flatMap(({ value }) => value ?? []);
  const all = outcomes.map((outcome) => outcome.value?.json ?? documents([outcome], fileJson));
  const [only] = all;
  const plain = filesView(files, only !== undefined && all.length === 1 ? only : all, forPeople);
  const delivered = outcomes.flatMap(({ value, error }) => (value && !error ? [value.id] : []));
  const shown = saved ? savedView(saved) : { ...plain, quiet: delivered };
  if (!saved && orders.length === 0) return shown;
  const json: JsonObject = new Map();
  const [first] = orders;
  if (first && orders.length === 1) json.set('order', first.json);
  if (orders.length > 1)
    json.set(
      'orders',
      orders.map((order) => order.json),
    );
  json.set('files', all);
  if (saved) json.set('downloads', saved.map(savedJson));
  return { ...shown, json };
}
