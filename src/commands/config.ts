import { meaningOfOrderSku, orderSkus } from '../catalog/skus.ts';
import type { Effect } from '../lib/effects.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { readAll } from '../lib/lines.ts';
import { masked } from '../lib/mask.ts';
import { shownPostgresUrl } from '../lib/postgres-url.ts';
import { didYouMean } from '../lib/text.ts';
import { configPath, writeProfile } from '../settings/config-file.ts';
import { acceptKey } from '../settings/key.ts';
import {
  type SettingName,
  type SettingValue,
  settingByName,
  settingList,
  settingNames,
} from '../settings/settings.ts';
import { type Argument, command, family } from '../spec/command.ts';
import { type Context, readSettings } from '../spec/context.ts';
import { withPager } from '../ui/pager.ts';
import { askPerson } from '../ui/prompt.ts';
import * as a from '../views/fields.ts';
import { printed, RecordType } from '../views/record.ts';
import { described, maybeText, object, text } from '../views/schema.ts';
import { configView, type ShownSetting, settingRecord } from '../views/setup.ts';

/** For completion: a price is that of one SKU. */
const values = settingNames.flatMap((name) =>
  name === 'price.<SKU>' ? orderSkus.map(({ sku }) => `price.${sku}`) : [name],
);

const setting: Argument = {
  name: '<setting>',
  help: 'name of the setting, as listed below',
  values,
  meaning: (name) => settingList.find((each) => each.name === name)?.help ?? meaningOfPrice(name),
};

function meaningOfPrice(name: string): string {
  const about = meaningOfOrderSku(name.slice('price.'.length));
  return about && `price per minute: ${about}`;
}

/** For completion: what a setting may have as its value. Nothing is offered for a key or a command. */
const valuesAfter = {
  'base-url': 'base-url',
  ledger: 'ledger',
  account: 'account',
  timeout: ['30s', '1m', '2m', '5m'],
  currency: ['USD', 'EUR', 'GBP'],
} as const;

const details = ['The settings:', settingList.map(({ name, help }) => [name, help] as const)];

const oneSetting = new RecordType<ShownSetting>([
  a.word('setting', 'name of the setting', 'name', { cell: false }),
  a.word('value', 'value of the setting', 'value'),
  a.word('source', 'where it came from', 'source', { cell: false }),
]);

const configFile = new RecordType<{ readonly path: string }>([
  a.word('path', 'path of the config file', 'path'),
]);

const changed = () =>
  printed(
    object({
      profile: text,
      setting: text,
      value: described('null after unset; a key is masked', maybeText),
    }),
  );

/** A command in the settings is run later, by commands that only read; what is allowed decides about all others. */
function effectOfSetting(name: string): Effect {
  const setting = name.replaceAll('_', '-').toLowerCase();
  if (setting === 'allow') return 'money';
  return setting.endsWith('-command') ? 'exec' : 'local';
}

const list = command({
  name: 'list',
  summary: 'List every setting and where it came from',
  about: 'Lists every setting with its value and where it came from. A key is masked.',
  examples: [['steno config list', 'the settings in use']],
  effect: 'read',
  exits: [],
  output: () =>
    printed(
      { type: 'object', additionalProperties: object({ value: maybeText, source: text }) },
      settingRecord.columnHelp,
    ),
  async run(context) {
    const found = context.settings.all();
    const view = configView(found.map((each) => ({ ...each, value: listed(each) })));
    await withPager(context, () => context.out.show(view));
  },
});

const get = command({
  name: 'get',
  summary: 'Show one setting',
  about: 'Shows the value of one setting. Exits with 1 if it is not set. A key is masked.',
  args: [setting],
  details,
  examples: [['steno config get base-url', 'the address in use']],
  effect: 'read',
  exits: [],
  output: () => oneSetting.printed,
  async run(context, { args: [name = ''] }) {
    const found = context.settings.get(settingByName(name).name);
    if (found.value === undefined) throw new StenoError('failed', `${found.name} is not set`);
    await context.out.show(oneSetting.page({ ...found, value: shown(found) }));
  },
});

const set = command({
  name: 'set',
  summary: 'Save a setting in the profile',
  args: [
    { ...setting, valuesAfter },
    { name: '[value]', help: 'new value, or - to read it from stdin; if omitted on a terminal, steno asks' },
  ],
  about:
    'Saves a setting in the selected profile, which is created if needed. Flags and environment variables ' +
    'override it.',
  details,
  examples: [
    ['steno config set base-url https://host/API4', 'set the address of the service'],
    ['steno config set timeout 2m --profile slow', 'in another profile'],
  ],
  effect: 'local',
  effectsOf: ({ args: [name = ''] }) => [effectOfSetting(name)],
  exits: [],
  output: changed,
  async run(context, { args: [name = '', given] }) {
    const setting = settingByName(name);
    if (context.sandbox && ownOfSandbox.has(setting.name))
      throw usage(
        `${setting.name} has no effect in the sandbox, which has its own address, key and ledger`,
        `for an account, name its profile: steno config set ${setting.name} … --profile <name>`,
      );
    if (given === undefined && !context.stdin.isTTY)
      throw usage(
        `config set ${setting.name} requires a value`,
        `give it, or - to read it from stdin: steno config set ${setting.name} - < value.txt`,
      );
    const value = given === undefined || given === '-' ? await readValue(context, setting.name) : given;
    if (setting.name === 'api-key') acceptKey(value, context.mask);
    else setting.check(value);
    await change(context, setting.name, value);
    const near = unlistedPrice(setting.name);
    if (near) await context.out.warn(`${setting.name} names a SKU that is not listed`, near);
  },
});

/** The API document does not list every SKU: such a price is saved, but it may be a typing error. */
function unlistedPrice(name: string): string | undefined {
  const sku = name.startsWith('price.') ? name.slice('price.'.length) : undefined;
  if (sku === undefined || meaningOfOrderSku(sku)) return undefined;
  return didYouMean(
    sku,
    orderSkus.map((each) => each.sku),
    'see: steno skus',
  );
}

const unset = command({
  name: 'unset',
  summary: 'Remove a setting from the profile',
  about: 'Removes a setting from the selected profile.',
  args: [setting],
  details,
  examples: [['steno config unset timeout', 'back to the default']],
  effect: 'local',
  effectsOf: ({ args: [name = ''] }) => [effectOfSetting(name)],
  exits: [],
  output: changed,
  async run(context, { args: [name = ''] }) {
    await change(context, settingByName(name).name, undefined);
  },
});

const path = command({
  name: 'path',
  summary: 'Show the path of the config file',
  about: 'Shows the path of the config file, which holds the settings of all profiles.',
  examples: [['steno config path', 'show the path']],
  effect: 'read',
  exits: [],
  output: () => configFile.printed,
  run: ({ env, out }) => out.show(configFile.page({ path: configPath(env) })),
});

export const config = family({
  name: 'config',
  summary: 'Show and change the settings of a profile',
  about:
    'Shows and changes the settings of a profile: the one named by --profile or STENO_PROFILE, otherwise default.',
  details,
  children: [list, get, set, unset, path],
  examples: [
    ['steno config list', 'every setting and where it came from'],
    ['steno config set base-url https://host/API4', 'set the address of the service'],
  ],
});

const MAX_STDIN_BYTES = 65_536;

/** What the sandbox has of its own, whatever is kept in its profile. */
const ownOfSandbox: ReadonlySet<SettingName> = new Set<SettingName>([
  ...(['base-url', 'api-key', 'api-key-command'] as const),
  ...(['ledger', 'ledger-password-command', 'account'] as const),
]);

/** A kept key and a kept command replace each other: the later one counts. */
const replaces: Partial<Record<SettingName, SettingName>> = {
  'api-key': 'api-key-command',
  'api-key-command': 'api-key',
};

async function change(context: Context, name: SettingName, value: string | undefined): Promise<void> {
  const { profileName } = readSettings(context, { newProfile: true });
  const other = replaces[name];
  const clears = value !== undefined && other ? { [other]: undefined } : {};
  await writeProfile(context.env, profileName, { [name]: value, ...clears }, context.signal);
  const kept = value === undefined ? null : shown({ name, value, source: '' });
  context.out.done(`${name} is ${value === undefined ? 'no longer set' : 'set'} in profile ${profileName}`, {
    profile: profileName,
    setting: name,
    value: kept,
  });
}

/** On a terminal it is one line, and a key is not shown while it is typed. */
async function readValue(context: Context, name: SettingName): Promise<string> {
  if (!context.stdin.isTTY) return (await readAll(context.stdin, MAX_STDIN_BYTES)).trim();
  return askPerson(context, (questions) =>
    name === 'api-key' ? questions.hidden('API key:') : questions.line(`${name}:`),
  );
}

/** A value without its secret. */
const shown = ({ name, value = '' }: SettingValue): string => {
  if (value === '') return '';
  if (name === 'ledger') return shownPostgresUrl(value);
  return name === 'api-key' ? masked(value) : value;
};

/** In a list a command shows its first word only: people do write secrets into command lines. */
const listed = (found: SettingValue): string =>
  found.name.endsWith('-command') ? shown(found).replace(/(\S)\s+\S.*$/s, '$1 …') : shown(found);
