/** What `doctor` says, which listeners run, and which attempts need a person. */
import { useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import * as parts from './parts.ts';
import type { Health } from './types.ts';

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

export function attemptOf({ attempt, status, kind, ...more }: Of<'attempts'>): Child {
  const detail = [more.detail, ...more.urls.slice(0, 3)].filter(Boolean).join('; ');
  const files = more.audiofiles.map((id) => parts.fileLink(id, `file ${id} `));
  const settling = more.settle.map((line) => parts.command('', line));
  const what = [b('bad', status), ` ${kind} ${attempt}, `, parts.timeAt(more.attempted_at)];
  return [what, p('muted', parts.text(detail, 500)), p('', files), settling];
}

function panelsOf({ checks, attempts, listeners }: Health): readonly Child[] {
  const noAttempt = p('good', 'None: every outcome is known.');
  const noListener = parts.empty('No listener is running.', 'listen');
  const open = [
    parts.panel(
      'Unresolved attempts',
      parts.command('attempts'),
      parts.facts(attempts, attemptOf, noAttempt),
    ),
    parts.panel('Listeners', null, parts.facts(listeners, listenerOf, noListener)),
  ];
  const setup = parts.facts(checks, checkOf, null, 'checks');
  return [null, parts.panel('Set-up', parts.command('doctor'), setup), open];
}

export function HealthPage() {
  const loaded = useLoad<Health>('/api/health', ['files', 'events', 'spend']);
  return parts.usePage('Health', h1('unseen', 'Health'), loaded, panelsOf, 'Checking the set-up…');
}
