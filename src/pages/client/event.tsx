/** One event: its fields, its body, what became of each action, and sending it again. */
import { useEffect, useState } from 'preact/hooks';
import { type CallError, post, useLoad } from './api.ts';
import { EventName, Found } from './events.tsx';
import { shellWord } from './format.ts';
import { focusOn, useKeys } from './keys.ts';
import {
  Command,
  Crumbs,
  commandLine,
  copy,
  Facts,
  Failed,
  FileLink,
  Pairs,
  Panel,
  sayError,
  Time,
} from './parts.tsx';
import { go } from './route.ts';
import type { Action, ShownEvent } from './types.ts';

const TARGET = 'steno-replay-to';

const actionTones: Readonly<Record<string, string>> = { done: 'good', failed: 'bad', given_up: 'bad' };

function Actions({ actions }: { actions: readonly Action[] }) {
  if (!actions.length) return <p class="muted">No action was asked for when it arrived.</p>;
  return (
    <Facts items={actions}>
      {({ kind, target, status, tries, outcome, updated_at, next_try_at }) => (
        <>
          <b class={actionTones[status] ?? 'busy'}>{status}</b> {kind} <code>{target}</code>
          <p>{outcome}</p>
          <p class="muted">
            {tries > 1 ? `${tries} tries, ` : ''}
            <Time at={updated_at} />
            {next_try_at ? ', next try ' : ''}
            <Time at={next_try_at} />
          </p>
        </>
      )}
    </Facts>
  );
}

interface Replayed {
  readonly target: string;
  readonly outcome: string | null;
  readonly error?: { readonly message: string };
}

/** It may be one document or, as `--json` has it, a list of one. */
const firstOf = <T,>(value: T | readonly T[]): T => (Array.isArray(value) ? value[0] : value) as T;

function Replay({ event }: { event: ShownEvent }) {
  const forwarded = event.actions.find(({ kind }) => kind === 'forward')?.target;
  const [to, setTo] = useState(sessionStorage.getItem(TARGET) ?? forwarded ?? '');
  const [body, setBody] = useState<string | undefined>(undefined);
  const [outcome, setOutcome] = useState<{ text: string; isBad?: boolean }>({ text: '' });
  const isEdited = body !== undefined && body !== event.body;
  const send = async (): Promise<void> => {
    setOutcome({ text: 'Sending…' });
    try {
      sessionStorage.setItem(TARGET, to);
      const answer = await post<Replayed | readonly Replayed[]>(`/api/event/${event.n}/replay`, {
        ...{ to, ...(isEdited && { body }) },
      });
      const { outcome: said, error } = firstOf(answer);
      setOutcome({ text: error?.message ?? said ?? 'sent', isBad: Boolean(error) });
    } catch (error) {
      const { message, hint } = error as CallError;
      setOutcome({ text: [message, hint].filter(Boolean).join('; '), isBad: true });
      sayError(error as CallError);
    }
  };
  return (
    <form
      class="replay"
      onSubmit={(submit) => {
        submit.preventDefault();
        void send();
      }}
    >
      <label>
        Target URL
        <input
          id="target"
          type="url"
          required
          placeholder="http://127.0.0.1:3000/hook"
          value={to}
          onInput={(input) => setTo(input.currentTarget.value)}
        />
      </label>
      {body === undefined ? null : (
        <label>
          Body {isEdited ? <span class="chip">edited</span> : null}
          <textarea
            rows={8}
            spellcheck={false}
            value={body}
            onInput={(input) => setBody(input.currentTarget.value)}
          />
          <small class="muted">
            An edited copy is sent with the header Steno-Edited: true, to this URL only.
          </small>
        </label>
      )}
      <p class="buttons">
        <button type="submit" class="main">
          {isEdited ? 'Send the edited copy' : 'Replay'}
        </button>
        <button type="button" onClick={() => setBody(body === undefined ? event.body : undefined)}>
          {body === undefined ? 'Edit and replay' : 'Discard the edit'}
        </button>
      </p>
      <output class={outcome.isBad ? 'bad' : ''}>{outcome.text}</output>
      <Command line={`events replay ${event.n} --to ${shellWord(to || 'http://127.0.0.1:3000/hook')}`} />
    </form>
  );
}

const fieldsOf = ({ fields, content_type, remote }: ShownEvent) => [
  ...Object.entries(fields).flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const)),
  ['content type', content_type] as const,
  ['from', remote] as const,
];

export function EventPage({ id }: { id: string }) {
  const { data: event, error } = useLoad<ShownEvent>(`/api/event/${encodeURIComponent(id)}`, ['events']);
  const line = `events show ${shellWord(id)}`;
  useKeys({
    Escape: () => go('/events'),
    r: () => focusOn('#target'),
    c: () => void copy(commandLine(line)),
  });
  useEffect(() => {
    document.title = `Event ${id} · steno`;
  }, [id]);
  return (
    <main tabIndex={-1}>
      <Crumbs to="/events" label="Events" line={line} />
      <Failed error={error} />
      {event ? (
        <>
          <header class="lead">
            <h1>
              <EventName event={event} /> <span class="muted">{event.n}</span> <Found event={event} />
            </h1>
            <p>
              <Time at={event.received_at} isExact /> <span class="muted">(</span>
              <Time at={event.received_at} />
              <span class="muted">)</span>
              {event.audiofile ? ' · ' : ''}
              {event.audiofile ? (
                <FileLink id={event.audiofile} title={event.title || `file ${event.audiofile}`} />
              ) : null}
              {event.duplicate ? (
                <a class="aside" href={`#/event/${event.duplicate}`}>
                  {event.source === 'found' ? 'arrived later as' : 'found earlier as'} event {event.duplicate}
                </a>
              ) : null}
            </p>
          </header>
          <div class="columns">
            <div>
              <Panel title="Fields">
                <Pairs pairs={fieldsOf(event)} />
              </Panel>
              <Panel
                title="Body as received"
                extra={
                  <span class="buttons">
                    <button type="button" onClick={() => void copy(event.body, 'the body')}>
                      Copy the body
                    </button>
                    <button type="button" onClick={() => void copy(event.curl, 'the curl command line')}>
                      Copy as curl
                    </button>
                  </span>
                }
              >
                <pre>{event.body}</pre>
              </Panel>
            </div>
            <div>
              <Panel title="Actions">
                <Actions actions={event.actions} />
              </Panel>
              <Panel title="Replay">
                <Replay key={event.n} event={event} />
              </Panel>
            </div>
          </div>
        </>
      ) : null}
    </main>
  );
}
