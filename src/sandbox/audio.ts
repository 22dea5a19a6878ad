/** Made-up audio; the same URL always gives the same. */
import { episodeAt } from './episodes.ts';

export interface Audio {
  readonly title: string;
  readonly minutes: number;
  readonly stars: number;
}

export function audioAt(url: string): Audio {
  const hashed = [...url].reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) >>> 0, 7);
  const episode = episodeAt(url);
  return {
    title: episode?.title ?? titleOf(url),
    minutes: episode?.minutes ?? 1 + (hashed % 8),
    stars: url.toLowerCase().includes('difficult') ? 2 : 3 + (hashed % 3),
  };
}

/** The last part of the path without its extension, or the host. */
function titleOf(url: string): string {
  const { pathname, hostname } = new URL(url);
  const last = pathname.split('/').filter(Boolean).at(-1) ?? hostname;
  const words = decode(last)
    .replace(/\.\w{1,5}$/, '')
    .replace(/[\u0000-\u001f\u007f_\-+\s]+/g, ' ')
    .trim();
  return words === '' ? hostname : words.charAt(0).toUpperCase() + words.slice(1);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
