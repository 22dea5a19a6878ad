/** The look of the help pages: what a command is for, what it takes, how it is used. */
import type { Command as Commander, Option as CommanderOption, Help } from 'commander';
import { exitCodes } from '../lib/errors.ts';
import type { Command } from './command-spec.ts';

export const GLOBAL = 'Global options:';

/** Commands come before options, and what every command shares comes last. */
export const helpStyle: Partial<Help> = {
  helpWidth: 80,
  subcommandTerm: (command) => [command.name(), ...command.aliases()].join(', '),
  formatHelp(command: Commander, helper: Help): string {
    const width = helper.padWidth(command, helper);
    const section = (title: string, items: ReadonlyArray<readonly [string, string]>): string[] => {
      if (items.length === 0) return [];
      return [title, ...items.map(([term, what]) => helper.formatItem(term, width, what, helper)), ''];
    };
    const optionTerm = (option: CommanderOption): [string, string] => [
      helper.optionTerm(option),
      helper.optionDescription(option),
    ];
    const subcommands = helper.visibleCommands(command);
    const titles = [...new Set(subcommands.map(groupOf))];
    const options = helper.visibleOptions(command);
    const isShared = (option: CommanderOption): boolean =>
      option.helpGroupHeading === GLOBAL || option.long === '--help';
    return [
      `Usage: ${helper.commandUsage(command)}`,
      '',
      helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80),
      '',
      ...section(
        'Arguments:',
        helper
          .visibleArguments(command)
          .map((each) => [helper.argumentTerm(each), helper.argumentDescription(each)]),
      ),
      ...titles.flatMap((title) =>
        section(
          title,
          subcommands
            .filter((each) => groupOf(each) === title)
            .map((each) => [helper.subcommandTerm(each), helper.subcommandDescription(each)]),
        ),
      ),
      ...section('Options:', options.filter((each) => !isShared(each)).map(optionTerm)),
      ...section(GLOBAL, options.filter(isShared).map(optionTerm)),
    ].join('\n');
  },
};

const groupOf = (command: Commander): string => command.helpGroup() || 'Commands:';

/** The end of every page: command lines that work when pasted. */
export function examplesText(examples: Command['examples']): string {
  const width = Math.max(0, ...examples.map(([line]) => line.length));
  const beside = width <= 50;
  const lines = examples.map(([line, what]) =>
    beside ? `  ${line.padEnd(width)}  # ${what}` : `  # ${what}\n  ${line}`,
  );
  return `\nExamples:\n${lines.join('\n')}\n`;
}

/** All exit codes in two lines, for the end of the root's page. */
export function exitCodesText(): string {
  const all = Object.entries(exitCodes).map(([name, { code }]) => `${code} ${name}`);
  const half = Math.ceil(all.length / 2);
  return `Exit codes: ${all.slice(0, half).join(', ')},\n            ${all.slice(half).join(', ')}`;
}
