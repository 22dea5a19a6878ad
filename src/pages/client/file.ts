/** One file: where it stands, its transcript, what happened to it, and what a person must look at. */
import { h } from 'preact';
import { bytesText, shellWord } from '../../lib/text.ts';
import { useLoad } from './api.ts';
import { Downloads } from './downloads.ts';
import { type Child, el } from './el.ts';
import { clock, counted, minutesText, money } from './format.ts';
import { useKeys } from './keys.ts';
import { needText } from './need.ts';
import * as parts from './parts.ts';
import { filePath, go, pathWith } from './route.ts';
import { Reader } from './transcript.ts';
import type { FileDocument, FilePage, Finding, HistoryEntry, Transcript } from './types.ts';

const { a, b, code, h1, header, p, span } = el;

const detailNames = [
  ...(['skus', 'feed', 'tags', 'key', 'names', 'notes'] as const),
  ...(['hold', 'remark', 'source', 'url', 'link', 'invoices'] as const),
];

function detailsOf(file: FileDocument): Child {
  const { by, order, minutes, total, currency } = file;
  const who = by && (by.actor || [by.user, by.host].filter(Boolean).join('@'));
  const details = parts.pairs([
    ...([
      ['length', minutesText(minutes)],
      ['cost', money(total, currency)],
      ['by', who],
      ['job', by?.job],
    ] as const),
    ...detailNames.map((name) => [name, file[name]] as const),
  ]);
  return [details, order && a({ href: `#${pathWith('/files', { order })}` }, `All files of order ${order}`)];
}

const transcriptOf = ({ path, format, bytes, at, here }: Transcript): Child => [
  code('', path),
  p('muted', `${format}, ${bytesText(bytes)}, `, parts.timeAt(at), here ? '' : ', no longer on this disk'),
];

function entryOf({ what, text, event, at, by }: HistoryEntry): Child {
  const link = event && a({ href: `#/event/${event}` }, `event ${event}`);
  const said = p('', b('', what), ' ', parts.text(text, 500), ' ', link);
  return [said, p('muted', parts.timeAt(at), by ? `, by ${by}` : '')];
}

/** Beyond these a list is no help; the command line has all. */
const MAX_FINDINGS = 200;

const findingOf =
  (id: string) =>
  (finding: Finding): Child => {
    const { start, line, rule, severity, text } = finding;
    const href = filePath(id, { t: start ?? undefined, line: line ?? undefined });
    const place = a({ href }, start === null ? `line ${line ?? '?'}` : clock(start));
    return [place, ' ', b(severity === 'error' ? 'bad' : 'warn', rule), ' ', parts.text(text, 300)];
  };

function Findings({ id }: { id: string }) {
  const { data, error } = useLoad<readonly Finding[]>(`/api/file/${encodeURIComponent(id)}/check`, ['files']);
  const left = (data?.length ?? 0) - MAX_FINDINGS;
  return parts.panel(
    'Check',
    parts.command(`check ${shellWord(id)}`),
    parts.failed(error),
    data?.length === 0 && p('good', 'No problems found.'),
    parts.facts(data?.slice(0, MAX_FINDINGS) ?? [], findingOf(id)),
    left > 0 && p('muted', `and ${counted(left, 'more finding')}`),
  );
}

/** What can be had, or why there is nothing. */
function downloads({ audiofile: id, ended, state, hold }: FileDocument): Child {
  if (ended === 'delivered') return h(Downloads, { ids: [id] });
  if (ended) return p('muted', `${state}: this file ended without a transcript to download.`);
  if (hold) return p('muted', 'Its order is on hold: there is nothing to download yet.');
  return [
    p('muted', 'There is nothing to download yet. To wait for it:'),
    parts.command(`wait ${shellWord(id)}`),
  ];
}

function partsOf({ file, transcripts, playable, history }: FilePage): readonly Child[] {
  const id = file.audiofile;
  const isHere = transcripts.some((each) => each.here);
  const seen = parts.timeAt(file.checked_at ?? file.changed_at);
  const ordered = file.ordered_at && [', ordered ', parts.timeAt(file.ordered_at)];
  const times = span('muted', ` file ${id}`, ordered, ', seen ', seen);
  const lead = header(
    'lead',
    h1('', parts.text(parts.titleOf(file))),
    p('', parts.stepsOf(file), times),
    needText(file),
  );
  const facts = [
    parts.panel('Details', null, detailsOf(file)),
    parts.panel('Downloads', null, parts.facts(transcripts, transcriptOf), downloads(file)),
    isHere && h(Findings, { id }),
    parts.panel('History', null, parts.facts(history, entryOf)),
  ];
  const reader = h(Reader, { key: `${id} ${isHere}`, file, transcripts, playable });
  return [lead, reader, facts];
}

export function FileView({ id }: { id: string }) {
  const loaded = useLoad<FilePage>(`/api/file/${encodeURIComponent(id)}`, ['files', 'events']);
  useKeys({ Escape: () => go('files') });
  parts.useTitle(loaded.data ? parts.titleOf(loaded.data.file) : `audiofile ${id}`);
  return parts.frame(parts.crumbs('files', `file ${shellWord(id)}`), loaded, partsOf);
}
