import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { toJson } from '../lib/json.ts';
import { masked } from '../lib/mask.ts';
import { shownPostgresUrl } from '../lib/postgres-url.ts';
import { readAll } from '../lib/streams.ts';
import { configPath } from '../settings/config-file.ts';
import { acceptKey } from '../settings/key.ts';
import { type SettingName, type SettingValue, settingByName } from '../settings/settings.ts';
import { writeProfile } from '../settings/store.ts';
import { withPager } from '../ui/pager.ts';
import { askPerson } from '../ui/prompt.ts';
import { settingsView } from '../views/setup.ts';

const MAX_STDIN_BYTES = 65_536;

export async function list(context: Context): Promise<void> {
  const found = context.settings.all();
  const view = settingsView(found.map((each) => ({ ...each, value: listed(each) })));
  await withPager(context, () => context.out.show(view));
}

export async function get(context: Context, { args: [name = ''] }: Input): Promise<void> {
  const found = context.settings.get(settingByName(name).name);
  if (found.value === undefined) throw new StenoError('failed', `${found.name} is not set`);
  const value = shown(found);
  await context.out.show({
    json: toJson({ setting: found.name, value, source: found.source }),
    columns: [{ name: 'value' }],
    rows: [[value]],
    quiet: [value],
  });
}

export async function set(context: Context, { args: [name = '', given] }: Input): Promise<void> {
  const setting = settingByName(name);
  if (context.inSandbox && ownOfSandbox.has(setting.name))
    throw usage(
      `${setting.name} has no effect in the sandbox, which always has an address, a key and a ledger of its own`,
      `for an account, name its profile: steno config set ${setting.name} … --profile <name>`,
    );
  if (given === undefined && !context.stdin.isTTY)
    throw usage(
      `config set ${setting.name} requires a value`,
      `give it, or - to take it from stdin: steno config set ${setting.name} - < value.txt`,
    );
  const value = given === undefined || given === '-' ? await readValue(context, setting.name) : given;
  if (setting.name === 'api-key') acceptKey(value, context.mask);
  else setting.check(value);
  await change(context, setting.name, value);
}

/** What the sandbox has of its own, whatever is kept in its profile. */
const ownOfSandbox: ReadonlySet<SettingName> = new Set<SettingName>([
  ...(['base-url', 'api-key', 'api-key-command'] as const),
  ...(['ledger', 'ledger-password-command', 'account'] as const),
]);

export async function unset(context: Context, { args: [name = ''] }: Input): Promise<void> {
  await change(context, settingByName(name).name, undefined);
}

export async function path(context: Context): Promise<void> {
  const file = configPath(context.env);
  await context.out.show({
    json: toJson({ path: file }),
    columns: [{ name: 'path' }],
    rows: [[file]],
    quiet: [file],
  });
}

/** A kept key and a kept command replace each other: the later one counts. */
const replaces: Partial<Record<SettingName, SettingName>> = {
  'api-key': 'api-key-command',
  'api-key-command': 'api-key',
};

async function change(context: Context, name: SettingName, value: string | undefined): Promise<void> {
  const { profileName } = context.readSettings({ newProfile: true });
  const other = replaces[name];
  const clears = value !== undefined && other ? { [other]: undefined } : {};
  await writeProfile(context.env, profileName, { [name]: value, ...clears }, context.signal);
  const kept = value === undefined ? null : shown({ name, value, source: '' });
  context.out.done(`${name} of profile ${profileName} is ${value === undefined ? 'no longer set' : 'set'}`, {
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
