/** One file: where it stands, its transcript, what happened to it, what a person must look at, and downloads. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { formats } from '../../catalog/formats.ts';
import { bytesText, shellWord } from '../../lib/text.ts';
import { get, getBlob, saveAs, useLoad } from './api.ts';
import { type Child, el, onText } from './el.ts';
import { clock, counted, minutesText, money } from './format.ts';
import { useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { filePath, go, pathWith } from './route.ts';
import { Reader } from './transcript.ts';
import type { FileDocument, FilePage, Finding, HistoryEntry, Transcript } from './types.ts';

const { a, b, code, div, fieldset, h1, header, input, label, legend, p, span } = el;

/** What a file needs a person for: why, and the command line that does something about it. */
type Need = readonly [why: string, line: string];

function needOf(file: FileDocument): Need | undefined {
  const { audiofile, ended, hold, late, order, state } = file;
  const line = `file ${shellWord(audiofile)}`;
  if (!ended && (hold || state === 'On Hold')) return needOfHeld(file, line);
  if (ended === 'unfinished' && state !== 'Refunded') {
    const what = state === 'Error' ? 'Failed' : state;
    return [`${what}: order it again if you still need it.`, againLine(file) ?? line];
  }
  return late
    ? [`Overdue: ask the service about ${order ? `order ${order.slice(0, 60)}` : 'it'}.`, line]
    : undefined;
}

function needOfHeld({ hold, order }: FileDocument, line: string): Need {
  if (parts.about.value?.sandbox && order)
    return ['On hold: release its order.', `sandbox release ${shellWord(order)}`];
  if (hold === 'billing') return ['On hold: pay the past-due balance, and work starts by itself.', 'balance'];
  return [`On hold${hold ? ` (${hold.slice(0, 100)})` : ''}: ask the service to release it.`, line];
}

function againLine({ source, url, skus }: FileDocument): string | undefined {
  const audio = source || url;
  if (!audio || skus.length === 0) return undefined;
  return `order ${shellWord(audio)} --sku ${shellWord(skus.join(','))} --skip-ordered --retry-ended`;
}

/** The sentence, and its command line to copy. */
export function needText(file: FileDocument) {
  const [why, line] = needOf(file) ?? [];
  return line && span('need', span('why', why), ' ', parts.command(line));
}

interface Saved {
  readonly folder: string;
  readonly saved: readonly unknown[];
  readonly errors: readonly string[];
}

async function intoFolder(body: object): Promise<string> {
  const { folder, saved, errors } = await get<Saved>('/api/downloads', body);
  const done = saved.length ? `${counted(saved.length, 'transcript')} in ${folder}` : 'Nothing was saved';
  if (errors.length) throw new Error([done, ...errors].join('. '));
  return done;
}

async function asArchive(body: object): Promise<string> {
  saveAs(await getBlob('/api/zip', body), 'transcripts.zip');
  return 'Saved transcripts.zip';
}

export function Downloads({ ids }: { readonly ids: readonly string[] }) {
  const [chosen, setChosen] = useState<readonly string[]>(['txt']);
  const [folder, setFolder] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = (work: (body: object) => Promise<string>) => async (): Promise<void> => {
    setBusy(true);
    parts.say('Downloading…');
    await parts.sayWhen(work({ ids, formats: chosen, ...(folder && { folder }) }));
    setBusy(false);
  };
  const choice = ({ ext, meaning }: (typeof formats)[number]) =>
    label({ class: 'choice', title: meaning }, parts.tick(ext, chosen, setChosen), ext);
  const disabled = isBusy || chosen.length === 0;
  const onInput = onText((text) => setFolder(text.trim()));
  const placeholder = 'folder (where steno ui was started)';
  const where = input({ class: 'folder', 'aria-label': 'Folder', placeholder, value: folder, onInput });
  const save = parts.button('Save to the folder', run(intoFolder), { disabled, class: 'main' });
  const output = folder && ` -o ${shellWord(`${folder.replace(/\/$/, '')}/`)}`;
  const line = `transcript ${ids.map(shellWord).join(' ')} --format ${chosen.join(',')}${output}`;
  return div(
    'downloads',
    fieldset('choices', legend('unseen', 'Formats'), formats.map(choice)),
    p('buttons', where, save, parts.button('Download as zip', run(asArchive), { disabled })),
    chosen.length ? parts.command(line) : span('muted', 'Choose a format.'),
  );
}

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
    data && parts.facts(data.slice(0, MAX_FINDINGS), findingOf(id), p('good', 'No problems found.')),
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
  const title = loaded.data ? parts.titleOf(loaded.data.file) : `audiofile ${id}`;
  return parts.usePage(title, parts.crumbs('files', `file ${shellWord(id)}`), loaded, partsOf);
}
