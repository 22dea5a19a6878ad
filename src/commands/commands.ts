import { command } from '../spec/command.ts';

export const commandsCommand = command({
  name: 'commands',
  summary: 'List every command, for programs',
  about:
    'Lists every command with what running it may do: none, local (files and settings of this machine), account ' +
    '(the webhook, or others are sent something) or money. With --json the whole interface: arguments, options, exit codes, examples.',
  examples: [
    ['steno commands', 'as a table'],
    ['steno commands --json', 'the whole interface'],
  ],
  load: async () => (await import('./commands.run.ts')).run,
});
