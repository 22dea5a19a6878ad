import type { Context } from '../cli/context.ts';
import { masked } from '../lib/mask.ts';
import { shownPostgresUrl } from '../lib/postgres-url.ts';
import { noKeyError } from '../settings/key.ts';
import { ledgerPath, stateFolder } from '../settings/paths.ts';
import { type ShownSetting, whoamiView } from '../views/setup.ts';

export async function run(context: Context): Promise<void> {
  const { settings } = context;
  const key = await context.key();
  const baseUrl = settings.get('base-url');
  const { account } = settings;
  const budget = settings.get('budget');
  await context.out.show(
    whoamiView([
      { name: 'profile', value: settings.profileName, source: settings.profileSource },
      { name: 'base-url', value: baseUrl.value ?? '', source: baseUrl.source },
      { name: 'api-key', value: key ? masked(key.value) : '', source: key?.source ?? 'not set' },
      ledgerOf(context),
      { name: 'account', value: account.value ?? '', source: account.source },
      { name: 'budget', value: budget.value ?? '', source: budget.source },
    ]),
  );
  if (!key) throw noKeyError(context.env);
}

/** The file where none is shared; the password of a URL is masked. */
function ledgerOf(context: Context): ShownSetting {
  const { sharedLedger, settings, env } = context;
  if (sharedLedger === undefined)
    return { name: 'ledger', value: ledgerPath(stateFolder(env)), source: 'this machine' };
  return { name: 'ledger', value: shownPostgresUrl(sharedLedger), source: settings.get('ledger').source };
}
