/** Adds the transcripts on this disk to a podcast feed; every other byte of it stays as it is. */
import { existsSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { type Episode, type Feed, isUtf8Feed, parseFeed } from '../../feeds/feed.ts';
import { feedBytes } from '../../feeds/read.ts';
import { Claims } from '../../ledger/claims.ts';
import { Downloads } from '../../ledger/downloads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { usage } from '../../lib/errors.ts';
import { urlName } from '../../lib/names.ts';

/** What Podcasting 2.0 has a type for. */
export const feedFormats: Readonly<Record<string, string>> = {
  vtt: 'text/vtt',
  srt: 'application/x-subrip',
  json: 'application/json',
  html: 'text/html',
  txt: 'text/plain',
};

const NAMESPACE = 'https://podcastindex.org/namespace/1.0';

export interface FeedInput {
  readonly feed: string;
  /** Where the transcripts are published. */
  readonly base: string;
  readonly formats: readonly string[];
  /** Where they are on this disk; none: beside the downloads. */
  readonly folders: readonly string[];
}

export interface FeedWithTranscripts {
  readonly content: Buffer;
  readonly episodes: number;
  /** How many of them have a transcript on this disk. */
  readonly found: number;
  /** How many elements are new. */
  readonly added: number;
}

export async function addTranscripts(
  ledger: Ledger,
  input: FeedInput,
  signal: AbortSignal,
): Promise<FeedWithTranscripts> {
  const where = `the feed ${input.feed}`;
  const bytes = await feedBytes(input.feed, signal);
  const feed = await parseFeed({ bytes, path: resolve(input.feed), where, signal });
  if (feed.root === undefined) throw usage(`${where} is Atom: only RSS has an element for transcripts`);
  if (!isUtf8Feed(bytes, where)) throw usage(`${where} is not in UTF-8`, 'save it in UTF-8');
  const names = await transcriptsOfEpisodes(ledger, feed.episodes, input);
  const changes = new Map<number, string>();
  const text = bytes.toString();
  // A byte order mark and blanks before the first tag.
  const skipped = text.length - text.trimStart().length;
  let added = 0;
  for (const [episode, files] of names) {
    const urls = files.map((file) => urlOf(input.base, file));
    const missing = urls.filter((url) => !episode.place.transcripts.includes(url));
    if (missing.length === 0) continue;
    const prefix = prefixIn(episode, where);
    if (!episode.place.podcastPrefix) changes.set(skipped + feed.root, ` xmlns:${prefix}="${NAMESPACE}"`);
    added += missing.length;
    const elements = missing.map((url) => elementFor(prefix, url));
    const [at, content] = insertion(text, episode, skipped, elements);
    changes.set(at, content);
  }
  return { content: changed(text, changes), episodes: feed.episodes.length, found: names.size, added };
}

/** The files of each episode that has some. */
async function transcriptsOfEpisodes(
  ledger: Ledger,
  episodes: Feed['episodes'],
  { formats, folders }: FeedInput,
): Promise<Map<Episode, string[]>> {
  const namesOf = ({ url, names, problem }: Episode): readonly string[] =>
    problem === undefined ? [...names, urlName(url)] : names;
  const holders = await new Claims(ledger).holders(episodes.flatMap(namesOf));
  const fileOf = (episode: Episode): string =>
    namesOf(episode)
      .map((name) => holders.get(name)?.file)
      .find(Boolean) ?? '';
  const downloads = await new Downloads(ledger).forFiles(episodes.map(fileOf).filter(Boolean));
  const found = new Map<Episode, string[]>();
  for (const episode of episodes) {
    const paths = (downloads.get(fileOf(episode)) ?? []).map(({ path }) => path);
    const stems = new Set(paths.map((path) => basename(path, extname(path))));
    const places = folders.length ? folders : [...new Set(paths.map(dirname))];
    const files = formats.flatMap((ext) => [...stems].map((stem) => `${stem}.${ext}`));
    const there = files.filter((file) => places.some((folder) => existsSync(join(folder, file))));
    if (there.length) found.set(episode, there);
  }
  return found;
}

/** The base is a folder, with a slash at its end or without. */
const urlOf = (base: string, file: string): string =>
  new URL(encodeURIComponent(file), base.replace(/\/?$/, '/')).href;

function prefixIn({ place }: Episode, where: string): string {
  if (place.podcastPrefix === null)
    throw usage(`${where} has the prefix podcast for something else`, `declare xmlns:podcast="${NAMESPACE}"`);
  return place.podcastPrefix ?? 'podcast';
}

function elementFor(prefix: string, url: string): string {
  const ext = extname(new URL(url).pathname).slice(1);
  const rel = ext === 'vtt' || ext === 'srt' ? ' rel="captions"' : '';
  return `<${prefix}:transcript url="${url.replaceAll('&', '&amp;')}" type="${feedFormats[ext]}"${rel}/>`;
}

/** At the end of the item, each on a line of its own if the item's own elements are. */
function insertion(
  text: string,
  { place }: Episode,
  skipped: number,
  elements: readonly string[],
): [at: number, content: string] {
  const inner = text.slice(skipped + place.from, skipped + place.to);
  const blanks = inner.slice(0, inner.length - inner.trimStart().length);
  const [, lineBreak] = /(\r?\n)/.exec(blanks) ?? [];
  if (lineBreak === undefined) return [skipped + place.to, elements.join('')];
  const before = lineBreak + blanks.slice(blanks.lastIndexOf('\n') + 1);
  const at = skipped + place.from + inner.trimEnd().length;
  return [at, elements.map((element) => before + element).join('')];
}

function changed(text: string, changes: ReadonlyMap<number, string>): Buffer {
  const parts: string[] = [];
  let from = 0;
  for (const [at, content] of [...changes].sort(([one], [other]) => one - other)) {
    parts.push(text.slice(from, at), content);
    from = at;
  }
  return Buffer.from([...parts, text.slice(from)].join(''));
}
