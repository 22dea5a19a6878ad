/** One file: where it stands, its transcript, what happened to it, and what a person must look at. */
import { h } from 'preact';
import { formats } from '../../catalog/formats.ts';
import { bytesText, shellWord } from '../../lib/text.ts';
import { useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { download } from './files.ts';
import { clock, counted, minutesText, money, plainTitle } from './format.ts';
import * as parts from './parts.ts';
import { filePath, go } from './route.ts';
import { Reader } from './transcript.ts';
import type { FileDocument, FilePage, Finding, HistoryEntry, Transcript } from './types.ts';

const { a, b, code, div, h1, header, main, p, span } = el;

function detailsOf(file: FileDocument): Child {
  const { by, order } = file;
  const who = by && (by.actor || [by.user, by.host].filter(Boolean).join('@'));
  return [
    parts.pairs([
      ['length', minutesText(file.minutes)],
      ['cost', money(file.total, file.currency)],
      ['SKUs', file.skus.join(', ')],
      ['ordered by', who],
      ['job', by?.job],
      ['feed', file.feed],
      ['tags', file.tags.join(', ')],
      ['key', file.key],
      ['speakers', file.names.join(', ')],
      ['notes', file.notes],
      ['hold', file.hold],
      ['remark', file.remark],
      ['recording', file.source],
      ['URL', file.url],
      ['web page', file.link],
      ['invoices', file.invoices.join(', ')],
    ]),
    order && a({ href: `#/files?q=${encodeURIComponent(order)}` }, `All files of order ${order}`),
  ];
}

const transcriptOf = ({ path, format, bytes, at, here }: Transcript): Child => [
  code('', path),
  p('muted', `${format}, ${bytesText(bytes)}, `, parts.timeAt(at), here ? '' : ', not on this disk any more'),
];

const downloadsOf = (id: string, transcripts: readonly Transcript[]): Child => [
  parts.facts(transcripts, transcriptOf),
  p(
    'buttons',
    formats.map(({ ext, meaning }) =>
      parts.button([parts.icon('down'), ext], () => void download(id, ext), {
        ...{ 'aria-label': `Download ${ext}`, title: meaning },
      }),
    ),
  ),
  parts.command(`transcript ${shellWord(id)} --format txt`),
];

const entryOf = ({ what, text, event, at, by }: HistoryEntry): Child => [
  p(
    '',
    b('', what),
    ' ',
    parts.text(text, 500),
    ' ',
    event && a({ href: `#/event/${event}` }, `event ${event}`),
  ),
  p('muted', parts.timeAt(at), by ? `, by ${by}` : ''),
];

/** Beyond these a list is no help; the command line has all. */
const MAX_FINDINGS = 200;

const findingOf =
  (id: string) =>
  ({ start, line, rule, severity, text }: Finding): Child => [
    a(
      { href: filePath(id, { t: start ?? undefined, line: line ?? undefined }) },
      start === null ? `line ${line ?? '?'}` : clock(start),
    ),
    ' ',
    b(severity === 'error' ? 'bad' : 'warn', rule),
    ' ',
    parts.text(text, 300),
  ];

function Findings({ id }: { id: string }) {
  const { data, error } = useLoad<readonly Finding[]>(`/api/file/${encodeURIComponent(id)}/check`, ['files']);
  const left = (data?.length ?? 0) - MAX_FINDINGS;
  return parts.panel(
    'Check',
    parts.command(`check ${shellWord(id)}`),
    parts.failed(error),
    data?.length === 0 && p('good', 'Nothing to look at.'),
    parts.facts(data?.slice(0, MAX_FINDINGS) ?? [], findingOf(id)),
    left > 0 && p('muted', `and ${counted(left, 'more finding')}`),
  );
}

export function FileView({ id }: { id: string }) {
  const { data, error } = useLoad<FilePage>(`/api/file/${encodeURIComponent(id)}`, ['files', 'events']);
  const line = `file ${shellWord(id)}`;
  const title = data?.file.title || data?.file.url || `audiofile ${id}`;
  parts.useCommand(line, { Escape: () => go('/files') });
  parts.useTitle(plainTitle(title));
  return main(
    { tabIndex: -1 },
    parts.crumbs('/files', 'Files', line),
    parts.failed(error),
    data && pageOf(id, title, data),
  );
}

function pageOf(id: string, title: string, { file, transcripts, playable, history }: FilePage): Child {
  const isHere = transcripts.some((each) => each.here);
  const seen = file.checked_at ?? file.changed_at;
  return [
    header(
      'lead',
      h1('', parts.text(title)),
      p(
        '',
        parts.stepsOf(file),
        span('muted', ` file ${id}, ordered `, parts.timeAt(file.ordered_at), ', seen ', parts.timeAt(seen)),
      ),
    ),
    div(
      'columns main',
      div('', h(Reader, { key: `${id} ${isHere}`, file, transcripts, playable })),
      div(
        '',
        parts.panel('Details', null, detailsOf(file)),
        parts.panel('Downloads', null, downloadsOf(id, transcripts)),
        isHere && h(Findings, { id }),
        parts.panel('History', null, parts.facts(history, entryOf, 'history')),
      ),
    ),
  ];
}
