/** Which page is shown: the part of the address after `#`. */
import { signal } from '@preact/signals';

export type Params = Readonly<Record<string, string | number | undefined>>;

/** How each page was left, so that the way back leads there. */
const left = new Map<string, string>();

function parsed() {
  const [path = '', query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  const [, given, id = ''] = path.split('/');
  const page = given || 'files';
  left.set(page, location.hash);
  return { page, id: decoded(id), params: new URLSearchParams(query) };
}

/** Unlike decodeURIComponent, it never throws. */
const decoded = (text: string): string => new URLSearchParams(`id=${text}`).get('id') ?? '';

export const route = signal(parsed());

addEventListener('hashchange', () => {
  route.value = parsed();
});

export const wayTo = (page: string): string => (route.value.page !== page && left.get(page)) || `#/${page}`;

export const go = (page: string): void => {
  location.hash = wayTo(page);
};

/** `/files?q=a`, without what is empty. */
export function pathWith(path: string, params: Params): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${path}?${query}` : path;
}

/** Notes what is chosen on a page in its address, so that it survives a reload; not a step to go back to. */
export function keep(params: Params): void {
  history.replaceState({}, '', `#${pathWith(`/${route.value.page}`, params)}`);
  route.value = parsed();
}

export const filePath = (id: string, params: Params = {}): string =>
  `#${pathWith(`/file/${encodeURIComponent(id)}`, params)}`;
