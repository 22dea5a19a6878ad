/** The page that `steno ui` shows: the bar, one page below it, and what is said over both. */
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { followChanges, get, link, retryNow, trouble } from './api.ts';
import { EventPage } from './event.tsx';
import { Events } from './events.tsx';
import { FileView } from './file.tsx';
import { Files } from './files.tsx';
import { HealthPage } from './health.tsx';
import { setClock } from './format.ts';
import { focusOn, keyHelp, useKeys } from './keys.ts';
import { about, Menu, said, say } from './parts.tsx';
import { route } from './route.ts';
import { Search } from './search.tsx';
import { SpendPage } from './spend.tsx';
import type { About } from './types.ts';

const tabs = ['files', 'search', 'events', 'spend', 'health'];
const areKeysShown = signal(false);

const titleOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const linkNames = { connecting: 'connecting', live: 'live', lost: 'not connected', denied: 'no access' };

function Bar() {
  const { page } = route.value;
  const isOf = (tab: string): boolean => page === tab || `${page}s` === tab;
  return (
    <header class="bar">
      <a class="brand" href="#/files" aria-label="steno, all files">
        steno
      </a>
      <nav aria-label="Pages">
        {tabs.map((tab) => (
          <a key={tab} href={`#/${tab}`} aria-current={isOf(tab) ? 'page' : undefined}>
            {titleOf(tab)}
          </a>
        ))}
      </nav>
      <span class="grow" />
      {about.value?.sandbox ? <span class="chip sandbox">sandbox</span> : null}
      {about.value && !about.value.sandbox ? <span class="muted profile">{about.value.profile}</span> : null}
      {about.value?.ledger === 'shared' ? <span class="chip">shared ledger</span> : null}
      <span class={`link ${link.value}`}>{linkNames[link.value]}</span>
      <button
        type="button"
        class="plain"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => (areKeysShown.value = true)}
      >
        ?
      </button>
    </header>
  );
}

/** Over the page, at its end: nothing moves when it comes or goes. */
function Banner() {
  const isLost = link.value === 'lost';
  return (
    <div class="over">
      <div role="alert">
        {isLost ? (
          <p class="banner bad">
            steno ui does not answer. What is shown may be old.{' '}
            <button type="button" onClick={retryNow}>
              Try now
            </button>
          </p>
        ) : null}
        {trouble.value && !isLost ? (
          <p class="banner warn">The ledger can’t be read: {trouble.value}. This page goes on by itself.</p>
        ) : null}
      </div>
      <output>
        {said.value.text ? <p class={said.value.isBad ? 'banner bad' : 'banner'}>{said.value.text}</p> : null}
      </output>
    </div>
  );
}

function KeyHelp() {
  const own = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (areKeysShown.value) own.current?.showModal();
  }, [areKeysShown.value]);
  return (
    <dialog ref={own} aria-label="Keys" onClose={() => (areKeysShown.value = false)}>
      <h2>Keys</h2>
      <dl class="pairs">
        {keyHelp.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

function Page() {
  const { page, id } = route.value;
  useEffect(() => {
    if (tabs.includes(page)) document.title = `${titleOf(page)} · steno`;
  }, [page]);
  if (link.value === 'denied')
    return (
      <main tabIndex={-1}>
        <div class="empty">
          <h1>This tab has no access</h1>
          <p>Each tab needs the link that steno ui opens. Run it again, or open its link in this tab.</p>
          <code>steno ui</code>
        </div>
      </main>
    );
  switch (page) {
    case 'file':
      return <FileView key={id} id={id} />;
    case 'search':
      return <Search />;
    case 'events':
      return <Events />;
    case 'event':
      return <EventPage key={id} id={id} />;
    case 'spend':
      return <SpendPage />;
    case 'health':
      return <HealthPage />;
    default:
      return <Files />;
  }
}

function App() {
  useKeys({ '?': () => (areKeysShown.value = true), Escape: () => say('') });
  return (
    <>
      <button type="button" class="skip" onClick={() => focusOn('main')}>
        Skip to the content
      </button>
      <Bar />
      <Page />
      <Banner />
      <Menu />
      <KeyHelp />
    </>
  );
}

render(<App />, document.body);
void followChanges();
void get<About>('/api/about').then(
  (answer) => {
    about.value = answer;
    setClock(answer.now);
  },
  () => {},
);
