/** One file: where it stands, its transcript, what happened to it, and what a person must look at. */
import { useEffect, useState } from 'preact/hooks';
import { useLoad } from './api.ts';
import { download } from './files.tsx';
import { bytes, clock, minutesText, money, plainTitle, plural, shellWord } from './format.ts';
import { useKeys } from './keys.ts';
import { about, Command, commandLine, copy, Failed, Icon, Panel, Steps, Text, Time } from './parts.tsx';
import { filePath, go } from './route.ts';
import { Reader } from './transcript.tsx';
import type { FileDocument, FilePage, Finding, HistoryEntry, Transcript } from './types.ts';

function Details({ file }: { file: FileDocument }) {
  const { by } = file;
  const who = by && (by.actor || [by.user, by.host].filter(Boolean).join('@'));
  const pairs: ReadonlyArray<readonly [string, string | null | undefined]> = [
    ['length', minutesText(file.minutes)],
    ['cost', money(file.total, file.currency)],
    ['SKUs', file.skus.join(', ')],
    ['ordered by', who],
    ['job', by?.job],
    ['feed', file.feed],
    ['tags', file.tags.join(', ')],
    ['key', file.key],
    ['speakers', file.names.join(', ')],
    ['notes', file.notes],
    ['hold', file.hold],
    ['remark', file.remark],
    ['recording', file.source],
    ['URL', file.url],
    ['web page', file.link],
    ['invoices', file.invoices.join(', ')],
  ];
  return (
    <dl class="pairs">
      {pairs.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Text>{value.slice(0, 2000)}</Text>
            </dd>
          </div>
        ) : null,
      )}
      {file.order ? (
        <div>
          <dt>order</dt>
          <dd>
            <a href={`#/files?q=${encodeURIComponent(file.order)}`}>{file.order}</a>
          </dd>
        </div>
      ) : null}
    </dl>
  );
}

function Downloads({ id, transcripts }: { id: string; transcripts: readonly Transcript[] }) {
  const [folder, setFolder] = useState('');
  return (
    <>
      <ul class="facts">
        {transcripts.map(({ path, format, bytes: size, at, here }) => (
          <li key={path}>
            <code>{path}</code>
            <p class="muted">
              {format}, {bytes(size)}, <Time at={at} />
              {here ? '' : ', not on this disk any more'}
            </p>
          </li>
        ))}
      </ul>
      <label>
        Folder
        <input
          type="text"
          placeholder="where its other downloads are"
          value={folder}
          onInput={(event) => setFolder(event.currentTarget.value)}
        />
      </label>
      <p class="buttons">
        {(about.value?.formats ?? []).map((format) => (
          <button
            key={format}
            type="button"
            aria-label={`Download ${format}`}
            onClick={() => void download(id, format, folder)}
          >
            <Icon name="down" />
            {format}
          </button>
        ))}
      </p>
      <Command line={`transcript ${shellWord(id)} --format txt`} />
    </>
  );
}

const History = ({ entries }: { entries: readonly HistoryEntry[] }) => (
  <ol class="history">
    {entries.map((entry, at) => (
      <li key={at}>
        <p>
          <b>{entry.what}</b> <Text>{(entry.text ?? '').slice(0, 500)}</Text>{' '}
          {entry.event ? <a href={`#/event/${entry.event}`}>event {entry.event}</a> : null}
        </p>
        <p class="muted">
          <Time at={entry.at} />
          {entry.by ? `, by ${entry.by}` : ''}
        </p>
      </li>
    ))}
  </ol>
);

/** Beyond these a list is no help; the command line has all. */
const MAX_FINDINGS = 200;

function Findings({ id, isHere }: { id: string; isHere: boolean }) {
  const { data, error } = useLoad<readonly Finding[]>(
    isHere ? `/api/file/${encodeURIComponent(id)}/check` : '',
    ['files'],
  );
  if (!isHere) return null;
  return (
    <Panel title="Check" extra={<Command line={`check ${shellWord(id)}`} />}>
      <Failed error={error} />
      {data?.length === 0 ? <p class="good">Nothing to look at.</p> : null}
      <ul class="facts">
        {data?.slice(0, MAX_FINDINGS).map((finding, at) => (
          <li key={at}>
            <a href={filePath(id, { t: String(finding.start ?? ''), line: String(finding.line ?? '') })}>
              {typeof finding.start === 'number' ? clock(finding.start) : `line ${finding.line ?? '?'}`}
            </a>{' '}
            <b class={finding.severity === 'error' ? 'bad' : 'warn'}>{finding.rule}</b>{' '}
            <Text>{[finding.message, finding.text].filter(Boolean).join(': ').slice(0, 300)}</Text>
          </li>
        ))}
      </ul>
      {data && data.length > MAX_FINDINGS ? (
        <p class="muted">and {plural(data.length - MAX_FINDINGS, 'more finding')}</p>
      ) : null}
    </Panel>
  );
}

export function FileView({ id }: { id: string }) {
  const { data, error } = useLoad<FilePage>(`/api/file/${encodeURIComponent(id)}`, ['files', 'events']);
  const line = `file ${shellWord(id)}`;
  const title = data?.file.title || data?.file.url || `audiofile ${id}`;
  useKeys({ Escape: () => go('/files'), c: () => void copy(commandLine(line)) });
  useEffect(() => {
    document.title = `${plainTitle(title)} · steno`;
  }, [title]);
  const here = data?.transcripts.some((each) => each.here) ?? false;
  return (
    <main tabIndex={-1}>
      <p class="crumbs">
        <a href="#/files">
          <Icon name="back" />
          Files
        </a>
        <Command line={line} />
      </p>
      <Failed error={error} />
      {data ? (
        <>
          <header class="lead">
            <h1>
              <Text>{title}</Text>
            </h1>
            <p>
              <Steps file={data.file} /> <span class="muted">file {id}, ordered </span>
              <Time at={data.file.ordered_at} />
              <span class="muted">, seen </span>
              <Time at={data.file.checked_at ?? data.file.changed_at} />
            </p>
          </header>
          <div class="columns main">
            <div>
              <Reader
                key={`${id} ${here}`}
                file={data.file}
                transcripts={data.transcripts}
                playable={data.playable}
              />
            </div>
            <div>
              <Panel title="Details">
                <Details file={data.file} />
              </Panel>
              <Panel title="Downloads">
                <Downloads id={id} transcripts={data.transcripts} />
              </Panel>
              <Findings id={id} isHere={here} />
              <Panel title="History">
                <History entries={data.history} />
              </Panel>
            </div>
          </div>
        </>
      ) : null}
    </main>
  );
}
