/** What was bought for a file, and what became of it. */
import type { ListedFile } from '../flows/files/listed.ts';
import type { Download } from '../ledger/downloads.ts';
import type { LogEntry } from '../ledger/purchase-log.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import { meaningOf } from './events.ts';
import * as a from './fields.ts';
import { type Happened, purchaseInWords } from './purchases.ts';
import { RecordType } from './record.ts';

const historyRecord = new RecordType<Happened & { readonly event?: number }>([
  a.time('at', 'when it happened', 'at'),
  a.word('what', 'order, upgrade, refund, download, state, or the type of an event', 'what'),
  a.text('by', 'who did it, if known', 'by'),
  a.word('text', 'what happened, in words', 'text'),
  a.number('event', 'event number', 'event', { optional: true }),
]);

interface Sources {
  readonly row: ListedFile;
  readonly entries: readonly LogEntry[];
  readonly events: readonly ReceivedEvent[];
  readonly downloads: readonly Download[];
}

/** Newest first. */
export function historyJson(
  { row: { id, changed_at, state }, entries, events, downloads }: Sources,
  currency: string,
): JsonObject[] {
  const all = [
    ...entries.map((entry) => purchaseInWords(ofFile(entry, id), currency)),
    ...events.map((event) => ({
      ...{ at: event.receivedAt, what: event.event || 'event', by: '' },
      ...{ text: meaningOf(event), event: event.n },
    })),
    ...downloads.map(({ at, ext, path }) => ({
      at,
      what: 'download',
      by: '',
      text: `${ext} saved as ${path}`,
    })),
    ...(changed_at ? [{ at: changed_at, what: 'state', by: '', text: state }] : []),
  ];
  return all.sort((one, other) => (one.at < other.at ? 1 : -1)).map(historyRecord.json);
}

/** Of an order of several audios, this one's cost. */
function ofFile(entry: LogEntry, id: string): LogEntry {
  const items = entry.items.filter(({ file }) => file === id);
  return items.length ? { ...entry, items } : entry;
}
