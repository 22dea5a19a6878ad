/** What guards money and secrets, and the tests that hold it. */
export interface Target {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

/** Tests that start the program and order something. */
const ordering = [
  ...tests('test/ledger', 'durable'),
  ...tests('test/flows/orders', 'answers attempts being-sent budget place same-audio stopped unclear-rows'),
];

export const targets: readonly Target[] = [
  {
    sources: [
      ...named('src/ledger', 'purchases claims purchase-table open-attempts purchase budgets lease moved'),
      ...named('src/ledger', 'ordered-files waiting upgrades'),
    ],
    tests: [
      ...tests(
        'test/ledger',
        'attempts attempt-ends purchases lost-commits ordered-files audio-names waiting',
      ),
      ...ordering,
    ],
  },
  {
    sources: named('src/flows/orders', 'place guard sending'),
    tests: [...tests('test/flows/orders', 'place-one guard sent-orders'), ...ordering],
  },
  {
    sources: named('src/lib', 'names signatures'),
    tests: [
      ...tests('test/lib', 'names audio-identity signed-links'),
      ...tests('test/ledger', 'properties audio-names'),
    ],
  },
  {
    sources: [...named('src/ledger', 'bill dump-tables'), ...named('src/ledger/dump', 'merge derive')],
    tests: tests('test/ledger', 'bill merge dump records'),
  },
  {
    sources: named('src/lib', 'mask'),
    tests: tests('test/lib', 'mask mask-examples'),
  },
];

function named(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `${folder}/${name}.ts`);
}

function tests(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `${folder}/${name}.test.ts`);
}
