/** What is known of an audio beside its URL, from the feed or the file that it comes from. */

export interface AudioDetails {
  readonly title?: string | undefined;
  /** When an episode came out, in ISO 8601. */
  readonly published?: string | undefined;
  /** How long it plays. */
  readonly seconds?: number | undefined;
  /** What the feed calls an episode. */
  readonly guid?: string | undefined;
  /** The page of an episode. */
  readonly link?: string | undefined;
  /** The path of a recording on the machine that uploaded it. */
  readonly source?: string | undefined;
  /** The title of the feed; where it has none, its host or the name of its file. */
  readonly feed?: string | undefined;
  /** Hashes of the addresses of the feed, with blanks between them: an address may hold a token. */
  readonly feedMarks?: string | undefined;
  /** What people file it under. */
  readonly tags?: readonly string[] | undefined;
}

/** What people call an audio: the feed's title of an episode, else the service's, else the name of the file. */
export const audioTitle = (said: string, { title = '', feed, guid }: AudioDetails): string =>
  (feed !== undefined || guid !== undefined ? title || said : said || title) || '';

/** As the ledger keeps them; empty where nothing is known. */
export function detailsText(details: AudioDetails | undefined, hide: (text: string) => string): string {
  const known = Object.entries(details ?? {}).filter(([, value]) => value !== undefined && value !== '');
  const hidden = known.map(([name, value]) => [name, hiddenValue(value, hide)]);
  return hidden.length ? JSON.stringify(Object.fromEntries(hidden)) : '';
}

const hiddenValue = (value: unknown, hide: (text: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((each) => hiddenValue(each, hide));
  return typeof value === 'string' ? hide(value) : value;
};

/** The same with each text hidden. */
export function hiddenDetails(
  details: AudioDetails | undefined,
  hide: (text: string) => string,
): AudioDetails | undefined {
  return details && parseDetails(detailsText(details, hide));
}

/** A ledger that was edited by hand, or imported, may hold anything. */
export function parseDetails(text: string | null): AudioDetails {
  try {
    const { title, published, seconds, guid, link, source, feed, feedMarks, tags } = text
      ? JSON.parse(text)
      : {};
    const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
    return {
      title: textOf(title),
      published: textOf(published),
      seconds: typeof seconds === 'number' && seconds > 0 ? seconds : undefined,
      guid: textOf(guid),
      link: textOf(link),
      source: textOf(source),
      feed: textOf(feed),
      feedMarks: textOf(feedMarks),
      tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : undefined,
    };
  } catch {
    return {};
  }
}
