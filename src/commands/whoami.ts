import { command } from '../cli/command-spec.ts';
import { masked } from '../lib/mask.ts';
import { noKeyError } from '../settings/key.ts';

export const whoami = command({
  name: 'whoami',
  summary: 'Show the key (masked) and where each setting came from',
  about:
    'Shows the key (masked) and where each setting came from. Nothing is sent. Exits with 3 if there is no key.',
  examples: [
    ['steno whoami', 'what holds here'],
    ['steno whoami --profile work --json', 'for a script'],
  ],
  async run(context) {
    const { settings } = context;
    const key = await context.key();
    const baseUrl = settings.get('base-url');
    const { settingsView } = await import('../views/settings.ts');
    await context.out.show(
      settingsView([
        { name: 'profile', value: settings.profileName, source: settings.profileSource },
        { name: 'base-url', value: baseUrl.value ?? '', source: baseUrl.source },
        { name: 'api-key', value: key ? masked(key.value) : '', source: key?.source ?? 'not set' },
      ]),
    );
    if (!key) throw noKeyError();
  },
});
