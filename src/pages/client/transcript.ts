/** The transcript to read: speakers, times, search inside, and the audio whose time the text follows. */
import { h } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Mark } from '../../flows/search/query.ts';
import { readableFormats } from '../../transcripts/model.ts';
import { useLoad } from './api.ts';
import { el } from './el.ts';
import { clock, counted, markerOf } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { route } from './route.ts';
import type { FileDocument, FilePage, Segment } from './types.ts';

const { audio, b, div, h2, li, ol, output, p, section, span, track } = el;

/** Segments that are put on the page at a time, so that a long transcript never blocks it. */
const BATCH = 150;
const TYPING_PAUSE_MS = 200;
const SPEAKER_COLOURS = 6;

/** The last segment that has begun at this time. */
const segmentAt = (segments: readonly Segment[], seconds: number): number =>
  Math.max(
    0,
    segments.findLastIndex(({ start }) => start !== null && start <= seconds),
  );

/** What is selected in the transcript, or the whole segment, with who says it and when. */
function quoteOf({ line, start, speaker, text: whole }: Segment, { title }: FileDocument): string {
  const selection = getSelection();
  const isInside = selection?.anchorNode?.parentElement?.closest(`[data-line="${line}"]`);
  const text = (isInside && selection?.toString().trim()) || whole.replaceAll('\n', ' ');
  const from = [speaker, title, start === null ? `line ${line}` : clock(start)].filter(Boolean).join(', ');
  return `“${text}” (${from})`;
}

interface SegmentProps {
  readonly segment: Segment;
  readonly file: FileDocument;
  readonly colour: number;
  readonly isNow: boolean;
  readonly marks: readonly Mark[];
  readonly onSeek: ((seconds: number) => void) | undefined;
}

const noMarks: readonly Mark[] = [];

/** The same node where nothing has changed: then it is not compared. */
function Said({ segment, file, colour, isNow, marks, onSeek }: SegmentProps) {
  return useMemo(() => {
    const { start, speaker, line } = segment;
    const time = start === null ? '' : clock(start);
    const isCurrent = isNow ? 'true' : undefined;
    return li(
      { class: isNow ? 'segment now' : 'segment', 'data-line': line, 'aria-current': isCurrent },
      time && onSeek
        ? parts.button(time, () => onSeek(start ?? 0), {
            ...{ class: 'plain at', 'aria-label': `Play from ${time}` },
          })
        : span('at', time),
      p('', speaker && b(`speaker s${colour}`, parts.text(speaker), ' '), parts.marked(segment.text, marks)),
      parts.button('”', () => void parts.copy(quoteOf(segment, file)), {
        ...{ class: 'plain quote', title: 'Copy as a quote (selected words, or all)' },
        'aria-label': `Copy this as a quote${time ? ` with its time, ${time}` : ''}`,
        onMouseDown: (event) => event.preventDefault(),
      }),
    );
  }, [segment, file, colour, isNow, marks, onSeek]);
}

/** Grows until all is shown, a batch for each frame. */
function useBatches(count: number): number {
  const [shown, setShown] = useState(BATCH);
  useEffect(() => {
    if (shown >= count) return;
    const frame = requestAnimationFrame(() => setShown(shown + BATCH));
    return () => cancelAnimationFrame(frame);
  }, [shown, count]);
  return Math.min(shown, count);
}

/** A text once its typing pauses. */
export function useTyped(first: string, pauseMs = TYPING_PAUSE_MS) {
  const [typed, setTyped] = useState(first);
  const [settled, setSettled] = useState(first.trim());
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return { typed, setTyped, settled };
}

const reveal = (line: number | undefined, block: ScrollLogicalPosition = 'center'): void =>
  document.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block, behavior: 'instant' });

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
    const at = segmentAt(segments, own.current?.currentTime ?? 0);
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
  const props = { ref: own, controls: true, preload: 'none', onTimeUpdate } as const;
  const onError = (): void => setCannotPlay(true);
  const captions = track({ kind: 'captions', label: 'The transcript below' });
  const player = src && [
    audio({ ...props, src, onError, 'aria-label': 'Audio of this file' }, captions),
    !canPlay && span('muted', 'The audio can’t be played here.'),
  ];
  return { player: player && div('player', player), current, seek: canPlay ? seek : undefined };
}

/** The hits of what is typed: where each stands, which one is shown, and the way to the next. */
function useHits(segments: readonly Segment[]) {
  const { typed, setTyped, settled } = useTyped(route.value.params.get('q') ?? '');
  const [hit, setHit] = useState(0);
  const marks = useMemo(() => {
    // The last word may still be typed.
    const marksIn = markerOf(/\w$/.test(settled) ? `${settled}*` : settled);
    const found = segments.map((segment) => [segment, settled ? marksIn(segment.text) : noMarks] as const);
    return new Map(found.filter(([, each]) => each.length));
  }, [segments, settled]);
  const hits = [...marks.keys()];
  const show = (step: number) => (): void => {
    const at = hits.length ? (hit + step + hits.length) % hits.length : 0;
    setHit(at);
    reveal(hits[at]?.line);
  };
  const place = hits.length ? `${Math.min(hit + 1, hits.length)} of ${hits.length}` : 'none';
  return { typed, setTyped, marks, show, place: settled && place };
}

const noSegments: readonly Segment[] = [];
const isReadable = (format: string): boolean => readableFormats.some((each) => each === format);

export function Reader({ file, transcripts, playable }: Omit<FilePage, 'history'>) {
  const isHere = transcripts.some(({ here, format }) => here && isReadable(format));
  const { params } = route.value;
  const path = `/api/file/${encodeURIComponent(file.audiofile)}/transcript`;
  const { data, error } = useLoad<{ segments: readonly Segment[]; truncated: boolean }>(isHere ? path : '');
  const segments = data?.segments ?? noSegments;
  const count = useBatches(segments.length);
  const { typed, setTyped, marks, show, place } = useHits(segments);
  const { player, current, seek } = usePlayer(playable, segments);
  const speakers = useMemo(() => [...new Set(segments.map(({ speaker }) => speaker))], [segments]);

  const wanted = params.get('line') ?? segments[segmentAt(segments, Number(params.get('t')))]?.line;
  useEffect(() => {
    if (count && count === segments.length && (params.has('line') || params.has('t'))) reveal(Number(wanted));
  }, [count, segments, wanted]);
  useKeys({ '/': focusOn('#inside') });
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    show(1)();
  };
  const said = segments.slice(0, count).map((segment, at) =>
    h(Said, {
      ...{ segment, file, isNow: at === current, marks: marks.get(segment) ?? noMarks, onSeek: seek },
      colour: speakers.indexOf(segment.speaker) % SPEAKER_COLOURS,
    }),
  );
  const field = parts.searchField('inside', 'Search inside the transcript', typed, setTyped);
  const found = isHere && [field, output('count muted', place)];
  const next = file.ended !== 'unfinished' && ' Download one to read it here.';
  const none = p('muted', 'No transcript is on this disk.', next);
  const cut = p('muted', `This is the first part; ${counted(segments.length, 'segment')} are shown.`);
  return section(
    { class: 'panel reader', 'aria-label': 'Transcript' },
    el.form({ class: 'tools', onSubmit }, h2('', 'Transcript'), found),
    player,
    parts.failed(error),
    isHere ? ol('transcript', said) : none,
    data?.truncated && cut,
  );
}
