/** What the settings file has to offer: names of profiles, and addresses that one of them uses. Never a key. */
import type { IdSuggestion } from '../ledger/id-suggestions.ts';
import { isUrl } from '../lib/is-url.ts';
import { checkPostgresUrl, shownPostgresUrl } from '../lib/postgres-url.ts';

type Profile = Readonly<Record<string, unknown>>;
type Profiles = Readonly<Record<string, Profile>>;

const kinds: Readonly<Record<string, (profiles: Profiles) => IdSuggestion[]>> = {
  profile: (profiles) => [
    ...Object.entries(profiles).map(([id, profile]) => ({ id, about: hostOf(profile['base-url']) })),
    { id: 'default', about: 'used where none is named' },
    { id: 'sandbox', about: 'the service inside steno: no account, no cost' },
  ],
  account: (profiles) => [...valuesOf(profiles, 'account'), ...namesOf(profiles)],
  'base-url': (profiles) => valuesOf(profiles, 'base-url').filter(({ id }) => hostOf(id) !== ''),
  ledger: (profiles) => ledgersOf(profiles),
  'copy-target': (profiles) => [{ id: 'local', about: 'the ledger of this machine' }, ...ledgersOf(profiles)],
};

/** Undefined where the settings have nothing to do with this kind. */
export function suggestFromSettings(
  kind: string,
  prefix: string,
  kept: Readonly<Record<string, unknown>>,
): IdSuggestion[] | undefined {
  // The file may have been edited by hand.
  const profiles = Object.fromEntries(Object.entries(kept).filter(isProfile));
  const suggestions = kinds[kind]?.(profiles).filter(({ id }) => id.startsWith(prefix));
  return suggestions?.filter(({ id }, at) => suggestions.findIndex((each) => each.id === id) === at);
}

const isProfile = (entry: [string, unknown]): entry is [string, Profile] =>
  typeof entry[1] === 'object' && entry[1] !== null;

const namesOf = (profiles: Profiles): IdSuggestion[] =>
  Object.keys(profiles).map((id) => ({ id, about: 'the name of a profile' }));

/** A setting's values, each with the profile that it is from. */
function valuesOf(profiles: Profiles, setting: string): IdSuggestion[] {
  return Object.entries(profiles).flatMap(([name, profile]) => {
    const id = profile[setting];
    return typeof id === 'string' && id !== '' ? [{ id, about: `of the profile ${name}` }] : [];
  });
}

/** Without their passwords, which are kept elsewhere; one that can't be read is not offered. */
function ledgersOf(profiles: Profiles): IdSuggestion[] {
  return valuesOf(profiles, 'ledger').flatMap(({ id, about }) => {
    try {
      checkPostgresUrl(id);
      return [{ id: shownPostgresUrl(id), about }];
    } catch {
      return [];
    }
  });
}

/** Empty for what is no address, and for one that could hold a secret. */
function hostOf(address: unknown): string {
  if (typeof address !== 'string' || !isUrl(address)) return '';
  const { host, username, password, search, hash } = new URL(address);
  return username || password || search || hash ? '' : host;
}
