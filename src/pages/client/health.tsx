/** What `doctor` says, which listeners run, and which attempts need a person. */
import { useLoad } from './api.ts';
import { useKeys } from './keys.ts';
import { Command, commandLine, copy, Empty, Failed, Panel, Text, Time } from './parts.tsx';
import { filePath } from './route.ts';
import type { Health } from './types.ts';

const tones: Readonly<Record<string, string>> = { ok: 'good', warn: 'warn', fail: 'bad' };

const Checks = ({ checks }: Pick<Health, 'checks'>) => (
  <ul class="checks">
    {checks.map(({ check, status, message, hint }) => (
      <li key={check}>
        <b class={tones[status] ?? 'muted'}>{status}</b>
        <span>{check}</span>
        <p>
          <Text>{message}</Text>
          {hint ? <span class="hint">{hint}</span> : null}
        </p>
      </li>
    ))}
  </ul>
);

const isTime = (name: string): boolean => name.endsWith('_at') || name === 'now';

const Listeners = ({ listeners }: Pick<Health, 'listeners'>) => (
  <ul class="facts">
    {listeners.map((listener, at) => (
      <li key={at}>
        {Object.entries(listener).map(([name, value]) =>
          value === null ? null : (
            <span key={name} class="pair">
              <span class="muted">{name.replace(/_at$/, '').replaceAll('_', ' ')}</span>{' '}
              {isTime(name) ? <Time at={String(value)} /> : String(value)}
            </span>
          ),
        )}
      </li>
    ))}
  </ul>
);

const Attempts = ({ attempts }: Pick<Health, 'attempts'>) => (
  <ul class="facts">
    {attempts.map((each) => (
      <li key={each.attempt}>
        <p>
          <b class="bad">{each.status}</b> {each.kind} {each.attempt}, <Time at={each.attempted_at} />
        </p>
        <p class="muted">
          <Text>{[each.detail, ...each.urls.slice(0, 3)].filter(Boolean).join('; ').slice(0, 500)}</Text>
        </p>
        {each.audiofiles.map((id) => (
          <a key={id} href={filePath(id)}>
            file {id}
          </a>
        ))}
        <Command
          line={`attempts settle ${each.attempt} --placed ${each.kind === 'order' ? 'ORDER' : ''}`.trim()}
        />
        <Command line={`attempts settle ${each.attempt} --not-placed`} />
      </li>
    ))}
  </ul>
);

export function HealthPage() {
  const { data, error } = useLoad<Health>('/api/health', ['files', 'events', 'spend']);
  useKeys({ c: () => void copy(commandLine('doctor')) });
  return (
    <main tabIndex={-1}>
      <h1 class="unseen">Health</h1>
      <Failed error={error} />
      {data ? null : <p class="muted loading">Checking the set-up…</p>}
      {data ? (
        <div class="columns">
          <div>
            <Panel title="Set-up" extra={<Command line="doctor" />}>
              <Checks checks={data.checks} />
            </Panel>
          </div>
          <div>
            <Panel title="Attempts that need a person" extra={<Command line="attempts" />}>
              {data.attempts.length ? (
                <Attempts attempts={data.attempts} />
              ) : (
                <p class="good">None: every outcome is known.</p>
              )}
            </Panel>
            <Panel title="Listeners">
              {data.listeners.length ? (
                <Listeners listeners={data.listeners} />
              ) : (
                <Empty title="No listener runs." line="listen" />
              )}
            </Panel>
          </div>
        </div>
      ) : null}
    </main>
  );
}
