/** Adds the transcripts on this disk to a podcast feed; every other byte of it stays as it is. */
import { basename, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { type Episode, type Feed, isUtf8Feed, parseFeed } from '../../feeds/feed.ts';
import { feedBytes } from '../../feeds/read.ts';
import { Claims } from '../../ledger/claims.ts';
import { Downloads } from '../../ledger/downloads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { findStats } from '../../lib/fs.ts';
import { urlName } from '../../lib/names.ts';
import { readableFormats } from '../../transcripts/model.ts';

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

interface FeedWithTranscripts {
  readonly content: Buffer;
  readonly episodes: number;
  /** How many of them have a transcript on this disk. */
  readonly found: number;
  /** How many elements are new. */
  readonly added: number;
  /** How many links of an earlier run had another base. */
  readonly replaced: number;
}

export async function addTranscripts(
  ledger: Ledger,
  input: FeedInput,
  signal: AbortSignal,
): Promise<FeedWithTranscripts> {
  const where = `the feed ${input.feed}`;
  const wrong = input.folders.find((folder) => !findStats(folder)?.isDirectory());
  if (wrong !== undefined)
    throw usage(`'${wrong}' is not a folder`, 'with --feed, name folders of transcripts, not ids or files');
  const { bytes, feed } = await readFeedFile(input.feed, where, signal);
  if (feed.root === undefined) throw usage(`${where} is Atom: only RSS has an element for transcripts`);
  if (!isUtf8Feed(bytes, where)) throw usage(`${where} is not in UTF-8`, 'save it in UTF-8');
  const names = await transcriptsOfEpisodes(ledger, feed.episodes, input);
  checkUrls(names);
  const changes: Changes = new Map();
  const text = bytes.toString();
  // A byte order mark and blanks before the first tag.
  const skipped = text.length - text.trimStart().length;
  let [added, replaced] = [0, 0];
  for (const [episode, files] of names) {
    const urls = [...files.keys()];
    const missing = urls.filter((url) => !episode.place.transcripts.includes(url));
    if (missing.length === 0) continue;
    const prefix = prefixIn(episode, input.feed);
    if (!episode.place.podcastPrefix)
      changes.set(skipped + feed.root, { old: '', content: ` xmlns:${prefix}="${NAMESPACE}"` });
    const earlier = earlierElements(text, episode, skipped, prefix);
    const others = earlier.filter(({ url }) => !urls.includes(url));
    const elements = missing.flatMap((url) => {
      const name = `/${url.slice(urlOf(input.base, '').length)}`;
      const found = others.find((each) => each.url.endsWith(name));
      const content = elementFor(prefix, url);
      if (!found || changes.has(found.at)) return content;
      changes.set(found.at, { old: found.old, content });
      return [];
    });
    added += elements.length;
    replaced += missing.length - elements.length;
    const [at, content] = insertion(text, episode, skipped, elements);
    if (elements.length) changes.set(at, { old: '', content });
  }
  const episodes = feed.episodes.length;
  return { content: changed(text, changes), episodes, found: names.size, added, replaced };
}

/** Errors of the feed, without advice that is for other commands. */
async function readFeedFile(
  path: string,
  where: string,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly feed: Feed }> {
  const isUrl = /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
  if (isUrl || path === '-')
    throw usage(`convert reads a feed from a file, not from ${isUrl ? 'a URL' : 'stdin'}`, SAVE_FEED);
  try {
    const bytes = await feedBytes(path, signal);
    return { bytes, feed: await parseFeed({ bytes, path: resolve(path), where, signal }) };
  } catch (error) {
    if (!(error instanceof StenoError) || error.kind !== 'usage' || !error.hint) throw error;
    const named = /^it names this feed: .*/.exec(error.hint)?.[0];
    throw usage(
      error.message,
      named ? `${named}; ${SAVE_FEED}` : 'name the RSS file of the podcast: --feed feed.xml',
    );
  }
}

const SAVE_FEED = 'save the feed to a file, then name that: --feed feed.xml';

/** The transcripts of an episode: the path of each, by its URL. */
type Links = Map<string, string>;

/** Of each episode that has some. */
async function transcriptsOfEpisodes(
  ledger: Ledger,
  episodes: Feed['episodes'],
  { base, formats, folders }: FeedInput,
): Promise<Map<Episode, Links>> {
  const namesOf = ({ url, names, problem }: Episode): readonly string[] =>
    problem === undefined ? [...names, urlName(url)] : names;
  const holders = await new Claims(ledger).holders(episodes.flatMap(namesOf));
  const fileOf = (episode: Episode): string =>
    namesOf(episode)
      .map((name) => holders.get(name)?.file)
      .find(Boolean) ?? '';
  const downloads = await new Downloads(ledger).forFiles(episodes.map(fileOf).filter(Boolean));
  const found = new Map<Episode, Links>();
  const owners = new Owners(ledger);
  for (const episode of episodes) {
    const file = fileOf(episode);
    const places = (downloads.get(file) ?? []).flatMap(({ path }) => placesOf(path, folders));
    const links: Links = new Map();
    for (const ext of formats)
      for (const { stem, name } of places) {
        const path = `${stem}.${ext}`;
        if (isFile(path) && (await owners.mayBeOf(file, stem, path)))
          links.set(urlOf(base, `${name}.${ext}`), path);
      }
    if (links.size) found.set(episode, links);
  }
  return found;
}

/** Where transcripts may be, without their ending, and their name below `--base`. */
interface Place {
  readonly stem: string;
  readonly name: string;
}

/** Beside a download; in a folder that the user names, by its name or at its path below that folder. */
function placesOf(path: string, folders: readonly string[]): Place[] {
  const stem = path.slice(0, path.length - extname(path).length);
  const name = basename(stem);
  if (folders.length === 0) return [{ stem, name }];
  return folders.flatMap((folder) => {
    const below = relative(folder, stem);
    const isBelow = !isAbsolute(below) && below.split(sep)[0] !== '..';
    return [...(isBelow ? [{ stem, name: below }] : []), { stem: join(resolve(folder), name), name }];
  });
}

const isFile = (path: string): boolean => findStats(path)?.isFile() === true;

/** Whose transcripts files are: as the ledger has it, or as it has others of the same name beside them. */
class Owners {
  readonly #downloads: Downloads;
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(ledger: Ledger) {
    this.#downloads = new Downloads(ledger);
  }

  async mayBeOf(file: string, stem: string, path: string): Promise<boolean> {
    const owner = await this.#of(path);
    if (owner !== undefined) return owner === file;
    const beside = await Promise.all(readableFormats.map((ext) => this.#of(`${stem}.${ext}`)));
    return beside.includes(file) || beside.every((other) => other === undefined);
  }

  #of(path: string): Promise<string | undefined> {
    const known = this.#known.get(path) ?? this.#asked(path);
    this.#known.set(path, known);
    return known;
  }

  async #asked(path: string): Promise<string | undefined> {
    return isFile(path) ? (await this.#downloads.at(path))?.file : undefined;
  }
}

/** No two episodes have one transcript. */
function checkUrls(episodes: ReadonlyMap<Episode, Links>): void {
  const taken = new Map<string, { readonly title: string; readonly path: string }>();
  for (const [{ title }, links] of episodes)
    for (const [url, path] of links) {
      const other = taken.get(url);
      if (other?.path === path)
        throw usage(
          `${path} may be the transcript of '${other.title}' or of '${title}'`,
          'give the transcripts of each episode a name of their own',
        );
      if (other)
        throw usage(
          `two episodes would have the same link, ${url}: ${other.path} and ${path}`,
          'name the folder that is published at --base and has both of them below it',
        );
      taken.set(url, { title, path });
    }
}

/** The base is a folder, with a slash at its end or without. */
const urlOf = (base: string, name: string): string =>
  new URL(name.split(sep).map(encodeURIComponent).join('/'), base.replace(/\/?$/, '/')).href;

function prefixIn({ place }: Episode, feed: string): string {
  if (place.podcastPrefix === null)
    throw usage(
      `in ${feed} the prefix podcast: belongs to another namespace`,
      `declare xmlns:podcast="${NAMESPACE}"`,
    );
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

/** Those that are spelled as steno writes them, unless one stands there a second time, as in a comment. */
function earlierElements(text: string, { place }: Episode, skipped: number, prefix: string) {
  const inner = text.slice(skipped + place.from, skipped + place.to);
  return place.transcripts.flatMap((url) => {
    const old = elementFor(prefix, url);
    const at = inner.indexOf(old);
    return at < 0 || inner.includes(old, at + 1) ? [] : [{ url, old, at: skipped + place.from + at }];
  });
}

/** What takes the place of the old text, by where that begins. */
type Changes = Map<number, { readonly old: string; readonly content: string }>;

function changed(text: string, changes: Changes): Buffer {
  const parts: string[] = [];
  let from = 0;
  for (const [at, { old, content }] of [...changes].sort(([one], [other]) => one - other)) {
    parts.push(text.slice(from, at), content);
    from = at + old.length;
  }
  return Buffer.from([...parts, text.slice(from)].join(''));
}
