/** Lines for a person: events as they come, and under each what was done about it; states of files; checks. */
import type { AudioFile } from '../api/files.ts';
import { toneOf } from '../catalog/events.ts';
import { toneOfState } from '../catalog/states.ts';
import type { CheckResult, Status } from '../flows/doctor/check.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { type Line, type Piece, plural, type Tone } from '../lib/text.ts';
import { durationText, localTime } from '../lib/time.ts';
import type { ActionReport } from '../listen/action.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import type { Tally } from '../listen/session-end.ts';
import { fieldRows, meaningOf, verbs } from './events.ts';

const NUMBER_WIDTH = 4;
const EVENT_NAME_WIDTH = 'TRANSCRIPT_COMPLETE'.length;
/** What stands under an event begins below its time. */
const INDENT = NUMBER_WIDTH + 2;
/** On a narrower screen the date has a line of its own, once a day. */
const MIN_COLUMNS_FOR_DATE = 72;
/** What is shown of a field; all of it with `steno events show`. */
const MAX_FIELD_LENGTH = 2_000;
const NAME_WIDTH = 20;

export interface Screen {
  readonly columns: number;
  /** Every field of an event is shown. */
  readonly verbose: boolean;
}

/** The lines of one screen: what they say depends on what stands above them. */
export class EventLines {
  #day = '';
  #last = 0;

  events(events: readonly ReceivedEvent[], screen: Screen): Line[] {
    return events.flatMap((event) => this.#linesOf(event, screen));
  }

  /** What was done about an event; it is named where it is not the one right above. */
  report(report: ActionReport): Line {
    const { event } = report;
    const subject = event && event.n !== this.#last ? `event ${event.n}:` : '';
    return reportLine(report, subject);
  }

  #linesOf(event: ReceivedEvent, { columns, verbose }: Screen): Line[] {
    const { day, time } = localTime(event.receivedAt);
    const isWide = columns >= MIN_COLUMNS_FOR_DATE;
    const isNewDay = !isWide && day !== this.#day;
    this.#day = day;
    this.#last = event.n;
    return [
      ...(isNewDay ? [{ pieces: [{ text: day, tone: 'faint' as const }], narrowing: [] }] : []),
      eventLine(event, isWide ? `${day} ${time}` : time),
      ...(verbose ? detailLines(event, columns) : []),
    ];
  }
}

function eventLine(event: ReceivedEvent, time: string): Line {
  const name = event.event || '(no name)';
  const tone = toneOf(event.event);
  const meaning = [event.source === 'found' && 'found by looking:', meaningOf(event)]
    .filter(Boolean)
    .join(' ');
  const pieces: Piece[] = [
    { text: (event.n ? String(event.n) : '-').padStart(NUMBER_WIDTH), tone: 'strong' },
    { text: time, tone: 'faint' },
    { text: name.padEnd(EVENT_NAME_WIDTH), tone: tone ?? 'strong' },
    { text: event.audiofile },
    { text: event.title && `“${event.title}”` },
    { text: event.order && `order ${event.order}` },
    { text: meaning, tone: 'faint' },
  ];
  const [TIME, NAME, FILE, TITLE, ORDER, MEANING] = [1, 2, 3, 4, 5, 6] as const;
  return {
    pieces,
    narrowing: [
      ...([
        [MEANING, 14],
        [MEANING, 0],
        [TITLE, 14],
        [ORDER, 0],
        [TITLE, 0],
        [FILE, 8],
        [TIME, 0],
        [FILE, 0],
      ] as const),
      // The name in an untrusted event may be as long as a delivery; those of the service are never cut.
      ...(tone ? [] : ([[NAME, EVENT_NAME_WIDTH]] as const)),
    ],
  };
}

function detailLines(event: ReceivedEvent, columns: number): Line[] {
  const more = event.unlistedFields ? [['more fields', String(event.unlistedFields)] as const] : [];
  const rows = [['from', event.remote] as const, ...fieldRows(event), ...more];
  return rows.flatMap(([name, value]) => folded(name, value, columns));
}

/** A long value goes on in the next line, below where it begins. */
function folded(name: string, value: string, columns: number): Line[] {
  const shown = value.slice(0, MAX_FIELD_LENGTH);
  // Half of the room, because a character may take two columns.
  const isPlain = /^[ -~]*$/.test(shown);
  const room = Math.max(10, columns - INDENT - NAME_WIDTH - 2);
  const step = isPlain ? room : Math.floor(room / 2);
  const parts = isPlain ? [...shown] : [...new Intl.Segmenter().segment(shown)].map(({ segment }) => segment);
  if (shown !== value) parts.push('…');
  const lines: Line[] = [];
  for (let at = 0; at === 0 || at < parts.length; at += step)
    lines.push({
      indent: INDENT,
      pieces: [
        { text: (at === 0 ? name : '').padEnd(NAME_WIDTH), tone: 'faint' },
        { text: parts.slice(at, at + step).join('') },
      ],
      narrowing: [
        [0, NAME_WIDTH],
        [1, 1],
        [0, 1],
      ],
    });
  return lines;
}

/** `event 12:` where it must be named, what was done, its target, and how that went. */
function reportLine({ action, what, outcome, saved, nextTryAt, event }: ActionReport, subject: string): Line {
  const { kind, target } = action;
  const named = (did: string, tone: Piece['tone'], about: string, how: string): Line => ({
    indent: INDENT,
    gap: 1,
    pieces: [
      { text: subject, tone: 'strong' },
      { text: did, tone },
      { text: about, keepsEnd: kind !== 'exec' },
      { text: how },
    ],
    narrowing: [
      [2, 20],
      [3, 24],
      [2, 0],
      [3, 8],
      [3, 0],
    ],
  });
  const again = nextTryAt ? `; next try at ${localTime(nextTryAt).time}` : '; tried again later';
  switch (what) {
    case 'done':
      return saved
        ? named(verbs.download, 'good', outcome, '')
        : named(verbs[kind], 'good', target, `(${outcome})`);
    case 'later':
    case 'down': {
      const kept = what === 'down' ? '; what comes meanwhile is kept' : '';
      return named(`${kind} failed:`, 'warn', `${target}:`, `${outcome}${again}${kept}`);
    }
    case 'back':
      return named(`${kind} works again:`, 'good', target, '');
    case 'failed':
      return named(`${kind} ${event ? 'failed' : 'given up'}:`, 'bad', `${target}:`, outcome);
  }
}

const doneVerbs = { ...verbs, forward: 'forwarded' } as const;

/** What came in all, and what was done about it. */
export function totalLines(tally: Tally, columns: number): Line[] {
  const { events, kinds, otherKinds, others, lost, actions, durationMs } = tally;
  const types = [...kinds].sort(([, a], [, b]) => b - a).map(([name, count]) => `${count} ${name}`);
  if (otherKinds) types.push(`${otherKinds} of other types`);
  const doing = [...actions].flatMap(([kind, { done, failed }]) => [
    ...(done ? [`${doneVerbs[kind]} ${done}`] : []),
    ...(failed ? [`${kind} failed ${failed}`] : []),
  ]);
  const beside = [
    ...(others ? [`${others} more kept, which --only leaves out`] : []),
    ...(lost ? [`${lost} not kept`] : []),
  ];
  const head: Piece[] = [
    { text: 'total:', tone: 'strong' },
    { text: `${plural(events, 'event')} in ${durationText(durationMs)}` },
  ];
  return [
    { gap: 1, pieces: head, narrowing: [] },
    ...foldedList(types, columns),
    ...foldedList(doing, columns),
    ...foldedList(beside, columns),
  ];
}

const foldedList = (items: readonly string[], columns: number): Line[] =>
  joined(items, ', ', columns - INDENT - 1).map((text) => ({
    ...{ indent: INDENT, pieces: [{ text }], narrowing: [[0, 8]] },
  }));

/** A state that a file has come to, for a person who watches; `several` files are told by their ids. */
export function watchedLine(file: AudioFile, at: string, several: boolean): Line {
  const { day, time } = localTime(at);
  return {
    pieces: [
      { text: day, tone: 'faint' },
      { text: time, tone: 'faint' },
      { text: several ? file.id : '', tone: 'strong' },
      { text: file.state, tone: toneOfState(file.state) },
      { text: cutSignatures(file.title) },
    ],
    narrowing: [
      [4, 20],
      [0, 0],
      [4, 8],
      [4, 0],
    ],
  };
}

const tones: Readonly<Record<Status, Tone>> = { ok: 'good', warn: 'warn', fail: 'bad', skipped: 'faint' };
const labels: Readonly<Record<Status, string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL', skipped: '-' };
const LABEL_WIDTH = 4;
const GAP = 2;

/** For a person: nothing is cut, because it says what to do; what does not fit goes on in the next line. */
export function doctorLines(results: readonly CheckResult[], columns: number): Line[] {
  const nameWidth = Math.max(...results.map(({ check }) => check.length));
  const indent = LABEL_WIDTH + GAP + nameWidth + GAP;
  const room = Math.max(20, columns - indent);
  const below = (text: string, tone: Tone | undefined): Line => ({ indent, ...lineOf({ text, tone }) });
  const lines = results.flatMap(({ check, status, message, hint }): Line[] => {
    const [first = '', ...rest] = wrapped(message, room);
    const tone = status === 'skipped' ? ('faint' as const) : undefined;
    const label = { text: labels[status].padEnd(LABEL_WIDTH), tone: tones[status] };
    return [
      lineOf(label, { text: check.padEnd(nameWidth), tone: 'strong' }, { text: first, tone }),
      ...rest.map((text) => below(text, tone)),
      ...(hint ? wrapped(`hint: ${hint}`, room) : []).map((text) => below(text, tones[status])),
    ];
  });
  return [...lines, lineOf({ text: summary(results), tone: 'strong' })];
}

const lineOf = (...pieces: readonly Piece[]): Line => ({ pieces, narrowing: [] });

function summary(results: readonly CheckResult[]): string {
  const count = (wanted: Status): number => results.filter(({ status }) => status === wanted).length;
  const [failures, warnings] = [count('fail'), count('warn')];
  if (failures + warnings === 0) return 'all is well';
  return [failures && `${failures} failed`, warnings && plural(warnings, 'warning')]
    .filter(Boolean)
    .join(', ');
}

/** By words, so that a path or a command can be copied. */
const wrapped = (message: string, room: number): string[] => joined(message.split(/\s+/), ' ', room);

/** Items on as many lines as they need; one that is longer than the room stays whole. */
function joined(items: readonly string[], separator: string, room: number): string[] {
  const [first, ...rest] = items;
  const lines: string[] = [];
  let line = first;
  for (const item of rest) {
    const longer = `${line}${separator}${item}`;
    if (longer.length > room) lines.push(`${line}${separator.trimEnd()}`);
    line = longer.length > room ? item : longer;
  }
  return line === undefined ? lines : [...lines, line];
}
