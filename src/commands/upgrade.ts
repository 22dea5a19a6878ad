import { meaningOfUpgradeSku, speedUpgradeSkus, upgradeSkus } from '../catalog/skus.ts';
import { command } from '../spec/command.ts';
import { flag, idsFrom, list } from '../spec/options.ts';

export const upgrade = command({
  name: 'upgrade',
  summary: 'Upgrade files',
  about:
    'Upgrades files: faster, with timestamps, and so on. Each upgrade costs money, is sent once, and is in the ledger ' +
    'before it is sent. A delivered file is then open again until it is delivered again.',
  details: [
    'Where an earlier try had no clear answer, or another process is sending the same, it exits 9: see steno attempts.',
    'Several files are upgraded one after the other, if a budget covers all of them; on a terminal it asks first. One that ' +
      'is refused is listed, and the others go on; one without a clear answer ends the run, which names what was not sent.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    from: idsFrom(),
    sku: list('--sku <SKU…>', 'the upgrades', {
      values: upgradeSkus.map((each) => each.sku),
      meaning: meaningOfUpgradeSku,
      onlyOneOf: speedUpgradeSkus,
    }),
    anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
    yes: flag('-y, --yes', 'do not ask before several are upgraded'),
    test: flag('--test', 'ask for a fake success; only for audiofiles 100 and 101'),
    again: flag('--again', 'send it though an earlier try had no clear answer'),
    unpriced: flag('--unpriced', 'under a budget, allow an unknown cost'),
  },
  examples: [
    ['steno upgrade 12345 --sku UPGRD2', 'from TRANS14 to TRANS2'],
    ['steno upgrade 12345 --sku TSTMP1,CAPTION1', 'add timestamps and captions'],
    ['steno ls --order 4nX --quiet | steno upgrade --from - --sku TSTMP1', 'all files of an order'],
    ['steno upgrade 100 --sku TSTMP1 --test', 'try it'],
  ],
  load: async () => (await import('./upgrade.run.ts')).run,
});
