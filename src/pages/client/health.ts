/** What `doctor` says, which listeners run, and which attempts need a person. */
import { useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import * as parts from './parts.ts';
import type { Attempt, Health } from './types.ts';

const { b, h1, p, span } = el;
type Of<Name extends keyof Health> = Health[Name][number];

const tones: Readonly<Record<string, string>> = { ok: 'good', warn: 'warn', fail: 'bad' };

const checkOf = ({ check, status, message, hint }: Of<'checks'>): Child => [
  b(tones[status] ?? 'muted', status),
  span('', check),
  p('', parts.text(message), hint && span('hint', hint)),
];

function listenerOf(listener: Of<'listeners'>): Child {
  const known = Object.entries(listener).filter(([, value]) => value !== null);
  return known.map(([name, value]) => {
    const shown = name.endsWith('_at') ? parts.timeAt(String(value)) : value;
    return [span('muted', name.replace(/_at$/, '').replaceAll('_', ' ')), ' ', span('pair', shown)];
  });
}

function attemptOf({ attempt, status, kind, ...more }: Attempt): Child {
  const detail = [more.detail, ...more.urls.slice(0, 3)].filter(Boolean).join('; ');
  const files = more.audiofiles.map((id) => parts.fileLink(id, `file ${id} `));
  const settling = more.settle.map((line) => parts.command('', line));
  const what = [b('bad', status), ` ${kind} ${attempt}, `, parts.timeAt(more.attempted_at)];
  return [what, p('muted', parts.text(detail, 500)), p('', files), settling];
}

/** Orders, upgrades and refunds that nobody knows the end of: most have no file. */
export function useAttempts(none?: Child): Child {
  const { data, error } = useLoad<readonly Attempt[]>('/api/attempts', ['files', 'spend']);
  const why = 'No clear answer came. Look at your account on the service, then say what became of it:';
  if (!data) return error ? parts.failed(error) : p('muted', 'Loading…');
  return data.length ? [p('muted', why), parts.facts(data, attemptOf)] : none;
}

function panelsOf({ checks, listeners }: Health, attempts: Child): readonly Child[] {
  const noListener = parts.empty('No listener is running.', 'listen');
  const open = [
    parts.panel('Unresolved attempts', parts.command('attempts'), attempts),
    parts.panel('Listeners', null, parts.facts(listeners, listenerOf, noListener)),
  ];
  const setup = parts.facts(checks, checkOf, null, 'checks');
  return [null, parts.panel('Set-up', parts.command('doctor'), setup), open];
}

export function HealthPage() {
  const loaded = useLoad<Health>('/api/health', ['files', 'events', 'spend']);
  const attempts = useAttempts(p('good', 'None: every outcome is known.'));
  const show = (health: Health): readonly Child[] => panelsOf(health, attempts);
  return parts.usePage('Health', h1('unseen', 'Health'), loaded, show, 'Checking the set-up…');
}
