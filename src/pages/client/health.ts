/** What `doctor` says, which listeners run, and which attempts need a person. */
import { useLoad } from './api.ts';
import { type Child, el } from './el.ts';
import * as parts from './parts.ts';
import type { Health } from './types.ts';

const { b, p, span } = el;
type Of<Name extends keyof Health> = Health[Name][number];

const tones: Readonly<Record<string, string>> = { ok: 'good', warn: 'warn', fail: 'bad' };

const checkOf = ({ check, status, message, hint }: Of<'checks'>): Child => [
  b(tones[status] ?? 'muted', status),
  span('', check),
  p('', parts.text(message), hint && span('hint', hint)),
];

const listenerOf = (listener: Of<'listeners'>): Child =>
  Object.entries(listener).map(
    ([name, value]) =>
      value !== null && [
        span('muted', name.replace(/_at$/, '').replaceAll('_', ' ')),
        ' ',
        span('pair', name.endsWith('_at') ? parts.timeAt(String(value)) : value),
      ],
  );

const attemptOf = ({
  attempt,
  status,
  kind,
  attempted_at,
  detail,
  urls,
  audiofiles,
  settle,
}: Of<'attempts'>): Child => [
  b('bad', status),
  ` ${kind} ${attempt}, `,
  parts.timeAt(attempted_at),
  p('muted', parts.text([detail, ...urls.slice(0, 3)].filter(Boolean).join('; '), 500)),
  p(
    '',
    audiofiles.map((id) => parts.fileLink(id, `file ${id} `)),
  ),
  parts.command('', settle),
  parts.command(`attempts settle ${attempt} --not-placed`),
];

export function HealthPage() {
  const { data, error } = useLoad<Health>('/api/health', ['files', 'events', 'spend']);
  parts.useCommand('doctor');
  if (!data) return parts.frame({ title: 'Health', above: null, error }, p('muted', 'Checking the set-up…'));
  const { checks, attempts, listeners } = data;
  const isSettled = attempts.length === 0 && p('good', 'None: every outcome is known.');
  const noListener = listeners.length === 0 && parts.empty('No listener runs.', 'listen');
  const found = parts.facts(checks, checkOf, 'checks');
  const open = [
    parts.panel(
      'Attempts that need a person',
      parts.command('attempts'),
      isSettled,
      parts.facts(attempts, attemptOf),
    ),
    parts.panel('Listeners', null, noListener, parts.facts(listeners, listenerOf)),
  ];
  const columns = [parts.panel('Set-up', parts.command('doctor'), found), open] as const;
  return parts.frame({ title: 'Health', above: null, error, columns });
}
