/** The parts of README.md that are made from the program, each between its two markers. */
import { exitCodes } from '../lib/errors.ts';
import type { Command, Group } from '../spec/command.ts';
import { exitAdvice } from './help-topics.ts';

const sections: Readonly<Record<string, (groups: readonly Group[]) => string>> = {
  commands: commandsSection,
  'exit-codes': exitCodesSection,
};

/** The text with every marked part made anew; a marker that names no part is an error. */
export function fillSections(text: string, groups: readonly Group[]): string {
  return text.replace(
    /(<!-- generated: (\S+) -->\n).*?(<!-- end: \2 -->)/gs,
    (_, begin: string, name: string, end: string) => {
      const render = sections[name];
      if (!render) throw new Error(`no generated section is named '${name}'`);
      return `${begin}${render(groups)}${end}`;
    },
  );
}

/** A row for each group, with every command that can be run. */
function commandsSection(groups: readonly Group[]): string {
  const rows = groups.map(({ title, commands }) => [
    title,
    commands
      .flatMap((spec) => runnable(spec, ''))
      .map(code)
      .join(', '),
  ]);
  return table(['for', 'commands'], rows);
}

function runnable(spec: Command, parent: string): string[] {
  const name = `${parent}${spec.name}`;
  const children = (spec.children ?? []).flatMap((child) => runnable(child, `${name} `));
  const names = spec.alias ? [name, `${parent}${spec.alias}`] : [name];
  return spec.run ? [...names, ...children] : children;
}

function exitCodesSection(): string {
  const rows = Object.entries(exitCodes).map(([name, { code: number, when }]) => [
    String(number),
    name,
    when,
    exitAdvice[name as keyof typeof exitCodes],
  ]);
  return table(['code', 'name', 'when', 'what to do'], rows);
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(head), `|${head.map(() => '---|').join('')}\n`, ...rows.map(line)].join('');
}
