import type { AudioFile } from '../api/files.ts';
import type { Order } from '../api/orders.ts';
import type { WaitResult } from '../flows/files/wait-and-download.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { cutJsonSignatures } from '../lib/json-signatures.ts';
import type { View } from '../lib/view.ts';
import { failureJson } from './documents.ts';
import { filesView } from './file.ts';
import { savedJson, savedView } from './saved.ts';

export interface WaitViewOptions {
  readonly forPeople: boolean;
  /** Of totals that name none. */
  readonly currency?: string;
  /** The JSON is an array: several files were asked for, or the command line does not say how many. */
  readonly several: boolean;
  readonly orders?: readonly Order[];
  /** Files that were not waited for, because their order is on hold. */
  readonly held?: readonly AudioFile[];
}

/** What waiting came to: the transcripts if they were downloaded, otherwise the files. */
export function waitedView(
  { outcomes, saved }: WaitResult,
  { forPeople, currency, several, orders = [], held = [] }: WaitViewOptions,
): View {
  const files = outcomes.flatMap(({ file }) => file ?? []);
  const all = outcomes.map(outcomeJson);
  const [only] = all;
  const plain = filesView([...files, ...held], only !== undefined && !several ? only : all, {
    ...{ forPeople, currency },
  });
  const delivered = outcomes.flatMap(({ file, error }) => (file && !error ? [file.id] : []));
  // Of an order every new id is printed, delivered or not.
  const ids = orders.length ? orders.flatMap((order) => order.audiofiles) : delivered;
  const shown = saved ? savedView(saved) : { ...plain, quiet: ids };
  if (!saved) return shown;
  const json: JsonObject = new Map([['files', all as Json]]);
  return { ...shown, json: json.set('downloads', saved.map(savedJson)) };
}

/**
 * What `order --wait --json` prints: of each order the service's answer, its files and the downloads of them. Without
 * `waited`, because the waiting broke off, no file is known.
 */
export function orderedDocuments(
  orders: readonly Order[],
  waited: WaitResult | undefined,
  isList: boolean,
): Json {
  const documents = orders.map(({ json: answer, audiofiles }) => {
    const ids = new Set(audiofiles);
    const files = waited?.outcomes.filter(({ what, file }) => ids.has(file?.id ?? what)) ?? [];
    const document = new Map<string, Json>([
      ['order', cutJsonSignatures(answer)],
      ['files', files.map(outcomeJson)],
    ]);
    if (waited?.saved) document.set('downloads', waited.saved.filter(({ id }) => ids.has(id)).map(savedJson));
    return document;
  });
  return isList ? documents : (documents[0] ?? null);
}

const outcomeJson = ({ what, file, error }: WaitResult['outcomes'][number]): Json =>
  file ? cutJsonSignatures(file.json) : failureJson(what, error);
