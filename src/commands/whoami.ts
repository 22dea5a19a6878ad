import { masked } from '../lib/mask.ts';
import { shownPostgresUrl } from '../lib/postgres-url.ts';
import { noKeyError } from '../settings/key.ts';
import { command } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { printed } from '../views/record.ts';
import { described, maybeText, object, text } from '../views/schema.ts';
import { type ShownSetting, settingRecord, whoamiView } from '../views/setup.ts';

const members = {
  profile: text,
  base_url: maybeText,
  api_key: described('masked', maybeText),
  ledger: described('URL of the shared ledger, or path of the local one', text),
  account: described('account name in a shared ledger', text),
  budget: described('budget in the settings; for the one in the ledger, see steno budget', maybeText),
};
const whoamiSchema = () =>
  object({
    ...members,
    sources: described(
      'where each value came from',
      object(Object.fromEntries(Object.keys(members).map((name) => [name, text]))),
    ),
  });

export const whoami = command({
  name: 'whoami',
  summary: 'Show which profile, key (masked) and settings are in use',
  about:
    'Shows the profile, base URL, key (masked), ledger, account and budget setting, and where each came from. ' +
    'Nothing is sent. Exits with 3 if there is no key.',
  examples: [
    ['steno whoami', 'the settings in use'],
    ['steno whoami --profile work --json | jq -r .ledger', 'for a script'],
  ],
  effect: 'read',
  exits: ['auth'],
  output: () => printed(whoamiSchema(), settingRecord.columnHelp),
  async run(context) {
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
  },
});

/** The file where none is shared; the password of a URL is masked. */
function ledgerOf(context: Context): ShownSetting {
  const { sharedUrl, localPath } = context.ledgers;
  if (sharedUrl === undefined) return { name: 'ledger', value: localPath, source: 'this machine' };
  return {
    name: 'ledger',
    value: shownPostgresUrl(sharedUrl),
    source: context.settings.get('ledger').source,
  };
}
