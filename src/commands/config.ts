import { type Argument, command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { StenoError } from '../lib/errors.ts';
import { masked } from '../lib/mask.ts';
import {
  type SettingName,
  type SettingValue,
  settingByName,
  settingList,
  settingNames,
} from '../settings/settings.ts';
import { configPath, writeProfile } from '../settings/store.ts';

const setting: Argument = { name: '<setting>', help: settingNames.join(', '), values: settingNames };

/** A value as it may be shown. */
const shown = ({ name, value }: SettingValue): string =>
  name === 'api-key' && value ? masked(value) : (value ?? '');

/** In a list a command shows its first word only: people do write secrets into command lines. */
const listed = (found: SettingValue): string =>
  found.name === 'api-key-command' ? shown(found).replace(/(\S)\s+\S.*$/s, '$1 …') : shown(found);

async function change(context: Context, name: string, value: string | undefined): Promise<void> {
  const { profileName } = context.readSettings({ newProfile: true });
  // A kept key and a kept command exclude each other: the later one counts.
  const other = name === 'api-key' ? 'api-key-command' : name === 'api-key-command' ? 'api-key' : undefined;
  const clears = value !== undefined && other ? { [other]: undefined } : {};
  await writeProfile(context.env, profileName, { [name]: value, ...clears });
  const kept = value === undefined ? null : shown({ name: settingByName(name).name, value, source: '' });
  context.out.done(`${name} of profile ${profileName} is ${value === undefined ? 'no longer set' : 'set'}`, {
    profile: profileName,
    [name]: kept,
  });
}

/** On a terminal it is one line, and a key is not shown while it is typed. */
async function fromStdin(context: Context, name: SettingName): Promise<string> {
  if (context.stdin.isTTY) {
    const { askPerson } = await import('../ui/prompt.ts');
    return askPerson(context, (questions) =>
      name === 'api-key' ? questions.hidden('API key:') : questions.line(`${name}:`),
    );
  }
  const { readAll } = await import('../lib/streams.ts');
  return (await readAll(context.stdin, 65_536)).trim();
}

const listAll = command({
  name: 'list',
  summary: 'Show every setting and where it came from',
  examples: [['steno config list', 'what holds here']],
  async run(context) {
    const { settingsView } = await import('../views/settings.ts');
    const found = context.settings.all();
    await context.out.show(settingsView(found.map((each) => ({ ...each, value: listed(each) }))));
  },
});

const get = command({
  name: 'get',
  summary: 'Show one setting',
  args: [setting],
  examples: [['steno config get base-url', 'the address in use']],
  async run(context, { args: [name = ''] }) {
    const found = context.settings.get(settingByName(name).name);
    if (found.value === undefined) throw new StenoError('failed', `${found.name} is not set`);
    const { toJson } = await import('../lib/json.ts');
    const value = shown(found);
    await context.out.show({
      json: toJson({ [found.name]: value, source: found.source }),
      columns: [{ name: found.name }],
      rows: [[value]],
      quiet: [value],
    });
  },
});

const set = command({
  name: 'set',
  summary: 'Keep a setting in the profile',
  args: [setting, { name: '<value>', help: 'what to set it to, or - to take it from stdin' }],
  examples: [
    ['steno config set base-url https://host/API4', 'the address of the service'],
    ['steno config set timeout 2m --profile slow', 'in a profile of its own'],
  ],
  async run(context, { args: [name = '', given = ''] }) {
    const found = settingByName(name);
    const value = given === '-' ? await fromStdin(context, found.name) : given;
    if (found.name === 'api-key') context.mask.add(value);
    found.check(value);
    await change(context, found.name, value);
  },
});

const unset = command({
  name: 'unset',
  summary: 'Take a setting out of the profile',
  args: [setting],
  examples: [['steno config unset timeout', 'back to the default']],
  async run(context, { args: [name = ''] }) {
    await change(context, settingByName(name).name, undefined);
  },
});

const path = command({
  name: 'path',
  summary: 'Show where the settings are kept',
  examples: [['steno config path', 'the file']],
  async run(context) {
    const file = configPath(context.env);
    const { toJson } = await import('../lib/json.ts');
    await context.out.show({
      json: toJson({ path: file }),
      columns: [{ name: 'path' }],
      rows: [[file]],
      quiet: [file],
    });
  },
});

export const config = command({
  name: 'config',
  summary: 'Read and change the settings of a profile',
  about: `Reads and changes the settings of a profile:\n${settingList.map((each) => `  ${each.name.padEnd(16)} ${each.help}`).join('\n')}`,
  children: [listAll, get, set, unset, path],
  examples: [
    ['steno config list', 'every setting and where it came from'],
    ['steno config set base-url https://host/API4', 'the address of the service'],
  ],
});
