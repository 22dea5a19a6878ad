import { command } from '../spec/command.ts';
import { flag, text } from '../spec/options.ts';

export const login = command({
  name: 'login',
  summary: 'Keep the key of your account',
  about:
    'Keeps the key in a profile, after the service has accepted it. The key is read from a hidden prompt, or from ' +
    'stdin where there is no terminal. With --base-url the address is kept with it.',
  options: {
    apiKeyCommand: text(
      '--api-key-command <cmd>',
      'keep a command that prints the key, in place of the key',
      {
        excludes: ['--api-key'],
      },
    ),
    verify: flag('--no-verify', 'keep it without asking the service'),
  },
  examples: [
    ['steno login --base-url https://host/API4', 'asks for the key'],
    ['steno login < key.txt', 'takes it from a file'],
    ['steno login --api-key-command "pass show steno" --profile work', 'leaves it in a password store'],
  ],
  load: async () => (await import('./login.run.ts')).run,
});
