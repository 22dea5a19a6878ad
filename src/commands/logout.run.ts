import { writeProfile } from '../settings/store.ts';
import type { Context } from '../spec/context.ts';

export async function run({ settings, env, out, signal }: Context): Promise<void> {
  const { profileName } = settings;
  await writeProfile(env, profileName, { 'api-key': undefined, 'api-key-command': undefined }, signal);
  out.done(`profile ${profileName} holds no key now`, { profile: profileName });
  if (env.STENO_API_KEY) await out.warn('STENO_API_KEY is still set');
}
