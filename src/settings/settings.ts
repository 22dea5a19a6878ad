import { parseDuration } from '../lib/duration.ts';
import type { Env } from '../lib/env.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';
import { checkBaseUrl } from './base-url.ts';
import { checkProfileName, type Profile, readProfiles, unknownProfile } from './store.ts';

export type SettingName = 'base-url' | 'api-key' | 'api-key-command' | 'timeout';

interface Setting {
  readonly name: SettingName;
  readonly help: string;
  readonly env?: string;
  readonly check: (value: string) => void;
}

export const settingList: readonly Setting[] = [
  { name: 'base-url', help: 'address of the service', env: 'STENO_BASE_URL', check: checkBaseUrl },
  { name: 'api-key', help: 'key of the account', env: 'STENO_API_KEY', check: checkKey },
  { name: 'api-key-command', help: 'command that prints the key', check: checkCommand },
  { name: 'timeout', help: 'how long a request may take', check: checkTimeout },
];

export const settingNames = settingList.map((each) => each.name);

/** A value and the place it came from; no value where none is set. */
export interface SettingValue {
  readonly name: SettingName;
  readonly value: string | undefined;
  readonly source: string;
}

export type SettingFlags = { readonly [Name in SettingName]?: string | undefined };

/** Settings in the order of the contract: flag, environment, the selected profile, built-in default. */
export class Settings {
  readonly profileName: string;
  readonly profileSource: string;
  readonly #profile: Profile;
  readonly #flags: SettingFlags;
  readonly #env: Env;
  /** What a value that was handed over is said to come from. */
  readonly #source: string;

  constructor(
    flags: SettingFlags,
    profile: string | undefined,
    env: Env,
    options: { newProfile?: boolean; source?: string } = {},
  ) {
    const profiles = readProfiles(env);
    this.profileName = profile ?? (env.STENO_PROFILE || 'default');
    this.profileSource = profile
      ? (options.source ?? 'flag')
      : env.STENO_PROFILE
        ? 'environment STENO_PROFILE'
        : 'default';
    checkProfileName(this.profileName);
    const known = Object.hasOwn(profiles, this.profileName);
    if (!known && !options.newProfile && this.profileName !== 'default')
      throw unknownProfile(this.profileName, profiles);
    this.#profile = (known && profiles[this.profileName]) || {};
    this.#flags = flags;
    this.#env = env;
    this.#source = options.source ?? 'flag';
  }

  get(name: SettingName): SettingValue {
    const setting = settingByName(name);
    const found = this.getUnchecked(name);
    if (found.value !== undefined) checkFound(setting, found);
    return found;
  }

  all(): SettingValue[] {
    return settingNames.map((name) => this.get(name));
  }

  /** The value as it stands, good or bad. */
  getUnchecked(name: SettingName): SettingValue {
    const { env } = settingByName(name);
    const flag = this.#flags[name];
    if (flag !== undefined) return { name, value: flag, source: this.#source };
    const variable = env && this.#env[env];
    if (variable) return { name, value: variable, source: `environment ${env}` };
    const kept = Object.hasOwn(this.#profile, name) ? this.#profile[name] : undefined;
    if (kept !== undefined) return { name, value: kept, source: `profile ${this.profileName}` };
    return { name, value: undefined, source: 'not set' };
  }
}

export function settingByName(name: string): Setting {
  const wanted = name.replaceAll('_', '-');
  const setting = settingList.find((each) => each.name === wanted);
  if (setting) return setting;
  throw usage(
    `there is no setting '${name}'`,
    didYouMean(name, settingNames, `settings: ${settingNames.join(', ')}`),
  );
}

export function checkKey(value: string): void {
  if (!/^[\x21-\x7e\u00a1-\uffff]{1,4096}$/.test(value)) {
    throw usage(
      'the key has blanks or control characters in it, or is empty',
      'paste it again, alone on its line',
    );
  }
}

function checkTimeout(value: string): void {
  if (parseDuration(value) === 0) throw usage('the timeout must be longer than zero');
}

function checkCommand(value: string): void {
  if (!value.trim() || value.includes('\0')) throw usage('the key command is empty');
}

/** Says where a bad value came from: the same mistake is mended in different places. */
function checkFound(setting: Setting, found: SettingValue): void {
  try {
    setting.check(found.value ?? '');
  } catch (error) {
    const { message, hint } = error as ReturnType<typeof usage>;
    throw usage(`${message} (${setting.name} from ${found.source})`, hint);
  }
}
