/** Which vocabulary an element belongs to, whatever prefix its feed has for it. */
import { isUrl } from '../lib/is-url.ts';

export type Vocabulary = 'rss' | 'atom' | 'itunes' | 'podcast' | 'dc' | 'other';

/** In lower case: feeds differ in the case, the scheme and the end of these. */
const uris: ReadonlyArray<readonly [RegExp, Vocabulary]> = [
  [/^https?:\/\/www\.itunes\.com\/dtds\/podcast-1\.0\.dtd$/, 'itunes'],
  [/^https?:\/\/(?:www\.)?podcastindex\.org\/namespace\/1\.0$/, 'podcast'],
  [/^https?:\/\/github\.com\/podcastindex-org\/podcast-namespace\b/, 'podcast'],
  [/^https?:\/\/www\.w3\.org\/2005\/atom$/, 'atom'],
  [/^https?:\/\/purl\.org\/dc\/(?:elements\/1\.1|terms)$/, 'dc'],
  [/^https?:\/\/(?:backend|blogs)\.(?:userland|law\.harvard)\.(?:com|edu)\/(?:rss2|tech\/rss)$/, 'rss'],
];
const MAX_URI_LENGTH = 200;

/** What these prefixes mean where a feed does not say it. */
const prefixes: Readonly<Record<string, Vocabulary>> = {
  itunes: 'itunes',
  podcast: 'podcast',
  atom: 'atom',
  dc: 'dc',
};

/** What holds within an element. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly vocabularies: ReadonlyMap<string, Vocabulary>;
  /** What relative addresses are relative to: `xml:base`. */
  readonly base: string | undefined;
}

/** What a root without prefix says by its name: feeds have these in namespaces of their own, or in none. */
const roots: Readonly<Record<string, Vocabulary>> = { rss: 'rss', feed: 'atom' };

export function scopeWithin(
  parent: Scope | undefined,
  name: string,
  attributes: Readonly<Record<string, string>>,
): Scope {
  const vocabularies = new Map<string, Vocabulary>();
  for (const attribute in attributes)
    if (attribute === 'xmlns' || attribute.startsWith('xmlns:'))
      vocabularies.set(attribute.slice('xmlns:'.length), vocabularyOf(attributes[attribute] ?? ''));
  const base = baseOf(attributes['xml:base'], parent?.base);
  // Most elements declare nothing.
  if (parent && vocabularies.size === 0 && base === parent.base) return parent;
  const root = parent ? undefined : roots[name.toLowerCase()];
  if (root) vocabularies.set('', root);
  return { parent, vocabularies, base };
}

function vocabularyOf(uri: string): Vocabulary {
  const text = uri.slice(0, MAX_URI_LENGTH).trim().toLowerCase().replace(/[#/]$/, '');
  if (text === '') return 'rss';
  return uris.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

function baseOf(text: string | undefined, parent: string | undefined): string | undefined {
  if (text === undefined || !isUrl(text, parent)) return parent;
  return new URL(text, parent).href;
}

/** The vocabulary of an element in a scope, and its name in lower case without prefix. */
export function qualified(name: string, scope: Scope): { vocabulary: Vocabulary; local: string } {
  const at = name.indexOf(':');
  const prefix = at < 0 ? '' : name.slice(0, at);
  const local = name.slice(at + 1).toLowerCase();
  for (let each: Scope | undefined = scope; each; each = each.parent) {
    const vocabulary = each.vocabularies.get(prefix);
    if (vocabulary) return { vocabulary, local };
  }
  return { vocabulary: prefix === '' ? 'rss' : (prefixes[prefix.toLowerCase()] ?? 'other'), local };
}
