import type { Context } from '../cli/context.ts';
import { masked } from '../lib/mask.ts';
import { noKeyError } from '../settings/key.ts';
import { settingsView } from '../views/settings.ts';

export async function run(context: Context): Promise<void> {
  const { settings } = context;
  const key = await context.key();
  const baseUrl = settings.get('base-url');
  await context.out.show(
    settingsView([
      { name: 'profile', value: settings.profileName, source: settings.profileSource },
      { name: 'base-url', value: baseUrl.value ?? '', source: baseUrl.source },
      { name: 'api-key', value: key ? masked(key.value) : '', source: key?.source ?? 'not set' },
    ]),
  );
  if (!key) throw noKeyError(context.env);
}
