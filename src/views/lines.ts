/** Lines for a person: events as they come, and what was done about each; states of files. */
import type { AudioFile } from '../api/files.ts';
import { toneOf } from '../catalog/events.ts';
import { fileStates, toneOfState } from '../catalog/states.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { type Line, lineOf, type Piece, plural, type Tone } from '../lib/text.ts';
import { durationText, localTime, nowMs } from '../lib/time.ts';
import type { Action, ActionReport } from '../listen/action.ts';
import type { ReceivedEvent } from '../listen/event.ts';
import type { Tally } from '../listen/session-end.ts';
import { fieldPairs, meaningOf } from './events.ts';

const NUMBER_WIDTH = 4;
const EVENT_NAME_WIDTH = 'TRANSCRIPT_COMPLETE'.length;
/** What stands under an event begins below its time. */
const INDENT = NUMBER_WIDTH + 2;
/** What is shown of a field; all of it with `steno events show`. */
const MAX_FIELD_LENGTH = 2_000;
const NAME_WIDTH = 20;

/** What is done about events, of these types or of all. */
export type EventRule = Pick<Action, 'kind' | 'target' | 'events'>;

/** An event whose actions are not all done yet. */
interface OpenEvent {
  readonly event: ReceivedEvent;
  readonly rules: readonly EventRule[];
  /** By rule: how its last try went. */
  readonly reports: Map<EventRule, ActionReport>;
}

/** How many events may have lines that change: the oldest one stays as it is where more come. */
const MAX_OPEN = 20;

/**
 * The lines of one screen: each event has one, which says what was done about it. It changes as long as something is
 * under way; what is done later has a line of its own.
 */
export class EventLines {
  /** What this listener does about an event that comes in now. */
  rules: readonly EventRule[] = [];
  readonly #since = new Date(nowMs()).toISOString();
  readonly #open = new Map<number, OpenEvent>();
  /** Of the line above; the first day needs no line. */
  #day = localTime(this.#since).day;

  /** The lines that stay; `verbose`: with every field of an event. */
  events(events: readonly ReceivedEvent[], verbose: boolean): Line[] {
    return events.flatMap((event) => {
      const rules = verbose ? [] : this.#rulesFor(event);
      if (rules.length === 0)
        return [...this.#dayLine(event), eventLine(event), ...(verbose ? detailLines(event) : [])];
      this.#open.set(event.n, { event, rules, reports: new Map() });
      return this.#dropOldest();
    });
  }

  /** What was done about an event, where that is the last word on it. */
  report(report: ActionReport): Line[] {
    const { event, what } = report;
    const open = event && what !== 'down' && what !== 'back' ? this.#open.get(event.n) : undefined;
    if (!event || !open) return [reportLine(report)];
    const rule = open.rules.find(
      ({ kind, target }) => kind === report.action.kind && target === report.action.target,
    );
    if (rule) open.reports.set(rule, report);
    return isDone(open) ? this.#close(open) : [];
  }

  /** Those that change. */
  get moving(): Line[] {
    return [...this.#open.values()].map(openLine);
  }

  /** How many actions of these are not done. */
  get running(): number {
    const left = ({ rules, reports }: OpenEvent): number => rules.length - reports.size;
    return [...this.#open.values()].reduce((sum, open) => sum + left(open), 0);
  }

  /** Nothing is done any more: they stay as they are. */
  end(): Line[] {
    return [...this.#open.values()].flatMap((open) => this.#close(open));
  }

  /** One that an earlier listener has received may be done with; what is done for a found one is not done again. */
  #rulesFor({ event, receivedAt, duplicate }: ReceivedEvent): EventRule[] {
    if (receivedAt < this.#since) return [];
    return this.rules.filter(
      ({ kind, events }) => (!events || events.includes(event)) && (duplicate === null || kind === 'forward'),
    );
  }

  #dropOldest(): Line[] {
    const [oldest] = this.#open.values();
    return oldest && this.#open.size > MAX_OPEN ? this.#close(oldest) : [];
  }

  #close(open: OpenEvent): Line[] {
    this.#open.delete(open.event.n);
    return [...this.#dayLine(open.event), openLine(open)];
  }

  /** Where the day is another than that of the line above. */
  #dayLine({ receivedAt }: ReceivedEvent): Line[] {
    const { day } = localTime(receivedAt);
    if (day === this.#day) return [];
    this.#day = day;
    return [lineOf({ text: day, tone: 'faint' })];
  }
}

const isDone = ({ rules, reports }: OpenEvent): boolean =>
  rules.every((rule) => ['done', 'failed'].includes(reports.get(rule)?.what ?? ''));

const doing = { download: 'downloading', forward: 'forwarding', exec: 'running' } as const;

/** With what is done about it, or was. */
function openLine({ event, rules, reports }: OpenEvent): Line {
  const all = rules.map((rule) => reports.get(rule));
  const texts = rules.map(({ kind }, at) => {
    const report = all[at];
    return report ? outcomeOf(report) : doing[kind];
  });
  const hasFailed = (_: string, at: number): boolean => all[at]?.what === 'failed';
  const failed = texts.filter(hasFailed);
  // At its end, which is kept where there is little room, stands the exit code of a command.
  if (failed.length > 0) {
    const others = texts.filter((text, at) => !hasFailed(text, at));
    return eventLine(event, { text: [...others, ...failed].join(', '), tone: 'bad', keepsEnd: true }, '✗');
  }
  if (all.every((report) => report?.what === 'done'))
    return eventLine(event, { text: texts.join(', '), keepsEnd: true });
  return eventLine(event, { text: texts.join(', '), tone: 'faint' }, '…');
}

function outcomeOf({ action: { kind, target }, what, outcome, saved, nextTryAt }: ActionReport): string {
  if (what === 'done') return saved ? outcome : `${target} (${outcome})`;
  const again = what === 'later' ? `; ${nextTry(nextTryAt)}` : '';
  return `${kind} failed: ${outcome}${again}`;
}

const nextTry = (at: string | undefined): string =>
  at ? `next try at ${localTime(at).time}` : 'tried again later';

const marks: Readonly<Partial<Record<Tone, string>>> = { good: '✓', warn: '!', bad: '✗' };

function eventLine(event: ReceivedEvent, said?: Piece, mark?: string): Line {
  const name = event.event || '(no name)';
  const tone = toneOf(event.event);
  const meaning = [event.source === 'found' && 'found by asking the service:', meaningOf(event)]
    .filter(Boolean)
    .join(' ');
  const pieces: Piece[] = [
    { text: (event.n ? String(event.n) : '-').padStart(NUMBER_WIDTH), tone: 'faint' },
    { name: 'time', text: localTime(event.receivedAt).time, tone: 'faint' },
    { text: mark ?? marks[tone ?? 'info'] ?? '•', tone: said?.tone ?? tone },
    { name: 'event', text: name, tone: tone ?? 'strong' },
    { name: 'file', text: event.audiofile, tone: 'strong' },
    { name: 'title', text: event.title },
    { name: 'order', text: event.audiofile ? '' : event.order && `order ${event.order}` },
    { text: said?.keepsEnd && !said.tone ? '→' : '' },
    { name: 'said', ...(said ?? { text: meaning, tone: 'faint' }) },
  ];
  // The name in an untrusted event may be as long as a delivery; those of the service are never cut.
  const first = tone ? '' : `event ${EVENT_NAME_WIDTH}, `;
  const then = said ? 'title 14, said 24, title, order, said 10' : 'said 14, said, title 14, order, title';
  return { gap: 1, pieces, narrowing: `${first}${then}, file 8, time, file` };
}

/** What is done about each event, below the line that says where they are received; `folder` is that of --download. */
export function planLine(rules: readonly EventRule[], folder = ''): Line {
  const then = rules.flatMap(({ kind, target }, at): Piece[] => [
    { text: `· ${plans[kind]}` },
    { name: `to${at}`, text: kind === 'download' ? folder : target, keepsEnd: kind !== 'exec' },
  ]);
  const narrowing = [...rules.map((_, at) => `to${at} 12`), 'lead'].join(', ');
  return { gap: 1, pieces: [{ name: 'lead', text: 'saves events' }, ...then], narrowing };
}

const plans = { download: 'downloads to', forward: 'forwards to', exec: 'runs' } as const;

/** How a listener stands: the last line of its screen, with as much as fits. */
export function statusLine(host: string, events: number, running: number): Line {
  const counts = plural(events, 'event') + (running ? ` · ${plural(running, 'action')} running` : '');
  const texts = { host: `listening on ${host} ·`, counts, stop: '· Ctrl-C to stop' };
  const pieces = Object.entries(texts).map(([name, text]) => ({ name, text, tone: 'faint' as const }));
  return { gap: 1, pieces, narrowing: 'host, stop, counts 8' };
}

function detailLines(event: ReceivedEvent): Line[] {
  const more = event.unlistedFields ? [['more fields', String(event.unlistedFields)] as const] : [];
  const rows = [['from', event.remote] as const, ...fieldPairs(event), ...more];
  return rows.map(([name, value]) => {
    const shown = value.length > MAX_FIELD_LENGTH ? `${value.slice(0, MAX_FIELD_LENGTH)}…` : value;
    const pieces = [{ text: name.padEnd(NAME_WIDTH), tone: 'faint' as const }, { text: shown }];
    return { ...lineOf(...pieces), indent: INDENT, folds: true };
  });
}

/** What was done about an event whose line stands further up, or about a target. */
const reportLine = (report: ActionReport): Line => ({
  gap: 1,
  pieces: reportPieces(report),
  narrowing: 'about 20, how 24, about, how 8, how',
});

/** The same off a terminal. */
export const reportText = (report: ActionReport): string =>
  reportPieces(report)
    .flatMap(({ text }) => text || [])
    .join(' ');

const verbs = { forward: 'forwarded to', exec: 'ran', download: 'downloaded' } as const;

const failures = {
  failed: { text: 'failed:', tone: 'bad' },
  later: { text: 'failed, will be retried:', tone: 'warn' },
  down: { text: 'does not work:', tone: 'warn' },
} as const;

function reportPieces(report: ActionReport): Piece[] {
  const { what, outcome, event, saved, nextTryAt } = report;
  const { kind, target } = report.action;
  const subject: Piece = { text: event && what !== 'back' ? `event ${event.n}:` : '', tone: 'strong' };
  const about: Piece = { name: 'about', text: target, keepsEnd: kind !== 'exec' };
  if (what === 'back') return [subject, { text: kind }, about, { text: 'works again', tone: 'good' }];
  if (what === 'done') {
    const did: Piece = { text: verbs[kind], tone: 'good' };
    return saved
      ? [subject, did, { ...about, text: outcome }]
      : [subject, did, about, { name: 'how', text: `(${outcome})` }];
  }
  if (!event) {
    const gaveUp: Piece = { text: `gave up on ${kind}`, tone: 'bad' };
    return [subject, gaveUp, { ...about, text: `${target}:` }, { name: 'how', text: outcome }];
  }
  const isSaved = what === 'down' ? '; pending events are saved' : '';
  const again = what === 'failed' ? '' : `; ${nextTry(nextTryAt)}`;
  return [subject, { text: kind }, about, failures[what], { name: 'how', text: outcome + isSaved + again }];
}

const counted = {
  download: { done: (count: number) => `${count} downloaded`, failed: 'download' },
  forward: { done: (count: number) => `${count} forwarded`, failed: 'forward' },
  exec: { done: (count: number) => `${plural(count, 'command')} run`, failed: 'command' },
} as const;

/** What came in all, and what was done about it: `14 events in 2 min: 12 downloaded, 1 command failed`. */
export function totalText({ events, others, lost, actions, durationMs }: Tally): string {
  const parts = [
    ...[...actions].flatMap(([kind, { done, failed }]) => [
      ...(done ? [counted[kind].done(done)] : []),
      ...(failed ? [`${plural(failed, counted[kind].failed)} failed`] : []),
    ]),
    ...(others ? [`${others} more saved, excluded by --only`] : []),
    ...(lost ? [`${lost} not saved`] : []),
  ];
  return `${plural(events, 'event')} in ${durationText(durationMs)}${parts.length ? `: ${parts.join(', ')}` : ''}`;
}

const STATE_WIDTH = Math.max(...fileStates.map(({ name }) => name.length));

/** A state that a file has come to, for a person who watches; several files are told by their ids, in a column. */
export function watchedLine(file: AudioFile, at: string, ids: readonly string[]): Line {
  const { day, time } = localTime(at);
  const idWidth = ids.length > 1 ? Math.max(...ids.map((id) => id.length)) : 0;
  return {
    pieces: [
      { name: 'day', text: day, tone: 'faint' },
      { text: time, tone: 'faint' },
      { text: idWidth ? file.id.padEnd(idWidth) : '', tone: 'strong' },
      { text: file.state.padEnd(STATE_WIDTH), tone: toneOfState(file.state) },
      { name: 'title', text: cutSignatures(file.title) },
    ],
    narrowing: 'title 20, day, title 8, title',
  };
}
