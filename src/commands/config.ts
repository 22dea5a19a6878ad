import { meaningOfOrderSku, orderSkus } from '../catalog/skus.ts';
import { settingList, settingNames } from '../settings/settings.ts';
import { type Argument, command } from '../spec/command.ts';

const work = () => import('./config.run.ts');

/** For completion: a price is that of one SKU. */
const values = settingNames.flatMap((name) =>
  name === 'price.<SKU>' ? orderSkus.map(({ sku }) => `price.${sku}`) : [name],
);

const setting: Argument = {
  name: '<setting>',
  help: 'its name, see below',
  values,
  meaning: (name) => settingList.find((each) => each.name === name)?.help ?? meaningOfPrice(name),
};

function meaningOfPrice(name: string): string {
  const about = meaningOfOrderSku(name.slice('price.'.length));
  return about && `price of a minute: ${about}`;
}

/** For completion: what a setting may have as its value. Nothing is offered for a key or a command. */
const valuesAfter: Argument['valuesAfter'] = {
  'base-url': 'base-url',
  ledger: 'ledger',
  account: 'account',
  timeout: ['30s', '1m', '2m', '5m'],
  currency: ['USD', 'EUR', 'GBP'],
};

const details = [settingList.map(({ name, help }) => [name, help] as const)];

const list = command({
  name: 'list',
  summary: 'Show every setting and where it came from',
  examples: [['steno config list', 'the settings in use']],
  load: async () => (await work()).list,
});

const get = command({
  name: 'get',
  summary: 'Show one setting',
  args: [setting],
  details,
  examples: [['steno config get base-url', 'the address in use']],
  load: async () => (await work()).get,
});

const set = command({
  name: 'set',
  summary: 'Keep a setting in the profile',
  args: [
    setting,
    {
      name: '[value]',
      help: 'what to set it to, or - to take it from stdin; on a terminal it is asked for',
      valuesAfter,
    },
  ],
  about:
    'Keeps a setting in the selected profile, which is made if it is new. A flag or a variable goes before it.',
  details,
  examples: [
    ['steno config set base-url https://host/API4', 'the address of the service'],
    ['steno config set timeout 2m --profile slow', 'in a profile of its own'],
  ],
  load: async () => (await work()).set,
});

const unset = command({
  name: 'unset',
  summary: 'Remove a setting from the profile',
  args: [setting],
  details,
  examples: [['steno config unset timeout', 'back to the default']],
  load: async () => (await work()).unset,
});

const path = command({
  name: 'path',
  summary: 'Show where the settings are kept',
  examples: [['steno config path', 'the file']],
  load: async () => (await work()).path,
});

export const config = command({
  name: 'config',
  summary: 'Read and change the settings of a profile',
  about: 'Reads and changes the settings of a profile: the one of --profile or STENO_PROFILE, else default.',
  details,
  children: [list, get, set, unset, path],
  examples: [
    ['steno config list', 'every setting and where it came from'],
    ['steno config set base-url https://host/API4', 'the address of the service'],
  ],
});
