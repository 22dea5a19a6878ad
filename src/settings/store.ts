import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../lib/env.ts';
import { errorCode, errorMessage, StenoError, usage } from '../lib/errors.ts';
import { nearest } from '../lib/suggest.ts';
import { configFolder, makePrivateFolder } from './paths.ts';

export type Profile = Readonly<Record<string, string>>;
export type Profiles = Readonly<Record<string, Profile>>;

export const configPath = (env: Env): string => join(configFolder(env), 'config.json');

/** Reads the config file without conf: loading that takes longer than everything else that a command does. */
export function readProfiles(env: Env): Profiles {
  const path = configPath(env);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    throw usage(`can't read the config file ${path}: ${errorMessage(error)}`);
  }
  return parseProfiles(path, text);
}

/** Changes one profile; a setting that is undefined in `change` is removed. */
export async function writeProfile(
  env: Env,
  name: string,
  change: Record<string, string | undefined>,
): Promise<void> {
  const profiles = readProfiles(env);
  const folder = configFolder(env);
  const { default: Conf } = await import('conf');
  const kept = { ...profiles[name], ...change };
  for (const key of Object.keys(kept)) if (kept[key] === undefined) delete kept[key];
  try {
    makePrivateFolder(folder);
    const conf = new Conf({
      cwd: folder,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      projectName: 'steno',
    });
    conf.set('profiles', { ...profiles, [name]: kept });
  } catch (error) {
    throw new StenoError('failed', `can't write the config file ${configPath(env)}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

export function checkProfileName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw usage(`'${name}' is not a profile name`, 'use letters, digits, dots, dashes and underscores');
  }
}

export function unknownProfile(name: string, profiles: Profiles): StenoError {
  const names = Object.keys(profiles);
  const guess = nearest(name, names);
  return usage(
    `there is no profile '${name}'`,
    guess ? `did you mean ${guess}?` : `make it with: steno login --profile ${name}`,
  );
}

function parseProfiles(path: string, text: string): Profiles {
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
  return profiles as Profiles;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
