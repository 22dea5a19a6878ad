/** What `doctor` says, which listeners run, and which attempts need a person. */
import { useLoad } from './api.ts';
import { useKeys } from './keys.ts';
import { Command, commandLine, copy, Empty, Facts, Failed, FileLink, Panel, Text, Time } from './parts.tsx';
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

const Listeners = ({ listeners }: Pick<Health, 'listeners'>) => (
  <Facts items={listeners}>
    {(listener) =>
      Object.entries(listener).map(([name, value]) =>
        value === null ? null : (
          <span key={name} class="pair">
            <span class="muted">{name.replace(/_at$/, '').replaceAll('_', ' ')}</span>{' '}
            {name.endsWith('_at') ? <Time at={String(value)} /> : value}
          </span>
        ),
      )
    }
  </Facts>
);

const Attempts = ({ attempts }: Pick<Health, 'attempts'>) => (
  <Facts items={attempts}>
    {({ attempt, status, kind, attempted_at, detail, urls, audiofiles, settle }) => (
      <>
        <b class="bad">{status}</b> {kind} {attempt}, <Time at={attempted_at} />
        <p class="muted">
          <Text>{[detail, ...urls.slice(0, 3)].filter(Boolean).join('; ').slice(0, 500)}</Text>
        </p>
        <p>
          {audiofiles.map((id) => (
            <FileLink key={id} id={id} title={`file ${id} `} />
          ))}
        </p>
        <Command whole={settle} />
        <Command line={`attempts settle ${attempt} --not-placed`} />
      </>
    )}
  </Facts>
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
