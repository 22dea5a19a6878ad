/** A call that costs or returns money, on its way to the service, and what the service made of it. */
import { audioIdentity, contentKey, keyName, urlName } from '../lib/names.ts';
import type { ProcessMark } from '../lib/processes.ts';
import { isNameOf } from '../lib/url.ts';

// What is known of an audio beside its URL, from the feed or the file that it comes from.

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
  /** Its folders below the folder that was ordered, with slashes between them. */
  readonly folder?: string | undefined;
  /** The title of the feed; where it has none, its host or the name of its file. */
  readonly feed?: string | undefined;
  /** Hashes of the addresses of the feed, with blanks between them: an address may hold a token. */
  readonly feedMarks?: string | undefined;
  /** What people file it under. */
  readonly tags?: readonly string[] | undefined;
}

/**
 * What people call an audio: the feed's title of an episode, else the service's, else the name of the file. The name of an
 * upload is no title.
 */
export function audioTitle(said: string, { title = '', feed, guid, source }: AudioDetails, url = ''): string {
  const isOurs = feed !== undefined || guid !== undefined || (source !== undefined && isNameOf(said, url));
  return (isOurs ? title || said : said || title) || '';
}

const audioTexts = ['title', 'published', 'guid', 'link', 'source', 'folder', 'feed'] as const;

/** The columns of an item that say the same. */
export const audioColumns = [...audioTexts, 'seconds'] as const;

/** As a query gives them; null where no recording is known. The tags are a list in JSON. */
export type AudioRow = {
  readonly [Name in (typeof audioTexts)[number] as `audio_${Name}`]: string | null;
} & {
  readonly audio_seconds: number | null;
  readonly audio_tags: string;
};

export function audioRowOf(details: AudioDetails, hide: (text: string) => string): AudioRow {
  const texts = audioTexts.map((name) => [`audio_${name}`, hide(details[name] ?? '')]);
  const tags = JSON.stringify((details.tags ?? []).map(hide));
  return { ...Object.fromEntries(texts), audio_seconds: details.seconds || null, audio_tags: tags };
}

const textColumns = audioTexts.map((name) => [name, `audio_${name}`] as const);

/** Speed: nearly all files have no tags. */
export function detailsOf(row: Partial<AudioRow> | undefined): AudioDetails {
  const details: { -readonly [Name in keyof AudioDetails]: AudioDetails[Name] } = {};
  for (const [name, column] of textColumns) details[name] = row?.[column] || undefined;
  details.seconds = row?.audio_seconds || undefined;
  const tags = row?.audio_tags ?? '[]';
  details.tags = tags === '[]' ? undefined : JSON.parse(tags);
  return details;
}

export type PurchaseKind = 'order' | 'upgrade' | 'refund';

export interface NewPurchase {
  /** An order, unless it says something else. */
  readonly kind?: PurchaseKind | undefined;
  /** The raw call of `steno api`: `POST /order_url`. */
  readonly via?: string | undefined;
  /** Of an order; of an upgrade or a refund, the one file. */
  readonly audios: readonly PurchasedAudio[];
  readonly skus: readonly string[];
  /** Of the speakers. */
  readonly names: readonly string[];
  readonly notes?: string | undefined;
  readonly test: boolean;
}

export interface PurchasedAudio extends Audio {
  /** The file that is upgraded or refunded. */
  readonly file?: string | undefined;
  /** What it is expected to cost; absent where that is not known. */
  readonly cost?: Cost | undefined;
  /** The total of the file, as the service last said it. */
  readonly totalBefore?: string | undefined;
}

export interface Cost {
  /** In millionths of the currency: databases add them up. */
  readonly millionths: number;
  /** Empty where it is not known. */
  readonly currency: string;
}

/** A purchase that was written to the ledger. */
export interface Begun {
  /** Made by the client. */
  readonly id: string;
  /** Its number, for people. */
  readonly attempt: number;
  readonly startedAt: string;
}

/** Who sends a purchase, and from which process. */
export interface PurchaseSender extends ProcessMark {
  readonly user: string;
  /** The CI job, and who started it; empty where there is none. */
  readonly job: string;
  readonly actor: string;
}

/** What the service answered to an order. */
export interface PlacedOrder {
  /** Empty where the answer has none. */
  readonly id: string;
  readonly audiofiles: readonly string[];
  readonly hold: string | undefined;
}

export const kindOf = ({ kind = 'order' }: Pick<NewPurchase, 'kind'>): PurchaseKind => kind;

/** SQL: the service has named the order, or files of it. What it named was placed, whatever people say. */
export const IS_ACCEPTED =
  "(purchases.named <> '' OR EXISTS (SELECT 1 FROM files WHERE files.purchase = purchases.id))";

/** What is kept on this machine holds no secret either. */
export function hiddenPurchase(purchase: NewPurchase, hide: (text: string) => string): NewPurchase {
  const optional = (text: string | undefined): string | undefined => text && hide(text);
  const { audios, names, notes, via } = purchase;
  return {
    ...purchase,
    ...{ names: names.map(hide), notes: optional(notes), via: optional(via) },
    audios: audios.map(({ url, key, names: own, details, file, cost, totalBefore }) => ({
      ...{ url: hide(url), key: optional(key), names: own.map(hide), file, cost, totalBefore },
      details: details && { ...detailsOf(audioRowOf(details, hide)), feedMarks: details.feedMarks },
    })),
  };
}

// An audio of an order, with its names: an order claims every name of each of its audios.

/** One audio of an order. */
export interface Audio {
  readonly url: string;
  /** What tells it from others in place of its URL. */
  readonly key?: string | undefined;
  readonly names: readonly string[];
  readonly details?: AudioDetails | undefined;
}

export const makeAudio = (url: string, key?: string): Audio => new OneNameAudio(url, key);

/** Makes its name when it is asked for it: a manifest may have a million rows. To be copied member by member. */
class OneNameAudio implements Audio {
  readonly url: string;
  readonly key: string | undefined;
  /** Undefined where it is the URL as it was written, as it mostly is. */
  readonly #identity: string | undefined;

  constructor(url: string, key: string | undefined) {
    const identity = key === undefined ? audioIdentity(url) : url;
    this.url = url;
    this.key = key;
    this.#identity = identity === url ? undefined : identity;
  }

  get names(): readonly string[] {
    return [this.key === undefined ? `url ${this.#identity ?? this.url}` : keyName(this.key)];
  }
}

/** An episode of a feed: beside its URL it is known by what the feed says of it. */
export const makeEpisode = (url: string, names: readonly string[], details: AudioDetails): Audio => ({
  url,
  names: [urlName(url), ...names],
  details,
});

/** A file of this machine is known by its content; when it is uploaded, also by its URL. */
export function makeFile(url: string, sha256: string, details: AudioDetails): Audio {
  const key = contentKey(sha256);
  return { url, key, names: [keyName(key)], details };
}
