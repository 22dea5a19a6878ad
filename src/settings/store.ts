import { accountName } from '../lib/account-name.ts';
import type { Env } from '../lib/env.ts';
import { type StenoError, usage } from '../lib/errors.ts';
import { nearest } from '../lib/suggest.ts';
import { changeProfiles, configPath, lookAtConfig, readConfig } from './config-file.ts';

export type Profile = Readonly<Record<string, string>>;
export type Profiles = Readonly<Record<string, Profile>>;

export const readProfiles = (env: Env): Profiles => parseProfiles(configPath(env), readConfig(env));

/** The same, and what a killed process left beside the file stays. */
export const lookAtProfiles = (env: Env): Profiles => parseProfiles(configPath(env), lookAtConfig(env));

/** Changes one profile; a setting that is undefined in `change` is removed. */
export async function writeProfile(
  env: Env,
  name: string,
  change: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<void> {
  await changeProfiles(env, signal, (text) => {
    const profiles = parseProfiles(configPath(env), text);
    const kept = Object.entries({ ...profiles[name], ...change }).filter(([, value]) => value !== undefined);
    return { ...profiles, [name]: Object.fromEntries(kept) };
  });
}

export function checkProfileName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw usage(`'${name}' is not a profile name`, 'use letters, digits, dots, dashes and underscores');
  }
  // The ledger folds case, and the rows of the sandbox are cleared with it.
  if (name !== 'sandbox' && name.toLowerCase() === 'sandbox')
    throw usage(`'${name}' is not a profile name`, 'the profile of the sandbox is written sandbox');
}

export function unknownProfile(name: string, profiles: Profiles): StenoError {
  const names = Object.keys(profiles);
  const guess = nearest(name, names);
  const make = `make it with: steno login --profile ${name}`;
  const list = names.length ? `there are: ${[...names].sort().join(', ')}; ${make}` : make;
  return usage(`there is no profile '${name}'`, guess ? `did you mean ${guess}? ${list}` : list);
}

function parseProfiles(path: string, text: string | undefined): Profiles {
  if (text === undefined) return {};
  const invalid = (what: string): StenoError =>
    usage(`the config file ${path} ${what}`, 'correct it by hand or move it away; it was not changed');
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw invalid('is not valid JSON');
  }
  if (!isRecord(data)) throw invalid('does not hold a JSON object');
  const { profiles = {} } = data;
  if (!isRecord(profiles)) throw invalid("has 'profiles' that is not an object");
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isRecord(profile) || Object.values(profile).some((value) => typeof value !== 'string')) {
      throw invalid(`has a profile '${name}' that is not an object of strings`);
    }
  }
  return foldNames(profiles as Profiles, invalid);
}

/** By the one spelling of their names. */
function foldNames(profiles: Profiles, invalid: (what: string) => StenoError): Profiles {
  const folded = new Map<string, Profile>();
  for (const [name, profile] of Object.entries(profiles)) {
    if (folded.has(accountName(name)))
      throw invalid(
        `has several profiles '${accountName(name)}': names that differ only in case are the same`,
      );
    folded.set(accountName(name), profile);
  }
  return Object.fromEntries(folded);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
