import { command } from '../spec/command.ts';
import { commandsOutput, commandsView, runnables } from '../spec/command-index.ts';
import { globalOptions } from '../spec/global-options.ts';

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
    const commands = runnables(await loadGroups());
    await out.show(commandsView({ globals: Object.values(globalOptions), commands }));
  },
});
