/** The page that `steno ui` shows: the bar, one page below it, and what is said over both. */
import { h, render } from 'preact';
import { followChanges, get, link, trouble } from './api.ts';
import { type Child, el } from './el.ts';
import { EventPage, Events } from './events.ts';
import { FileView } from './file.ts';
import { Files } from './files.ts';
import { setClock } from './format.ts';
import { HealthPage } from './health.ts';
import { focusOn, KeysDialog, showKeys, useKeys } from './keys.ts';
import * as parts from './parts.ts';
import { route, wayTo } from './route.ts';
import { Search } from './search.ts';
import { SpendPage } from './spend.ts';
import type { About } from './types.ts';

const { a, code, div, h1, header, nav, output, p, span } = el;

const tabs = { files: Files, search: Search, events: Events, spend: SpendPage, health: HealthPage };
const pages: Readonly<Record<string, (props: { id: string }) => Child>> = {
  ...{ ...tabs, file: FileView, event: EventPage },
};

const linkNames = { connecting: 'connecting', live: 'live', lost: 'not connected', denied: 'no access' };

function Bar() {
  const { page } = route.value;
  const { sandbox, profile, ledger } = parts.about.value ?? {};
  const tab = (name: string) => {
    const isShown = page === name || `${page}s` === name;
    return a({ href: wayTo(name), 'aria-current': isShown ? 'page' : undefined }, parts.named(name));
  };
  return header(
    'bar',
    a({ class: 'brand', href: '#/files', 'aria-label': 'steno, all files' }, 'steno'),
    nav({ 'aria-label': 'Pages' }, Object.keys(tabs).map(tab)),
    span('grow'),
    sandbox ? span('chip sandbox', 'sandbox') : span('muted profile', profile),
    ledger === 'shared' && span('chip', 'shared ledger'),
    span(`link ${link.value}`, span('unseen', 'Live updates: '), linkNames[link.value]),
    parts.button('?', showKeys, { class: 'plain', 'aria-label': 'Keys', title: 'Keys (?)' }),
  );
}

/** Over the page, at its end: nothing moves when it comes or goes. */
function Banner() {
  const isLost = link.value === 'lost';
  const { text, isBad } = parts.said.value;
  const lost = p(
    'banner bad',
    'steno ui is not responding; this may be out of date. Retrying. If it has ended, run it again.',
  );
  const unread = p('banner warn', `The ledger can’t be read: ${trouble.value}. Retrying.`);
  return div(
    'over',
    div({ role: 'alert' }, isLost && lost, trouble.value && !isLost && unread),
    output('', text && p(isBad ? 'banner bad' : 'banner', text)),
  );
}

function noAccess() {
  const why = 'An address opens the page once. For a new one, run steno ui again, or steno open with an id.';
  return el.main(
    { tabIndex: -1 },
    div('empty', h1('', 'This browser has no access'), p('', why), code('', 'steno ui')),
  );
}

function Page() {
  const { page, id } = route.value;
  if (link.value === 'denied') return noAccess();
  const shown = Object.hasOwn(pages, page) ? page : 'files';
  return h(pages[shown] ?? Files, { key: `${shown} ${id}`, id });
}

function App() {
  useKeys({ '?': showKeys, Escape: () => parts.say('') });
  const skip = parts.button('Skip to the content', focusOn('main'), { class: 'skip' });
  return [skip, ...[Bar, Page, Banner, KeysDialog].map((part) => h(part, {}))];
}

render(h(App, {}), document.body);
void followChanges();
void get<About>('/api/about').then(
  (answer) => {
    parts.about.value = answer;
    setClock(answer.now);
  },
  () => {},
);
