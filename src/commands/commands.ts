import { command } from '../spec/command.ts';
import { commandEntries, optionEntry, outputsOf } from '../spec/entries.ts';
import { globalOptions } from '../spec/global-options.ts';
import type { Option } from '../spec/options.ts';
import { commandsOutput, commandsView } from '../views/command-index.ts';

export const commandsCommand = command({
  name: 'commands',
  summary: 'List every command, for programs',
  about:
    'Lists every command and its effect: read, local (files, settings, the ledger), exec (runs a command), account ' +
    '(the webhook, events sent to others) or money. With --json, prints the whole interface: arguments, options ' +
    'and their effects, exit codes and examples. STENO_ALLOW limits the effects that commands may have.',
  examples: [
    ['steno commands', 'as a table'],
    ['steno commands --json', 'the whole interface'],
  ],
  effect: 'read',
  exits: [],
  output: commandsOutput,
  async run({ out }, _, loadGroups) {
    const groups = await loadGroups();
    const outputs = outputsOf(groups);
    const globals = Object.values<Option>(globalOptions).map(optionEntry);
    await out.show(commandsView(commandEntries(groups), globals, (path) => outputs.has(path)));
  },
});
