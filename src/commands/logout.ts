import { writeProfile } from '../settings/store.ts';
import { command } from '../spec/command.ts';
import { printed } from '../views/outputs.ts';
import { object, text } from '../views/schema.ts';

export const logout = command({
  name: 'logout',
  summary: 'Forget the key of a profile',
  about: 'Forgets the key of the selected profile; its other settings stay. Nothing is sent.',
  examples: [
    ['steno logout', 'forget the key of the default profile'],
    ['steno logout --profile work', 'of another one'],
  ],
  effect: 'local',
  exits: [],
  output: printed(object({ profile: text })),
  async run({ settings, env, out, signal }) {
    const { profileName } = settings;
    await writeProfile(env, profileName, { 'api-key': undefined, 'api-key-command': undefined }, signal);
    out.done(`profile ${profileName} holds no key now`, { profile: profileName });
    if (env.STENO_API_KEY) await out.warn('STENO_API_KEY is still set');
  },
});
