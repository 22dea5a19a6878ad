import { meaningOfUpgradeSku, speedUpgradeSkus, upgradeSkus } from '../catalog/skus.ts';
import { command } from '../cli/command-spec.ts';
import { flag, list } from '../cli/options.ts';

export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade a file',
  about:
    'Upgrades a file: faster, with timestamps, and so on. It costs money, is sent once, and is in the ledger before it ' +
    'is sent. A delivered file is then open again until it is delivered again.',
  details: [
    'Where an earlier try had no clear answer, or another process is sending the same, it exits 9: see steno attempts.',
  ],
  args: [{ name: '<id>', help: 'audiofile id', values: 'audiofile' }],
  options: {
    sku: list('--sku <SKU…>', 'the upgrades', {
      values: upgradeSkus.map((each) => each.sku),
      meaning: meaningOfUpgradeSku,
      onlyOneOf: speedUpgradeSkus,
    }),
    anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
    test: flag('--test', 'ask for a fake success; only for audiofiles 100 and 101'),
    again: flag('--again', 'send it though an earlier try had no clear answer'),
    unpriced: flag('--unpriced', 'under a budget, allow an unknown cost'),
  },
  examples: [
    ['steno upgrade 12345 --sku UPGRD2', 'from TRANS14 to TRANS2'],
    ['steno upgrade 12345 --sku TSTMP1,CAPTION1', 'add timestamps and captions'],
    ['steno upgrade 100 --sku TSTMP1 --test', 'try it'],
  ],
  load: async () => (await import('./upgrade.run.ts')).run,
});
