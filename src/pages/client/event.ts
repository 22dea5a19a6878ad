/** One event: its fields, its body, what became of each action, and sending it again. */
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { shellWord } from '../../lib/text.ts';
import { post, useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import { eventName, sentenceOf, sourceChip } from './events.ts';
import { shortTime } from './format.ts';
import { useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { go } from './route.ts';
import type { Action, ShownEvent } from './types.ts';

const { a, b, code, form, h1, header, label, output, p, pre, span } = el;

const TARGET = 'steno-replay-to';
const EXAMPLE = 'http://127.0.0.1:3000/hook';
const actionTones: Readonly<Record<string, string>> = { done: 'good', failed: 'bad', given_up: 'bad' };

const actionOf = ({ kind, target, status, tries, outcome, updated_at, next_try_at }: Action): Child => [
  b(actionTones[status] ?? 'busy', status),
  ` ${kind} `,
  code('', target),
  p('', outcome),
  p('muted', tries > 1 && `${tries} tries, `, parts.timeAt(updated_at)),
  next_try_at && p('muted', 'next try ', parts.timeAt(next_try_at)),
];

/** What a replay did. */
interface Outcome extends Record<'what' | 'text' | 'at', string> {
  readonly isBad: boolean;
}
const MAX_OUTCOMES = 10;

const outcomeOf = ({ what, text, at, isBad }: Outcome): Child => [
  b(isBad ? 'bad' : 'good', text),
  p('muted', parts.text(what), ', ', parts.timeAt(at)),
];

interface Replayed {
  readonly outcome: string | null;
  readonly error?: { readonly message: string };
}

function Replay({ event }: { event: ShownEvent }) {
  const forwarded = event.actions.find(({ kind }) => kind === 'forward')?.target;
  const [to, setTo] = useState(sessionStorage.getItem(TARGET) ?? forwarded ?? '');
  const [body, setBody] = useState<string | undefined>(undefined);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [isBusy, setBusy] = useState(false);
  const isEdited = body !== undefined && body !== event.body;
  const send = async (): Promise<void> => {
    setBusy(true);
    sessionStorage.setItem(TARGET, to);
    const note = (text: string, isBad: boolean): void => {
      const what = isEdited ? 'Edited copy' : `Event ${event.n}`;
      const done = { what: isBad ? `${what} not delivered to ${to}` : `${what} sent to ${to}`, text, isBad };
      setOutcomes((old) => [{ ...done, at: new Date().toISOString() }, ...old].slice(0, MAX_OUTCOMES));
    };
    try {
      const sent = { to, ...(isEdited && { body }) };
      const { outcome: said, error } = await post<Replayed>(`/api/event/${event.n}/replay`, sent);
      note(error?.message ?? said ?? 'no answer', Boolean(error));
    } catch (error) {
      note((error as Error).message, true);
    }
    setBusy(false);
  };
  const onSubmit = (submit: Event): void => {
    submit.preventDefault();
    void send();
  };
  type Typed = { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement };
  const onInput = (typed: Typed): void => setTo(typed.currentTarget.value);
  const onEdit = (typed: Typed): void => setBody(typed.currentTarget.value);
  const props = { type: 'url', placeholder: EXAMPLE, value: to, onInput } as const;
  const field = el.input({ ...props, id: 'target', required: true });
  const edit = body !== undefined && [
    label('', 'Body ', isEdited && span('chip', 'edited')),
    el.textarea({ rows: 8, spellcheck: false, value: body, onInput: onEdit, 'aria-label': 'Body' }),
    el.small('muted', 'An edited copy is sent with the header Steno-Edited: true, to this URL only.'),
  ];
  const submit = el.button({ type: 'submit', class: 'main' }, isEdited ? 'Send the edited copy' : 'Replay');
  const toggle = (): void => setBody(body === undefined ? event.body : undefined);
  return form(
    { class: 'replay', onSubmit },
    label('', 'Target URL', field),
    edit,
    p('buttons', submit, parts.button(body === undefined ? 'Edit and replay' : 'Discard the edit', toggle)),
    output('', isBusy ? 'Sending…' : outcomes.length > 0 && parts.facts(outcomes, outcomeOf)),
    parts.command(`events replay ${event.n} --to ${shellWord(to || EXAMPLE)}`),
  );
}

const fieldsOf = ({ fields, content_type, remote }: ShownEvent): Array<readonly [string, string]> => [
  ...Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const)),
  ['content type', content_type],
  ['from', remote],
];

function leadOf(event: ShownEvent) {
  const { n, received_at, audiofile, title, duplicate, source } = event;
  const exact = parts.timeAt(received_at, shortTime);
  const file = audiofile && [' · ', parts.fileLink(audiofile, title || `file ${audiofile}`)];
  const how = source === 'found' ? 'arrived later as' : 'found earlier as';
  const other = duplicate && a({ class: 'aside', href: `#/event/${duplicate}` }, `${how} event ${duplicate}`);
  const when = [exact, span('muted', ' (', parts.timeAt(received_at), ')')];
  const kind = [eventName(event), span('muted', ` event ${n} `), sourceChip(event)];
  return header('lead', h1('', sentenceOf(event)), p('', kind), p('', when, file, other));
}

export function EventPage({ id }: { id: string }) {
  const { data: event, error } = useLoad<ShownEvent>(`/api/event/${encodeURIComponent(id)}`, ['events']);
  const line = `events show ${shellWord(id)}`;
  useKeys({ Escape: () => go('/events') });
  parts.useTitle(`Event ${id}`);
  const above = parts.crumbs('Events', line);
  if (!event) return parts.frame(above, error, !error && p('muted', 'Loading…'));
  const { body, curl, actions, n } = event;
  const copyCurl = parts.button('Copy as curl', () => void parts.copy(curl, 'the curl command line'));
  const noActions = actions.length === 0 && p('muted', 'No action was asked for when it arrived.');
  const columns = [
    [
      parts.panel('Fields', null, parts.pairs(fieldsOf(event))),
      parts.panel('Body as received', copyCurl, pre('', body)),
    ],
    [
      parts.panel('Actions', null, noActions, parts.facts(actions, actionOf)),
      parts.panel('Replay', null, h(Replay, { key: n, event })),
    ],
  ];
  return parts.frame(above, error, leadOf(event), columns);
}
