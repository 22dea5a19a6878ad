/** The parts of README.md that are made from the program, each between its two markers. */
import { exitCodes } from '../lib/errors.ts';
import { settingList } from '../settings/settings.ts';
import { groups } from './command-list.ts';
import type { Command } from './command-spec.ts';
import { globalOptions } from './global-options.ts';
import { frontPage } from './help.ts';
import { PAGE_WIDTH } from './help-page.ts';
import type { Option } from './options.ts';

const sections: Readonly<Record<string, () => string>> = {
  commands: commandsSection,
  'global-options': globalOptionsSection,
  'exit-codes': exitCodesSection,
  settings: settingsSection,
  help: () => helpSection(),
};

/** The text with every marked part made anew; a marker that names no part is an error. */
export function fillSections(text: string): string {
  return text.replace(
    /(<!-- generated: (\S+) -->\n).*?(<!-- end: \2 -->)/gs,
    (whole, begin: string, name: string, end: string) => {
      // The benchmark writes its own.
      if (name === 'bench') return whole;
      const render = sections[name];
      if (!render) throw new Error(`no generated section is named '${name}'`);
      return `${begin}\n${render()}\n${end}`;
    },
  );
}

export function commandsSection(): string {
  return groups
    .map(
      ({ title, commands }) =>
        `### ${title}\n\n${commands.flatMap((spec) => commandParts(spec, 'steno')).join('\n')}`,
    )
    .join('\n');
}

function commandParts(spec: Command, parent: string): string[] {
  const name = `${parent} ${spec.name}`;
  const children = (spec.children ?? []).flatMap((child) => commandParts(child, name));
  return spec.load ? [commandPart(spec, name), ...children] : children;
}

function commandPart(spec: Command, name: string): string {
  const options = Object.values(spec.options ?? {});
  const usage = [name, ...(spec.args ?? []).map((each) => each.name), options.length ? '[options]' : ''];
  const alias = spec.alias ? ` Also: \`${name.replace(/\S+$/, spec.alias)}\`.` : '';
  const rows = [
    ...(spec.args ?? []).map((each) => [code(each.name), each.help]),
    ...options.map((each) => [code(each.flags), meaning(each)]),
  ];
  const listed = rows.length ? `\n${table(['argument or option', 'meaning'], rows)}` : '';
  return `#### \`${usage.filter(Boolean).join(' ')}\`\n\n${spec.summary}.${alias}\n${listed}`;
}

const meaning = ({ help, shownDefault, env }: Option): string =>
  [help, shownDefault && `default: ${code(shownDefault)}`, env && `environment: ${code(env)}`]
    .filter(Boolean)
    .join('; ');

export function globalOptionsSection(): string {
  const rows = Object.values<Option>(globalOptions).map(({ flags, help, env }) => [
    code(flags),
    help,
    env ? code(env) : '',
  ]);
  const builtIn = [
    [code('-h, --help'), 'explain a command', ''],
    [code('-V, --version'), 'print the version', ''],
  ];
  return table(['option', 'meaning', 'environment'], [...rows, ...builtIn]);
}

export function exitCodesSection(): string {
  const rows = Object.entries(exitCodes).map(([name, { code: number, when }]) => [
    String(number),
    name,
    when,
  ]);
  return table(['code', 'name', 'when'], rows);
}

export function settingsSection(): string {
  const rows = settingList.map(({ name, help, env }) => [code(name), help, env ? code(env) : '']);
  return table(['setting', 'meaning', 'environment'], rows);
}

export const helpSection = (): string => `\`\`\`\n${frontPage(PAGE_WIDTH)}\`\`\`\n`;

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(head), `|${head.map(() => '---|').join('')}\n`, ...rows.map(line)].join('');
}
