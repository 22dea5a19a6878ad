/** The config file and what is set. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { accountName } from '../../lib/account-name.ts';
import { nearest } from '../../lib/suggest.ts';
import { plural } from '../../lib/text.ts';
import { isSettingName, settingNames } from '../../settings/settings.ts';
import { type Finding, failed, ok, skipped, warn } from './check.ts';
import { accessTrouble, modeText } from './private-files.ts';
import type { Setup } from './setup.ts';

/** Readable JSON, closed to others. */
export function checkConfigFile({ configPath, settings }: Setup): Finding {
  const path = configPath();
  const { configError } = settings();
  if (configError)
    return failed(
      configError,
      'make it a file that you may read, or name another folder with STENO_CONFIG_DIR',
    );
  if (!existsSync(path)) return ok(`${path} is not there yet; steno login makes it`);
  const trouble = accessTrouble(path, 0o600) ?? accessTrouble(dirname(path), 0o700);
  return trouble ?? ok(`${path} (${process.getuid ? `mode ${modeText(statSync(path))}` : 'readable'})`);
}

/** The profile, where each setting comes from, and names that mean nothing. */
export function checkSettings({ configPath, settings: read }: Setup): Finding {
  const { settings, configError, profileError } = read();
  if (profileError) return failed(profileError);
  const bad = settings.names.flatMap((name) => errorOf(() => settings.get(name)));
  if (bad.length) return failed(bad[0]);
  const shown = settings.names
    .map((name) => settings.getUnchecked(name))
    .filter(({ value }) => value !== undefined)
    .map(({ name, source }) => `${name} from ${source}`);
  const profile = `profile ${settings.profileName} (${settings.profileSource})`;
  const unknown = configError ? [] : unknownNames(configPath(), settings.profileName);
  const [first] = unknown;
  if (first === undefined) return ok([profile, ...shown].join('; '));
  const guess = nearest(first, settingNames);
  return warn(
    `${profile} has ${plural(unknown.length, 'setting')} that steno does not know: ${unknown.join(', ')}`,
    guess ? `did you mean ${guess}? see: steno config list` : 'take it out of the config file',
  );
}

function errorOf(work: () => unknown): unknown[] {
  try {
    work();
    return [];
  } catch (error) {
    return [error];
  }
}

/** The file was read before, so that it is valid. */
function unknownNames(path: string, profile: string): string[] {
  if (!existsSync(path)) return [];
  const { profiles = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
    profiles?: Record<string, Record<string, string>>;
  };
  const own = Object.entries(profiles).find(([name]) => accountName(name) === profile)?.[1] ?? {};
  return Object.keys(own).filter((name) => !isSettingName(name));
}

/** Where a setting is missing, it may stand in a file that can't be used. */
export const notKnown = ({ settings }: Setup, what: string): Finding | undefined =>
  settings().configError ? skipped(`${what} is not known, because the config file can't be used`) : undefined;
