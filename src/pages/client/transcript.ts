/** The transcript to read: speakers, times, search inside, and the audio whose time the text follows. */
import { signal } from '@preact/signals';
import { h } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Mark } from '../../flows/search/query.ts';
import { shellWord } from '../../lib/text.ts';
import { readableFormats } from '../../transcripts/model.ts';
import { useLoad } from './api.ts';
import { el, onText } from './el.ts';
import { clock, counted, markerOf } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { route } from './route.ts';
import type { FileDocument, FilePage, Segment } from './types.ts';

const { audio, b, details, div, h2, input, label, li, ol, output, p, section, span, summary, track } = el;

/** Segments that are put on the page at a time, so that a long transcript never blocks it. */
const CHUNK = 100;
const SPEAKER_COLOURS = 6;
const MAX_SPEAKERS = 50;

/** The last segment that has begun at this time. */
const segmentAt = (segments: readonly Segment[], seconds: number): Segment | undefined =>
  segments.findLast(({ start }) => start !== null && start <= seconds) ?? segments[0];

type Marks = ReadonlyMap<Segment, readonly Mark[]>;
/** What speakers are called on this page. */
type Names = Readonly<Record<string, string>>;

/** What segments are shown with. */
interface Shown {
  readonly file: FileDocument;
  readonly speakers: readonly string[];
  readonly names: Names;
  readonly marks: Marks;
  /** The segment that plays. */
  readonly now: Segment | undefined;
  readonly seek: ((seconds: number) => void) | undefined;
}

const nameOf = (names: Names, speaker: string | null): string =>
  names[speaker ?? '']?.trim() || (speaker ?? '');

/** Where a sentence can be heard: in its episode's page or its audio, else here. */
function linkTo({ link, url }: FileDocument, start: number | null): string {
  const base = link || (/^https?:/i.test(url ?? '') && url) || location.href.split('?', 1)[0];
  return start === null || !base || base.includes('#') ? String(base) : `${base}#t=${Math.floor(start)}`;
}

/** Copies words of a segment, with who said them, where and when. */
function quote({ file, names }: Pick<Shown, 'file' | 'names'>, segment: Segment, text: string): void {
  const { line, start, speaker } = segment;
  const at = start === null ? `line ${line}` : clock(start);
  const from = [nameOf(names, speaker), file.title, at, linkTo(file, start)].filter(Boolean).join(', ');
  void parts.copy(`“${text.trim().replace(/\s+/g, ' ')}” (${from})`);
}

/** The segment in which the selection begins. */
function selectedIn(segments: readonly Segment[]): Segment | undefined {
  const selection = getSelection();
  const node = selection?.rangeCount ? selection.getRangeAt(0).startContainer : undefined;
  const found = (node instanceof Element ? node : node?.parentElement)?.closest<HTMLElement>('[data-line]');
  return segments.find(({ line }) => String(line) === found?.dataset.line);
}

/** Copies the words of the transcript that are selected. */
function quoteButton(segments: readonly Segment[], shown: Pick<Shown, 'file' | 'names'>) {
  const copy = (): void => {
    const [segment, text = ''] = [selectedIn(segments), getSelection()?.toString().trim()];
    if (segment && text) quote(shown, segment, text);
    else parts.say('Select words of the transcript first.');
  };
  // A mouse press would clear the selection.
  return parts.button('Copy quotation', copy, { onMouseDown: (event) => event.preventDefault() });
}

/** From and to: sentences of a text, without losing a letter. */
const sentencesOf = (text: string): Array<readonly [from: number, to: number]> =>
  [...text.matchAll(/[^.!?…。？！]*(?:[.!?…。？！]+["'”’»)\]]*\s*|$)/g)].flatMap(({ 0: found, index }) =>
    found ? [[index, index + found.length] as const] : [],
  );

/** How far the segment that plays was spoken, in letters. */
const spoken = signal(0);

const secondsOf = ({ start, end }: Segment): number => Math.max(0, (end ?? start ?? 0) - (start ?? 0));

/** Where the times of its words are not known, as if each letter took the same. */
const timeOf = (segment: Segment, letter: number): number =>
  (segment.start ?? 0) + (letter / (segment.text.length || 1)) * secondsOf(segment);

function letterAt(segment: Segment, time: number): number {
  const share = (time - (segment.start ?? 0)) / (secondsOf(segment) || Number.POSITIVE_INFINITY);
  return Math.floor(Math.max(0, Math.min(0.999, share)) * segment.text.length);
}

/** With the word that is spoken now. */
function spokenIn(text: string, letter: number) {
  const from = text.lastIndexOf(' ', letter) + 1;
  const [word = ''] = /^\S*/.exec(text.slice(from)) ?? [];
  return [text.slice(0, from), span('word', word), text.slice(from + word.length)];
}

function Said({ segment, shown }: { readonly segment: Segment; readonly shown: Shown }) {
  const { speakers, names, marks, now, seek } = shown;
  const { start, line, text, speaker } = segment;
  const isNow = segment === now;
  const letter = isNow ? spoken.value : -1;
  const own = marks.get(segment) ?? [];
  const sentence = ([from, to]: readonly [number, number]) => {
    const words = text.slice(from, to);
    const hits = own.flatMap(([begin, end]): Mark[] =>
      end > from && begin < to ? [[Math.max(begin, from) - from, Math.min(end, to) - from]] : [],
    );
    // Words that are being selected are not played.
    const play = (): void => {
      if (getSelection()?.isCollapsed !== false) seek?.(timeOf(segment, from));
    };
    const isSpoken = letter >= from && letter < to;
    const content = isSpoken ? spokenIn(words, letter - from) : parts.marked(words, hits);
    return span({ class: isSpoken ? 'sentence now' : 'sentence', onClick: seek && play }, content);
  };
  const time = start === null ? '' : clock(start);
  const playing = { class: 'plain at', 'aria-label': `Play from ${time}` };
  const copy = {
    ...{ class: 'plain quote', title: 'Copy as a quotation' },
    'aria-label': `Copy this as a quotation${time ? ` with its time, ${time}` : ''}`,
  };
  const colour = Math.max(0, speakers.indexOf(speaker ?? '')) % SPEAKER_COLOURS;
  const name = speaker && b(`speaker s${colour}`, parts.text(nameOf(names, speaker)), ' ');
  const current = isNow ? ({ class: 'segment now', 'aria-current': 'true' } as const) : { class: 'segment' };
  return li(
    { ...current, 'data-line': line },
    time && seek ? parts.button(time, () => seek(start ?? 0), playing) : span('at', time),
    p('', name, sentencesOf(text).map(sentence)),
    parts.button('”', () => quote(shown, segment, text), copy),
  );
}

/** The same nodes where nothing has changed: then they are not compared. */
function Chunk({ segments, shown }: { readonly segments: readonly Segment[]; readonly shown: Shown }) {
  const said = (segment: Segment) => h(Said, { key: segment.line, segment, shown });
  return useMemo(() => ol('chunk', segments.map(said)), [segments, ...Object.values(shown)]);
}

/** How many are shown: one more for each frame. */
function useGrowing(count: number): number {
  const [shown, setShown] = useState(1);
  useEffect(() => {
    if (shown >= count) return;
    const frame = requestAnimationFrame(() => setShown(shown + 1));
    return () => cancelAnimationFrame(frame);
  }, [shown, count]);
  return Math.min(shown, count);
}

const reveal = (line: number | undefined, block: ScrollLogicalPosition = 'center'): void =>
  document.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block, behavior: 'instant' });

/** Other names for the speakers, on this page, and the command line that writes them. */
function useNames(id: string, speakers: readonly string[]) {
  const [names, setNames] = useState<Names>({});
  const fields = speakers.map((speaker) => {
    const onInput = onText((name) => setNames((old) => ({ ...old, [speaker]: name })));
    const field = input({ value: names[speaker] ?? '', placeholder: speaker, onInput });
    return label('', parts.text(speaker), field);
  });
  const given = Object.entries(names).filter(([, name]) => name.trim());
  const renamed = given.map(([old, name]) => ` --speaker ${shellWord(`${old}=${name.trim()}`)}`).join('');
  const panel = speakers.length > 0 && [
    details('speakers', summary('', 'Rename speakers'), div('fields', fields)),
    renamed && parts.command(`convert ${shellWord(id)} --to vtt${renamed}`),
  ];
  return { names, panel };
}

/** The player, and the segment that plays in it. */
function usePlayer(src: string | null, segments: readonly Segment[]) {
  const own = useRef<HTMLAudioElement>(null);
  const [current, setCurrent] = useState<Segment | undefined>(undefined);
  const [cannotPlay, setCannotPlay] = useState(false);
  // The same function for each segment, so that only those that change are made again.
  const seek = useCallback((seconds: number): void => {
    if (!own.current) return;
    own.current.currentTime = seconds;
    void own.current.play().catch(() => setCannotPlay(true));
  }, []);
  const onTimeUpdate = (): void => {
    const time = own.current?.currentTime ?? 0;
    const now = segmentAt(segments, time);
    spoken.value = now ? letterAt(now, time) : 0;
    if (now === current) return;
    setCurrent(now);
    if (!own.current?.paused) reveal(now?.line, 'nearest');
  };
  const toggle = (): void => {
    if (own.current?.paused) seek(own.current.currentTime);
    else own.current?.pause();
  };
  const canPlay = src !== null && !cannotPlay;
  useKeys(canPlay ? { ' ': toggle } : {});
  const onError = (): void => setCannotPlay(true);
  const props = { ref: own, controls: true, preload: 'none', onTimeUpdate, onError } as const;
  const captions = track({ kind: 'captions', label: 'The transcript below' });
  const player = src && [
    audio({ ...props, src, 'aria-label': 'Audio of this file' }, captions),
    !canPlay && span('muted', 'The audio can’t be played here.'),
  ];
  return { player: player && div('player', player), current, seek: canPlay ? seek : undefined };
}

const noMarks: Marks = new Map();

/** In steps, so that a long transcript never blocks the page. */
async function findMarks(segments: readonly Segment[], query: string, signal: AbortSignal): Promise<Marks> {
  // The last word may still be typed.
  const marksIn = markerOf(/\w$/.test(query) ? `${query}*` : query);
  const found = new Map<Segment, readonly Mark[]>();
  for (const [at, segment] of query ? segments.entries() : []) {
    if (at % CHUNK === 0) await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) break;
    const marks = marksIn(segment.text);
    if (marks.length) found.set(segment, marks);
  }
  return found.size ? found : noMarks;
}

/** The hits of what is typed: where each stands, which one is shown, and the way to the next. */
function useHits(segments: readonly Segment[]) {
  const given = route.value.params.get('q') ?? '';
  const [settled, setSettled] = useState(given);
  const field = parts.useSearchField('inside', 'Search inside the transcript', given, setSettled);
  const [marks, setMarks] = useState<Marks>(noMarks);
  const [hit, setHit] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    void findMarks(segments, settled, signal).then((found) => signal.aborted || setMarks(found));
    return () => abort.abort();
  }, [segments, settled]);
  const hits = [...marks.keys()];
  const next = (event: Event): void => {
    event.preventDefault();
    const at = hits.length ? (hit + 1) % hits.length : 0;
    setHit(at);
    reveal(hits[at]?.line);
  };
  const place = hits.length ? `${Math.min(hit + 1, hits.length)} of ${hits.length}` : 'none';
  return { field, marks, next, place: output('count muted', settled && place) };
}

const chunksOf = (all: readonly Segment[]) =>
  all.flatMap((_, at) => (at % CHUNK ? [] : [all.slice(at, at + CHUNK)]));

const noSegments: readonly Segment[] = [];
const isReadable = (format: string): boolean => readableFormats.some((each) => each === format);

export function Reader({ file, transcripts, playable }: Omit<FilePage, 'history'>) {
  const isHere = transcripts.some(({ here, format }) => here && isReadable(format));
  const { params } = route.value;
  const path = `/api/file/${encodeURIComponent(file.audiofile)}/transcript`;
  const { data, error } = useLoad<{ segments: readonly Segment[]; truncated: boolean }>(isHere ? path : '');
  const segments = data?.segments ?? noSegments;
  const chunks = useMemo(() => chunksOf(segments), [segments]);
  const count = useGrowing(chunks.length);
  const { field, marks, next, place } = useHits(segments);
  const { player, current, seek } = usePlayer(playable, segments);
  const speakers = useMemo(
    () => [...new Set(segments.flatMap(({ speaker }) => speaker || []))].slice(0, MAX_SPEAKERS),
    [segments],
  );
  const { names, panel } = useNames(file.audiofile, speakers);
  const wanted = params.get('line') ?? segmentAt(segments, Number(params.get('t')))?.line;
  useEffect(() => {
    if (count && count === chunks.length && (params.has('line') || params.has('t'))) reveal(Number(wanted));
  }, [count, chunks, wanted]);
  useKeys({ '/': focusOn('#inside') });
  const said = chunks.slice(0, count).map((chunk, at) => {
    const now = current && chunk.includes(current) ? current : undefined;
    const shown = { file, speakers, names, marks, now, seek };
    return h(Chunk, { key: at, segments: chunk, shown });
  });
  const isLoading = isHere && !data && !error && p('muted', 'Reading the transcript…');
  const more = file.ended === 'delivered' && ' Download one to read it here.';
  const cut = p('muted', `This is the first part; ${counted(segments.length, 'segment')} are shown.`);
  return section(
    { class: 'panel reader', 'aria-label': 'Transcript' },
    el.form(
      { class: 'tools', onSubmit: next },
      h2('', 'Transcript'),
      isHere && [field, place, quoteButton(segments, { file, names })],
    ),
    player,
    panel,
    parts.failed(error),
    isLoading,
    isHere
      ? div(seek ? 'transcript playable' : 'transcript', said)
      : p('muted', 'No transcript is on this disk.', more),
    data?.truncated && cut,
  );
}
