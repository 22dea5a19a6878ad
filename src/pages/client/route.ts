/** Which page is shown: the part of the address after `#`. */
import { signal } from '@preact/signals';

export type Params = Readonly<Record<string, string | number | undefined>>;

function parsed() {
  const [path = '', query = ''] = location.hash.slice(1).split(/\?(.*)/s);
  const [, page = '', id = ''] = path.split('/');
  return { page: page || 'files', id: decoded(id), params: new URLSearchParams(query) };
}

/** Unlike decodeURIComponent, it never throws. */
const decoded = (text: string): string => new URLSearchParams(`id=${text}`).get('id') ?? '';

export const route = signal(parsed());

addEventListener('hashchange', () => {
  route.value = parsed();
});

export const go = (path: string): void => {
  location.hash = path;
};

/** `/files?q=a`, without what is empty. */
export function pathWith(path: string, params: Params): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${path}?${query}` : path;
}

/** Notes what is chosen on a page in its address, so that it survives a reload; not a step to go back to. */
export const keep = (params: Params): void =>
  history.replaceState({}, '', `#${pathWith(`/${route.value.page}`, params)}`);

export const filePath = (id: string, params: Params = {}): string =>
  `#${pathWith(`/file/${encodeURIComponent(id)}`, params)}`;
