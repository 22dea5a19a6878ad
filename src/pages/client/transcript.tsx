/** The transcript to read: speakers, times, search inside, and the audio whose time the text follows. */
import type { RefObject } from 'preact';
import { memo } from 'preact/compat';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLoad } from './api.ts';
import { clock, placesOf, plural, searchWords } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import { copy, Failed, Icon, Marked, SearchField, Select, Text } from './parts.tsx';
import { pathWith, route } from './route.ts';
import type { FileDocument, Segment, Transcript } from './types.ts';

const readable = ['vtt', 'srt', 'tstxt', 'docx', 'html', 'txt'];
/** Segments that are put on the page at a time, so that a long transcript never blocks it. */
const BATCH = 150;
const TYPING_PAUSE_MS = 200;
const SPEAKER_COLOURS = 6;

const isTimed = (segment: Segment | undefined): segment is Segment & { start: number } =>
  typeof segment?.start === 'number';

/** The last segment that has begun at this time. */
function segmentAt(segments: readonly Segment[], seconds: number): number {
  let [low, high] = [0, segments.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((segments[middle]?.start ?? 0) <= seconds) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** What is selected in the transcript, or the whole segment, with who says it and when. */
function quoteOf(segment: Segment, file: FileDocument): string {
  const selection = getSelection();
  const isInside = selection?.anchorNode?.parentElement?.closest(`[data-line="${segment.line}"]`);
  const text = (isInside && selection?.toString().trim()) || segment.text.replaceAll('\n', ' ');
  const from = [
    segment.speaker,
    file.title,
    isTimed(segment) ? clock(segment.start) : `line ${segment.line}`,
  ];
  return `“${text}” (${from.filter(Boolean).join(', ')})`;
}

interface SegmentProps {
  readonly segment: Segment;
  readonly file: FileDocument;
  readonly colour: number;
  readonly isNow: boolean;
  readonly words: readonly string[];
  readonly onSeek: ((seconds: number) => void) | undefined;
}

const noWords: readonly string[] = [];

const Said = memo(({ segment, file, colour, isNow, words, onSeek }: SegmentProps) => {
  const { start } = segment;
  const time = isTimed(segment) ? clock(segment.start) : '';
  return (
    <li
      class={isNow ? 'segment now' : 'segment'}
      data-line={segment.line}
      aria-current={isNow ? 'true' : undefined}
    >
      {time && onSeek ? (
        <button
          type="button"
          class="plain at"
          aria-label={`Play from ${time}`}
          onClick={() => onSeek(start ?? 0)}
        >
          {time}
        </button>
      ) : (
        <span class="at">{time}</span>
      )}
      <p>
        {segment.speaker ? (
          <b class={`speaker s${colour}`}>
            <Text>{segment.speaker}</Text>{' '}
          </b>
        ) : null}
        <Marked text={segment.text} words={words} />
      </p>
      <button
        type="button"
        class="plain quote"
        aria-label={`Copy this as a quote${time ? ` with its time, ${time}` : ''}`}
        title="Copy as a quote (selected words, or all)"
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => void copy(quoteOf(segment, file))}
      >
        <Icon name="quote" />
      </button>
    </li>
  );
});

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

const reveal = (line: number | undefined, block: ScrollLogicalPosition = 'center'): void =>
  document.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block, behavior: 'instant' });

interface PlayerProps {
  readonly audio: RefObject<HTMLAudioElement | null>;
  readonly src: string;
  readonly canPlay: boolean;
  readonly isFollowing: boolean;
  readonly setFollowing: (isFollowing: boolean) => void;
  readonly setCannotPlay: (cannotPlay: boolean) => void;
  readonly onTime: () => void;
}

function Player({ audio, src, canPlay, isFollowing, setFollowing, setCannotPlay, onTime }: PlayerProps) {
  const events = { onTimeUpdate: onTime, onError: () => setCannotPlay(true) };
  return (
    <div class="player">
      <audio ref={audio} src={src} controls preload="none" aria-label="Audio of this file" {...events}>
        <track kind="captions" label="The transcript below" />
      </audio>
      {canPlay ? (
        <label class="check">
          <input type="checkbox" checked={isFollowing} onChange={() => setFollowing(!isFollowing)} /> Text
          follows
        </label>
      ) : (
        <span class="muted">The audio can’t be played here.</span>
      )}
    </div>
  );
}

interface ReaderProps {
  readonly file: FileDocument;
  readonly transcripts: readonly Transcript[];
  readonly playable: string | null;
}

export function Reader({ file, transcripts, playable }: ReaderProps) {
  const here = readable.filter((format) => transcripts.some((each) => each.here && each.format === format));
  const { params } = route.value;
  const [format, setFormat] = useState(here[0] ?? '');
  const path = pathWith(`/api/file/${encodeURIComponent(file.audiofile)}/transcript`, { format });
  const { data, error } = useLoad<{ segments: readonly Segment[]; truncated: boolean }>(format && path);
  const segments = data?.segments ?? [];
  const count = useBatches(segments.length);
  const [typed, setTyped] = useState(params.get('q') ?? '');
  const [query, setQuery] = useState(typed);
  const [hit, setHit] = useState(0);
  const [current, setCurrent] = useState(-1);
  const [isFollowing, setFollowing] = useState(true);
  const [cannotPlay, setCannotPlay] = useState(false);
  const audio = useRef<HTMLAudioElement>(null);

  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const words = useMemo(() => searchWords(query), [query]);
  const hits = useMemo(
    () => (words.length ? segments.filter(({ text }) => placesOf(text, words).length) : []),
    [segments, words],
  );
  const hitLines = useMemo(() => new Set(hits.map(({ line }) => line)), [hits]);
  const speakers = useMemo(() => [...new Set(segments.map(({ speaker }) => speaker))], [segments]);

  const wanted = params.get('line') ?? segments[segmentAt(segments, Number(params.get('t')))]?.line;
  useEffect(() => {
    if (count && count === segments.length && (params.has('line') || params.has('t'))) reveal(Number(wanted));
  }, [count, segments, wanted]);

  const showHit = (step: number) => (): void => {
    const at = hits.length ? (hit + step + hits.length) % hits.length : 0;
    setHit(at);
    reveal(hits[at]?.line);
  };
  // The same function for each segment, so that only those that change are made again.
  const seek = useCallback((seconds: number): void => {
    if (!audio.current) return;
    audio.current.currentTime = seconds;
    void audio.current.play().catch(() => setCannotPlay(true));
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    showHit(1)();
  };
  const follow = (): void => {
    const at = segmentAt(segments, audio.current?.currentTime ?? 0);
    if (at === current) return;
    setCurrent(at);
    if (isFollowing && !audio.current?.paused) reveal(segments[at]?.line, 'nearest');
  };
  const togglePlay = (): void => {
    if (audio.current?.paused) seek(audio.current.currentTime);
    else audio.current?.pause();
  };
  const canPlay = Boolean(playable) && !cannotPlay;
  const play = canPlay ? { ' ': togglePlay } : {};
  useKeys({ '/': () => focusOn('#inside'), n: showHit(1), N: showHit(-1), ...play });

  const place = hits.length ? `${Math.min(hit + 1, hits.length)} of ${hits.length}` : 'none';
  return (
    <section class="panel reader" aria-label="Transcript">
      <form class="tools" onSubmit={submit}>
        <h2>Transcript</h2>
        {here.length ? (
          <>
            <SearchField
              {...{
                id: 'inside',
                label: 'Search inside the transcript',
                hint: 'Search inside',
                value: typed,
                onType: setTyped,
              }}
            />
            <output class="count muted">{query ? place : ''}</output>
            <Select
              label="Format"
              value={format}
              choices={here.map((name) => ({ name, label: name }))}
              onPick={setFormat}
            />
          </>
        ) : null}
      </form>
      {playable ? (
        <Player
          {...{ audio, src: playable, canPlay, isFollowing, setFollowing, setCannotPlay }}
          onTime={follow}
        />
      ) : null}
      <Failed error={error} />
      {here.length ? null : <p class="muted">No transcript is on this disk. Download one to read it here.</p>}
      <ol class="transcript">
        {segments.slice(0, count).map((segment, at) => (
          <Said
            key={at}
            {...{ segment, file }}
            colour={speakers.indexOf(segment.speaker) % SPEAKER_COLOURS}
            isNow={at === current}
            words={hitLines.has(segment.line) ? words : noWords}
            onSeek={canPlay ? seek : undefined}
          />
        ))}
      </ol>
      {data?.truncated ? (
        <p class="muted">This is the first part; {plural(segments.length, 'segment')} are shown.</p>
      ) : null}
    </section>
  );
}
