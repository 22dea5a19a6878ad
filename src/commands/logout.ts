import { command } from '../cli/command-spec.ts';
import { writeProfile } from '../settings/store.ts';

export const logout = command({
  name: 'logout',
  summary: 'Forget the key of a profile',
  examples: [
    ['steno logout', 'forget the key of the default profile'],
    ['steno logout --profile work', 'of another one'],
  ],
  async run(context) {
    const { profileName } = context.settings;
    await writeProfile(context.env, profileName, { 'api-key': undefined, 'api-key-command': undefined });
    context.out.done(`profile ${profileName} holds no key now`, { profile: profileName });
    if (context.env.STENO_API_KEY) await context.out.warn('STENO_API_KEY is still set');
  },
});
