/** One file: where it stands, its transcript, what happened to it, and what a person must look at. */
import { useEffect, useState } from 'preact/hooks';
import { useLoad } from './api.ts';
import { download } from './files.tsx';
import { bytes, clock, minutesText, money, plainTitle, plural, shellWord } from './format.ts';
import { useKeys } from './keys.ts';
import {
  about,
  Command,
  Crumbs,
  commandLine,
  copy,
  Facts,
  Failed,
  Icon,
  Pairs,
  Panel,
  Steps,
  Text,
  Time,
} from './parts.tsx';
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
    <>
      <Pairs pairs={pairs} />
      {file.order ? (
        <a href={`#/files?q=${encodeURIComponent(file.order)}`}>All files of order {file.order}</a>
      ) : null}
    </>
  );
}

function Downloads({ id, transcripts }: { id: string; transcripts: readonly Transcript[] }) {
  const [folder, setFolder] = useState('');
  return (
    <>
      <Facts items={transcripts}>
        {({ path, format, bytes: size, at, here }) => (
          <>
            <code>{path}</code>
            <p class="muted">
              {format}, {bytes(size)}, <Time at={at} />
              {here ? '' : ', not on this disk any more'}
            </p>
          </>
        )}
      </Facts>
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
      <Facts items={data?.slice(0, MAX_FINDINGS) ?? []}>
        {({ start, line, rule, severity, text }) => (
          <>
            <a
              href={filePath(id, { t: start === null ? undefined : String(start), line: String(line ?? '') })}
            >
              {start === null ? `line ${line ?? '?'}` : clock(start)}
            </a>{' '}
            <b class={severity === 'error' ? 'bad' : 'warn'}>{rule}</b> <Text>{text.slice(0, 300)}</Text>
          </>
        )}
      </Facts>
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
      <Crumbs to="/files" label="Files" line={line} />
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
