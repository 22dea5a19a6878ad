/** What was bought for a file, and what became of it. */
import type { ListedFile } from '../flows/files/listed.ts';
import type { Download } from '../ledger/downloads.ts';
import type { LogEntry } from '../ledger/purchase-log.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import { meaningOf } from './events.ts';
import { logView } from './purchases.ts';
import { numberField, RecordType, textField, timeField, wordField } from './record.ts';

interface HistoryEntry {
  readonly at: string;
  readonly what: string;
  readonly by: string;
  readonly text: string;
  readonly event?: number | undefined;
}

const historyRecord = new RecordType<HistoryEntry>([
  timeField('at', 'when it happened', 'at'),
  wordField('what', 'order, upgrade, refund, download, state, or the type of an event', 'what'),
  textField('by', 'who did it, if known', 'by'),
  wordField('text', 'what happened, in words', 'text'),
  numberField('event', 'event number', 'event', { optional: true }),
]);

interface Happened {
  readonly row: ListedFile;
  readonly entries: readonly LogEntry[];
  readonly events: readonly ReceivedEvent[];
  readonly downloads: readonly Download[];
}

/** Newest first. */
export function historyJson(
  { row: { id, changed_at, state }, entries, events, downloads }: Happened,
  currency: string,
): JsonObject[] {
  const all: HistoryEntry[] = [
    ...purchases(
      entries.map((entry) => ofFile(entry, id)),
      currency,
    ),
    ...events.map((event) => ({
      ...{
        at: event.receivedAt,
        what: event.event || 'event',
        by: '',
        text: meaningOf(event),
        event: event.n,
      },
    })),
    ...downloads.map(({ at, ext, path }) => ({
      at,
      what: 'download',
      by: '',
      text: `${ext} saved as ${path}`,
    })),
    ...(changed_at ? [{ at: changed_at, what: 'state', by: '', text: state }] : []),
  ];
  return all.sort((one, other) => (one.at < other.at ? 1 : -1)).map((each) => historyRecord.json(each));
}

/** Of an order of several audios, this one's cost. */
function ofFile(entry: LogEntry, id: string): LogEntry {
  const items = entry.items.filter(({ file }) => file === id);
  return items.length ? { ...entry, items } : entry;
}

/** In the words of `steno log`. */
function purchases(entries: readonly LogEntry[], currency: string): HistoryEntry[] {
  const { columns, rows } = logView(entries, currency, false);
  return rows.map((cells) => {
    const cell = (name: string): string => cells[columns.findIndex((column) => column.name === name)] ?? '';
    const source = cell('cost_source');
    const cost = cell('cost') && [cell('cost'), cell('currency'), source && `(${source})`].join(' ');
    const said = [cell('status'), cell('skus'), cost, cell('test'), cell('detail'), cell('settlements')];
    return { at: cell('at'), what: cell('kind'), by: cell('by'), text: said.filter(Boolean).join('; ') };
  });
}
