import { findOrderSku } from '../catalog/skus.ts';
import { parseEffects } from '../lib/effects.ts';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import type { Mask } from '../lib/mask.ts';
import { checkCurrency, parseBudget, parseMoney } from '../lib/money.ts';
import { accountName } from '../lib/names.ts';
import { checkPostgresUrl, type PostgresAddress, passwordOf } from '../lib/postgres-url.ts';
import { didYouMean } from '../lib/text.ts';
import { parseDuration } from '../lib/time.ts';
import { isLoopback, isUrl, urlHint } from '../lib/url.ts';
import {
  checkProfileName,
  type Profile,
  type Profiles,
  readProfiles,
  unknownProfile,
} from './config-file.ts';
import { type CommandLimits, checkKey, type Key, keyFromCommand, secretFromCommand } from './key.ts';

/** Refuses what is not a base URL, and one to which the key must not be sent. */
export function checkBaseUrl(text: string): void {
  const url = isUrl(text) && /^https?:\/\/[^/\\\s][^\s\\]*$/i.test(text) ? new URL(text) : undefined;
  if (!url) throw usage(`'${text}' is not a base URL`, urlHint(text, 'base'));
  if (url.username || url.password) throw usage("a base URL can't contain a user name or password");
  if (/[?#]/.test(text)) throw usage(`the base URL '${text}' contains a query or a fragment`, 'leave it out');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw usage(
      `the key is not sent over plain http to ${url.hostname}`,
      'use https; plain http is for this machine only (127.0.0.1, localhost, [::1])',
    );
  }
}

/** The price of a minute of one SKU; there is one such setting for each. */
export type PriceSetting = `price.${string}`;

export type SettingName =
  | PriceSetting
  | 'base-url'
  | 'api-key'
  | 'api-key-command'
  | 'timeout'
  | 'ledger'
  | 'ledger-password-command'
  | 'account'
  | 'upload-command'
  | 'budget'
  | 'allow'
  | 'currency';

interface Setting {
  readonly name: SettingName;
  readonly help: string;
  readonly env?: string;
  readonly check: (value: string) => void;
}

export const settingList: readonly Setting[] = [
  { name: 'base-url', help: 'base URL of the service', env: 'STENO_BASE_URL', check: checkBaseUrl },
  { name: 'api-key', help: 'API key', env: 'STENO_API_KEY', check: checkKey },
  { name: 'api-key-command', help: 'command that prints the key', check: checkCommand },
  { name: 'timeout', help: 'time limit for each request', check: checkTimeout },
  {
    name: 'ledger',
    help: 'postgres:// URL of a shared ledger',
    env: 'STENO_LEDGER',
    check: checkPostgresUrl,
  },
  {
    name: 'ledger-password-command',
    help: 'command that prints the password of the shared ledger',
    check: checkCommand,
  },
  {
    name: 'account',
    help: 'account name in a shared ledger (default: the profile name)',
    env: 'STENO_ACCOUNT',
    check: checkAccount,
  },
  {
    name: 'upload-command',
    help: 'command that uploads a local file, given its path, and prints its https URL',
    check: checkCommand,
  },
  {
    name: 'budget',
    help: 'spending limit per day, week, month or year, such as 200/month',
    env: 'STENO_BUDGET',
    check: checkBudget,
  },
  {
    name: 'allow',
    help: 'effects that commands may have: read, local, exec, account, money',
    env: 'STENO_ALLOW',
    check: checkAllow,
  },
  { name: 'currency', help: 'currency of amounts given without one', check: checkCurrency },
  { name: 'price.<SKU>', help: 'price per minute of a SKU, for estimates', check: checkPrice },
];

const PRICE = 'price.';

/** How messages name what `ledger-password-command` prints. */
const ledgerPassword = { name: 'password', setting: 'ledger-password-command' };

export const settingNames = settingList.map((each) => each.name);

/** A value and the place it came from; undefined where none is set. */
export interface SettingValue {
  readonly name: SettingName;
  readonly value: string | undefined;
  readonly source: string;
}

export interface SettingsOptions {
  /** Values that go before all others. */
  readonly flags: { readonly [Name in SettingName]?: string | undefined };
  /** What `flags` are said to come from. */
  readonly flagSource?: string;
  readonly profile: string | undefined;
  /** Accepts a profile that does not exist yet. */
  readonly newProfile?: boolean;
  /** What the config file holds, where that was read before. */
  readonly profiles?: Profiles | undefined;
  readonly env: Env;
  /** Learns the key of the profile. */
  readonly mask: Mask;
}

/** Settings in the order of the contract: flag, environment, the selected profile, built-in default. */
export class Settings {
  readonly profileName: string;
  readonly profileSource: string;
  readonly #options: SettingsOptions;
  readonly #profile: Profile;

  constructor(options: SettingsOptions) {
    const { profile, env, mask, newProfile = false } = options;
    const profiles = options.profiles ?? readProfiles(env);
    this.#options = options;
    const given = profile ?? (env.STENO_PROFILE || 'default');
    checkProfileName(given);
    this.profileName = accountName(given);
    this.profileSource = this.#sourceOfProfile();
    const known = Object.hasOwn(profiles, this.profileName);
    if (!known && !newProfile && this.profileName !== 'default')
      throw unknownProfile(this.profileName, profiles);
    this.#profile = (known && profiles[this.profileName]) || {};
    const key = this.getUnchecked('api-key').value;
    if (key) mask.add(key);
    this.maskLedgerPassword();
  }

  get(name: SettingName): SettingValue {
    const found = this.getUnchecked(name);
    if (found.value !== undefined) checkValue(found.value, found);
    return found;
  }

  all(): SettingValue[] {
    return this.names.map((name) => this.get(name));
  }

  /** Every setting that there is, and the prices that are set. */
  get names(): SettingName[] {
    return [...settingNames.filter((name) => !isPrice(name)), ...this.#priceNames];
  }

  /** The prices of a minute that are set, by SKU. */
  get prices(): Record<string, string> {
    const set = this.#priceNames.map((name) => [name.slice(PRICE.length), this.get(name).value ?? '']);
    return Object.fromEntries(set);
  }

  /** Of amounts that say none; empty where it is not known. */
  get currency(): string {
    return this.get('currency').value?.trim().toUpperCase() ?? '';
  }

  get #priceNames(): PriceSetting[] {
    return Object.keys(this.#profile).filter(isPrice).sort();
  }

  /** The value as it stands, valid or not. */
  getUnchecked(name: SettingName): SettingValue {
    const { flags, flagSource = 'flag', env } = this.#options;
    const variable = settingByName(name).env;
    const flag = flags[name];
    if (flag !== undefined) return { name, value: flag, source: flagSource };
    const exported = variable && env[variable];
    if (exported) return { name, value: exported, source: `environment ${variable}` };
    const kept = Object.hasOwn(this.#profile, name) ? this.#profile[name] : undefined;
    if (kept !== undefined) return { name, value: kept, source: `profile ${this.profileName}` };
    return { name, value: undefined, source: 'not set' };
  }

  /** The key from flag, environment or profile, or from the command that a profile keeps in its place. */
  async key(limits: CommandLimits): Promise<Key | undefined> {
    const { value, source } = this.get('api-key');
    if (value !== undefined) return { value, source };
    const command = this.get('api-key-command');
    if (command.value === undefined) return undefined;
    const printed = await keyFromCommand(command.value, this.#options.mask, limits);
    return { value: printed, source: `command of ${command.source}` };
  }

  /**
   * The password of the shared ledger: of the URL, PGPASSWORD, the command, or libpq's password file; empty where none is
   * set. Asked for at each connection.
   */
  async ledgerPassword(address: PostgresAddress, limits: CommandLimits): Promise<string> {
    const { mask, env } = this.#options;
    if (address.password !== undefined) return address.password;
    const command = this.get('ledger-password-command').value;
    if (command !== undefined) return secretFromCommand(command, ledgerPassword, mask, limits);
    const { passwordFromFile } = await import('./password-file.ts');
    const password = passwordFromFile(address, env) ?? '';
    mask.add(password);
    return password;
  }

  /** Whose rows of a shared ledger these are. */
  get account(): SettingValue {
    const found = this.get('account');
    return found.value === undefined
      ? { ...found, value: this.profileName, source: 'the profile' }
      : { ...found, value: accountName(found.value) };
  }

  /** Learns the password in the URL of a shared ledger, and that of the environment. */
  maskLedgerPassword(url = this.getUnchecked('ledger').value): void {
    const { env, mask } = this.#options;
    if (url === undefined) return;
    for (const password of [passwordOf(url), env.PGPASSWORD]) if (password) mask.add(password);
  }

  #sourceOfProfile(): string {
    const { profile, env } = this.#options;
    if (profile) return 'flag';
    return env.STENO_PROFILE ? 'environment STENO_PROFILE' : 'default';
  }
}

export function settingByName(name: string): Setting {
  if (isPrice(name)) return priceSetting(name);
  const dashed = name.replaceAll('_', '-');
  const setting = settingList.find((each) => each.name === dashed);
  if (setting) return setting;
  throw usage(
    `there is no setting '${name}'`,
    didYouMean(name, settingNames, `known settings: ${settingNames.join(', ')}`),
  );
}

const isPrice = (name: string): name is PriceSetting => name.startsWith(PRICE);

function priceSetting(name: PriceSetting): Setting {
  const sku = name.slice(PRICE.length);
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(sku))
    throw usage(`'${name}' does not name a SKU`, 'write it like price.TRANS14; see: steno skus');
  // Others may be set: the API document does not list every SKU.
  const known = findOrderSku(sku) ?? findOrderSku(sku.toUpperCase());
  if (known && known.sku !== sku)
    throw usage(`'${name}' does not name a SKU`, `did you mean ${PRICE}${known.sku}?`);
  return { name, help: `price of a minute of ${sku}`, check: checkPrice };
}

function checkPrice(value: string): void {
  const price = parseMoney(value);
  if (!price || price.amount.sign <= 0)
    throw usage(
      `the price must be an amount above zero, not '${value}'`,
      'write the price per minute, like 0.86',
    );
}

function checkBudget(value: string): void {
  parseBudget(value);
}

function checkTimeout(value: string): void {
  if (parseDuration(value, 'timeout') === 0) throw usage('the timeout must be longer than zero');
}

export function checkAccount(value: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(value))
    throw usage(`'${value}' is not an account name`, 'use letters, digits, dots, dashes, underscores and @');
}

function checkAllow(value: string): void {
  parseEffects(value, 'allow');
}

function checkCommand(value: string): void {
  if (!value.trim() || value.includes('\0')) throw usage('the command is empty');
}

/** Adds to the error where the bad value came from, which is where to correct it. */
function checkValue(value: string, { name, source }: SettingValue): void {
  try {
    settingByName(name).check(value);
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(`${error.message} (${name} from ${source})`, error.hint);
  }
}
