import { command } from '../spec/command.ts';

export const whoami = command({
  name: 'whoami',
  summary: 'Show the key (masked) and where each setting came from',
  about:
    'Shows the profile, the address, the key (masked), the ledger, the account and the budget of the settings, and where ' +
    'each came from. Nothing is sent. Exits with 3 if there is no key.',
  examples: [
    ['steno whoami', 'the settings in use'],
    ['steno whoami --profile work --json | jq -r .ledger', 'for a script'],
  ],
  load: async () => (await import('./whoami.run.ts')).run,
});
