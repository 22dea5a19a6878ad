/** The transcript to read: speakers, times, search inside, and the audio whose time the text follows. */
import { signal } from '@preact/signals';
import { h } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Mark } from '../../flows/search/query.ts';
import { shellWord } from '../../lib/text.ts';
import { readableFormats } from '../../transcripts/model.ts';
import { useLoad } from './api.ts';
import { el, type Typed } from './el.ts';
import { clock, counted, markerOf } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { route } from './route.ts';
import type { FileDocument, FilePage, Segment } from './types.ts';

const { audio, b, details, div, h2, input, label, li, ol, output, p, section, span, summary, track } = el;

/** Segments that are put on the page at a time, so that a long transcript never blocks it. */
const CHUNK = 100;
/** What of the time between two frames a search may take. */
const WORK_MS = 8;
const TYPING_PAUSE_MS = 200;
const SPEAKER_COLOURS = 6;
const MAX_SPEAKERS = 50;

/** The last segment that has begun at this time. */
const segmentAt = (segments: readonly Segment[], seconds: number): number =>
  Math.max(
    0,
    segments.findLastIndex(({ start }) => start !== null && start <= seconds),
  );

type Quote = (segment: Segment, text: string) => void;

/** Where a sentence can be heard: in its episode's page or its audio, else here. */
function linkTo({ link, url }: FileDocument, start: number | null): string {
  const base = link || (/^https?:/i.test(url ?? '') && url) || location.href.split('?', 1)[0];
  return start === null || !base || base.includes('#') ? String(base) : `${base}#t=${Math.floor(start)}`;
}

/** The segment in which the selection begins. */
function selectedIn(segments: readonly Segment[]): Segment | undefined {
  const selection = getSelection();
  const node = selection?.rangeCount ? selection.getRangeAt(0).startContainer : undefined;
  const found = (node instanceof Element ? node : node?.parentElement)?.closest<HTMLElement>('[data-line]');
  return segments.find(({ line }) => String(line) === found?.dataset.line);
}

/** Copies the words of the transcript that are selected. */
function quoteButton(segments: readonly Segment[], quote: Quote) {
  const copy = (): void => {
    const [segment, text = ''] = [selectedIn(segments), getSelection()?.toString().trim()];
    if (segment && text) quote(segment, text);
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

/** Where the times of its words are not known, as if each letter took the same. */
const timeOf = ({ start, end, text }: Segment, letter: number): number =>
  (start ?? 0) + (letter / (text.length || 1)) * Math.max(0, (end ?? start ?? 0) - (start ?? 0));

function letterAt({ start, end, text }: Segment, time: number): number {
  const length = (end ?? 0) - (start ?? 0);
  const share = length > 0 ? (time - (start ?? 0)) / length : 0;
  return Math.floor(Math.max(0, Math.min(0.999, share)) * text.length);
}

type Marks = ReadonlyMap<Segment, readonly Mark[]>;

/** What segments are shown with. */
interface Shown {
  readonly speakers: readonly string[];
  readonly nameOf: (speaker: string | null) => string;
  readonly marks: Marks;
  /** The segment that plays. */
  readonly now: Segment | undefined;
  readonly quote: Quote;
  readonly onSeek: ((seconds: number) => void) | undefined;
}

/** With the word that is spoken now. */
function spokenIn(text: string, letter: number) {
  const from = text.lastIndexOf(' ', letter) + 1;
  const [word = ''] = /^\S*/.exec(text.slice(from)) ?? [];
  return [text.slice(0, from), span('word', word), text.slice(from + word.length)];
}

function Said({ segment, shown }: { readonly segment: Segment; readonly shown: Shown }) {
  const { speakers, nameOf, marks, now, quote, onSeek } = shown;
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
      if (getSelection()?.isCollapsed !== false) onSeek?.(timeOf(segment, from));
    };
    const isSpoken = letter >= from && letter < to;
    const content = isSpoken ? spokenIn(words, letter - from) : parts.marked(words, hits);
    return span({ class: isSpoken ? 'sentence now' : 'sentence', onClick: onSeek && play }, content);
  };
  const time = start === null ? '' : clock(start);
  const seek = { class: 'plain at', 'aria-label': `Play from ${time}` };
  const copy = {
    ...{ class: 'plain quote', title: 'Copy as a quotation' },
    'aria-label': `Copy this as a quotation${time ? ` with its time, ${time}` : ''}`,
  };
  const colour = Math.max(0, speakers.indexOf(speaker ?? '')) % SPEAKER_COLOURS;
  const name = speaker && b(`speaker s${colour}`, parts.text(nameOf(speaker)), ' ');
  const current = isNow ? ({ class: 'segment now', 'aria-current': 'true' } as const) : { class: 'segment' };
  return li(
    { ...current, 'data-line': line },
    time && onSeek ? parts.button(time, () => onSeek(start ?? 0), seek) : span('at', time),
    p('', name, sentencesOf(text).map(sentence)),
    parts.button('”', () => quote(segment, text), copy),
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
  const [names, setNames] = useState<Readonly<Record<string, string>>>({});
  const nameOf = useCallback(
    (speaker: string | null) => names[speaker ?? '']?.trim() || (speaker ?? ''),
    [names],
  );
  const fields = speakers.map((speaker) => {
    const onInput = ({ currentTarget }: Typed): void =>
      setNames((old) => ({ ...old, [speaker]: currentTarget.value }));
    const field = input({ value: names[speaker] ?? '', placeholder: speaker, onInput });
    return label('', parts.text(speaker), field);
  });
  const given = Object.entries(names).filter(([, name]) => name.trim());
  const renamed = given.map(([old, name]) => ` --speaker ${shellWord(`${old}=${name.trim()}`)}`).join('');
  const panel = speakers.length > 0 && [
    details('speakers', summary('', 'Rename speakers'), div('fields', fields)),
    renamed && parts.command(`convert ${shellWord(id)} --to vtt${renamed}`),
  ];
  return { nameOf, panel };
}

/** The player, and what plays in it: the number of the segment, or -1. */
function usePlayer(src: string | null, segments: readonly Segment[]) {
  const own = useRef<HTMLAudioElement>(null);
  const [current, setCurrent] = useState(-1);
  const [cannotPlay, setCannotPlay] = useState(false);
  // The same function for each segment, so that only those that change are made again.
  const seek = useCallback((seconds: number): void => {
    if (!own.current) return;
    own.current.currentTime = seconds;
    void own.current.play().catch(() => setCannotPlay(true));
  }, []);
  const onTimeUpdate = (): void => {
    const time = own.current?.currentTime ?? 0;
    const at = segmentAt(segments, time);
    spoken.value = segments[at] ? letterAt(segments[at], time) : 0;
    if (at === current) return;
    setCurrent(at);
    if (!own.current?.paused) reveal(segments[at]?.line, 'nearest');
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

/** The hits of what is typed: where each stands, which one is shown, and the way to the next. */
function useHits(chunks: ReadonlyArray<readonly Segment[]>) {
  const given = route.value.params.get('q') ?? '';
  const [settled, setSettled] = useState(given);
  const { typed, setTyped } = parts.useTyped(given, TYPING_PAUSE_MS, setSettled);
  const [marks, setMarks] = useState<readonly Marks[]>([]);
  const [hit, setHit] = useState(0);
  useEffect(() => {
    // The last word may still be typed.
    const marksIn = markerOf(/\w$/.test(settled) ? `${settled}*` : settled);
    const found: Marks[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const work = (): void => {
      for (const end = performance.now() + WORK_MS; performance.now() < end; ) {
        const chunk = settled && chunks[found.length];
        if (!chunk) {
          setMarks(found);
          return;
        }
        const all = chunk.map((segment) => [segment, marksIn(segment.text)] as const);
        found.push(new Map(all.filter(([, each]) => each.length)));
      }
      timer = setTimeout(work);
    };
    work();
    return () => clearTimeout(timer);
  }, [chunks, settled]);
  const hits = marks.flatMap((each) => [...each.keys()]);
  const next = (event: Event): void => {
    event.preventDefault();
    const at = hits.length ? (hit + 1) % hits.length : 0;
    setHit(at);
    reveal(hits[at]?.line);
  };
  const place = hits.length ? `${Math.min(hit + 1, hits.length)} of ${hits.length}` : 'none';
  const field = parts.searchField('inside', 'Search inside the transcript', typed, setTyped);
  return { field, marks, next, place: output('count muted', settled && place) };
}

const noSegments: readonly Segment[] = [];
const isReadable = (format: string): boolean => readableFormats.some((each) => each === format);

export function Reader({ file, transcripts, playable }: Omit<FilePage, 'history'>) {
  const isHere = transcripts.some(({ here, format }) => here && isReadable(format));
  const { params } = route.value;
  const path = `/api/file/${encodeURIComponent(file.audiofile)}/transcript`;
  const { data, error } = useLoad<{ segments: readonly Segment[]; truncated: boolean }>(isHere ? path : '');
  const segments = data?.segments ?? noSegments;
  const chunks = useMemo(
    () =>
      Array.from({ length: Math.ceil(segments.length / CHUNK) }, (_, at) =>
        segments.slice(at * CHUNK, (at + 1) * CHUNK),
      ),
    [segments],
  );
  const count = useGrowing(chunks.length);
  const { field, marks, next, place } = useHits(chunks);
  const { player, current, seek } = usePlayer(playable, segments);
  const speakers = useMemo(
    () => [...new Set(segments.flatMap(({ speaker }) => speaker || []))].slice(0, MAX_SPEAKERS),
    [segments],
  );
  const { nameOf, panel } = useNames(file.audiofile, speakers);
  const quote = useCallback<Quote>(
    (segment, text) => {
      const { line, start, speaker } = segment;
      const at = start === null ? `line ${line}` : clock(start);
      const from = [nameOf(speaker), file.title, at, linkTo(file, start)].filter(Boolean).join(', ');
      void parts.copy(`“${text.trim().replace(/\s+/g, ' ')}” (${from})`);
    },
    [nameOf, file],
  );

  const wanted = params.get('line') ?? segments[segmentAt(segments, Number(params.get('t')))]?.line;
  useEffect(() => {
    if (count && count === chunks.length && (params.has('line') || params.has('t'))) reveal(Number(wanted));
  }, [count, chunks, wanted]);
  useKeys({ '/': focusOn('#inside') });
  const said = chunks.slice(0, count).map((chunk, at) => {
    const playing = segments[current];
    const now = playing && chunk.includes(playing) ? playing : undefined;
    const shown = { speakers, nameOf, marks: marks[at] ?? noMarks, now, quote, onSeek: seek };
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
      isHere && [field, place, quoteButton(segments, quote)],
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
