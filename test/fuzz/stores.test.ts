/** The same work on a local and on a shared ledger: each step gives the same answer, and both hold the same in the end. */

import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Budgets } from '../../src/ledger/budgets.ts';
import { Claims } from '../../src/ledger/claims.ts';
import { Downloads } from '../../src/ledger/downloads.ts';
import { FileWatch } from '../../src/ledger/file-watch.ts';
import { Files } from '../../src/ledger/files.ts';
import { Invoices } from '../../src/ledger/invoices.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger, openSharedLedger } from '../../src/ledger/open.ts';
import { type Attempt, OpenAttempts } from '../../src/ledger/open-attempts.ts';
import { type Begun, makeAudio, type NewPurchase } from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { TrackedFiles } from '../../src/ledger/tracked-files.ts';
import { Uploads } from '../../src/ledger/uploads.ts';
import { refundName, upgradeNames } from '../../src/lib/names.ts';
import { readPostgresUrl } from '../../src/lib/postgres-url.ts';
import { inMillionths } from '../support/attempts.ts';
import { freshFolder } from '../support/files.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';
import { linesOf } from '../support/random-ledger.ts';
import { runs, timeLimit } from '../support/runs.ts';
import { hostileText } from './answers.ts';

const namesOf = (url: string, key: string | undefined): readonly string[] => makeAudio(url, key).names;
const asItIs = (text: string): string => text;

/** A ledger, and the purchases that were begun in it: each side has other ids and numbers. */
interface Side {
  readonly ledger: Ledger;
  readonly sent: Array<{ readonly begun: Begun; readonly purchase: NewPurchase }>;
}

type Step = (side: Side) => Promise<unknown>;

const url = fc.constantFrom(
  'https://h.example/1',
  'https://h.example/2?utm_source=x',
  'https://ü.example/ä',
  'https://h.example/3',
);
const text = fc.oneof(fc.constantFrom('', 'x', '7', '9007199254740993'), hostileText);
const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('1', '2', '3', '9007199254740993', 'ü', 'x y', '1 ') },
  hostileText,
);
const cost = fc.option(fc.record({ millionths: fc.nat(9_000_000), currency: fc.constantFrom('', 'USD') }), {
  nil: undefined,
});
const order: fc.Arbitrary<NewPurchase> = fc.record({
  audios: fc
    .uniqueArray(
      fc.tuple(
        url,
        fc.option(fc.oneof(fc.constantFrom('k', 'K', 'é', 'e\u0301'), hostileText), {
          nil: undefined,
          freq: 4,
        }),
        cost,
      ),
      {
        minLength: 1,
        maxLength: 3,
        selector: ([address, key]) => `${address} ${key}`,
      },
    )
    .map((all) =>
      all.map(([address, key, price]) => ({
        ...{ url: address, key, cost: price },
        names: namesOf(address, key),
      })),
    ),
  skus: fc.constantFrom(['TRANS14'], ['TRANS2', 'TSTMP1']),
  names: fc.array(text, { maxLength: 2 }),
  notes: fc.option(text, { nil: undefined }),
  via: fc.constantFrom('', 'POST /order_url'),
  test: fc.boolean(),
});
/** An upgrade or a refund of one file. */
const change: fc.Arbitrary<NewPurchase> = fc
  .record({
    kind: fc.constantFrom('upgrade' as const, 'refund' as const),
    file: id,
    cost,
    test: fc.boolean(),
  })
  .map(({ kind, file, cost: price, test }) => {
    const skus = kind === 'upgrade' ? ['TSTMP1'] : [];
    const names = kind === 'upgrade' ? upgradeNames(file, skus) : [refundName(file)];
    return { kind, audios: [{ url: '', names, file, cost: price }], skus, names: [], test };
  });
const which = fc.nat(6);
const pick = ({ sent }: Side, n: number): Side['sent'][number] | undefined => sent[n % sent.length];

const attemptAt = async (side: Side, n: number): Promise<Attempt | undefined> => {
  const { begun } = pick(side, n) ?? {};
  return begun && new OpenAttempts(side.ledger).get(begun.attempt);
};

/** By name, so that a failure says what was done. */
const steps: Readonly<Record<string, fc.Arbitrary<Step>>> = {
  begin: fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: order }, change),
      fc.oneof(fc.constant('any' as const), fc.array(which, { maxLength: 2 })),
      fc.option(fc.record({ millionths: fc.nat(12_000_000).map(String), allowsUnknown: fc.boolean() })),
    )
    .map(([purchase, from, limit]) => async (side: Side) => {
      const takeOver = from === 'any' ? from : from.map((n) => pick(side, n)?.begun.id ?? '');
      const limits = limit === null ? [] : [{ ...limit, since: '2020-01-01T00:00:00.000Z' }];
      const begun = await new Purchases(side.ledger).begin(purchase, takeOver, limits);
      if (begun === undefined) return 'held';
      side.sent.push({ begun, purchase });
      return 'begun';
    }),
  placed: fc
    .tuple(
      which,
      fc.record({
        id: fc.oneof({ weight: 4, arbitrary: id }, fc.constant('')),
        audiofiles: fc.array(id, { maxLength: 3 }),
        hold: fc.option(text, { nil: undefined }),
      }),
    )
    .map(([n, placed]) => async ({ ledger, ...side }: Side) => {
      const { begun, purchase } = pick({ ledger, ...side }, n) ?? {};
      if (!begun || !purchase) return undefined;
      return purchase.kind === undefined
        ? new Purchases(ledger).markPlaced(begun, purchase, placed)
        : new Purchases(ledger).markDone(begun, purchase);
    }),
  refused: fc.tuple(which, text).map(([n, detail]) => async (side: Side) => {
    const { begun, purchase } = pick(side, n) ?? {};
    if (begun && purchase) await new Purchases(side.ledger).markRefused(begun, purchase, detail);
  }),
  uncertain: fc.tuple(which, text).map(([n, detail]) => async (side: Side) => {
    const { begun, purchase } = pick(side, n) ?? {};
    if (begun && purchase) await new Purchases(side.ledger).markUncertain(begun, purchase, detail);
  }),
  renew: which.map((n) => async (side: Side) => {
    const { begun, purchase } = pick(side, n) ?? {};
    return begun && purchase && new Purchases(side.ledger).renew(begun, purchase);
  }),
  settle: fc
    .tuple(which, fc.option(id), fc.array(id, { maxLength: 2 }))
    .map(([n, as, files]) => async (side: Side) => {
      const attempt = await attemptAt(side, n);
      if (!attempt || as === null) return attempt && new OpenAttempts(side.ledger).settleNotPlaced(attempt);
      return new OpenAttempts(side.ledger).settlePlaced(
        attempt,
        as,
        files.map((each) => ({ id: each, position: undefined, known: false })),
      );
    }),
  reopen: which.map((n) => async (side: Side) => {
    const attempt = await attemptAt(side, n);
    return attempt && new OpenAttempts(side.ledger).reopen(attempt);
  }),
  track: fc
    .record({ id, order: id, link: fc.oneof(url, text), names: text, notes: text })
    .map((file) => (side: Side) => new TrackedFiles(side.ledger).add(file)),
  answers: fc
    .array(
      fc.record({
        id,
        state: fc.oneof(fc.constantFrom('Delivered', 'Transcribing', 'Refunded', 'On Hold'), text),
        title: text,
        duration: fc.constantFrom('', '12', '12.5'),
        total: fc.constantFrom('', '0', '3.00', 'USD 4.50'),
        invoices: fc.array(fc.constantFrom('5', '6')),
        link: fc.oneof(url, text),
        answer: text,
        askedAt: fc.constantFrom('2020-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'),
      }),
      { maxLength: 3 },
    )
    .map((seen) => (side: Side) => new Files(side.ledger).updateMany(seen)),
  event: fc
    .record({
      event: fc.constantFrom(
        'TRANSCRIPT_COMPLETE',
        'REFUND_ISSUED',
        'DIFFICULT_AUDIO',
        'DUPLICATE_FILE',
        'CC_AUTH_FAILURE',
        'ORDER_ON_HOLD',
        'NEW',
      ),
      audiofile: id,
      order: id,
      files: fc.array(id, { maxLength: 2 }),
      hold: text,
      original: text,
    })
    .map(
      (content) => (side: Side) =>
        side.ledger.transaction((tables) => new FileWatch(tables).applyEvent(content)),
    ),
  download: fc
    .record({
      id,
      ext: fc.constantFrom('txt', 'srt'),
      path: fc.constantFrom('/d/a.txt', '/d/A.TXT', '/d/ä.txt', '/e/a.txt'),
      isDraft: fc.boolean(),
    })
    .map(({ id: file, ext, path, isDraft }) => async (side: Side) => {
      const downloads = new Downloads(side.ledger);
      const before = [await downloads.isOf(file, ext, path), await downloads.isOfAnother(file, ext, path)];
      await downloads.add(file, ext, path, { bytes: 5, sha256: 'abc', isDraft });
      return [before, await downloads.copyAt(file, ext, path), await downloads.pathIn('/d', file, ext)];
    }),
  invoice: fc
    .tuple(
      fc.record({
        ...{
          id: fc.constantFrom('5', '6'),
          ownId: fc.constantFrom('5', '7'),
          state: fc.constantFrom('Paid', 'Due'),
        },
        ...{ isFinal: fc.boolean(), answer: text },
      }),
      fc.array(
        fc.record({
          ...{
            file: id,
            sku: fc.constantFrom('TRANS14', 'TSTMP1', ''),
            currency: fc.constantFrom('', 'USD'),
          },
          amount: fc.option(fc.integer({ min: -3_000_000, max: 9_000_000 })),
        }),
        { maxLength: 3 },
      ),
    )
    .map(
      ([kept, lines]) =>
        (side: Side) =>
          new Invoices(side.ledger).keep(kept, lines),
    ),
  upload: fc.tuple(text, text, url).map(([content, command, to]) => async (side: Side) => {
    await new Uploads(side.ledger).keep(content, command, to);
    return new Uploads(side.ledger).urlOf(content, command);
  }),
  forget: url.map((each) => (side: Side) => new Uploads(side.ledger).forget([each])),
};

const step = fc.oneof(
  ...Object.entries(steps).map(([name, each]) => each.map((work) => ({ name, work, toString: () => name }))),
);

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** What commands ask for; ids and numbers of purchases as they were begun, and no times. */
async function questions({ ledger, sent }: Side): Promise<unknown> {
  const names = [
    'url https://h.example/1',
    'url https://h.example/2',
    'url https://h.example/3',
    'key k',
    'key é',
  ];
  const files = await new Files(ledger).page({}, 50);
  const ids = files.map((file) => file.id);
  const answers = {
    holders: [...(await new Claims(ledger).holders(names))],
    attempts: await new OpenAttempts(ledger).list(),
    begun: await Promise.all(sent.map(({ begun }) => new OpenAttempts(ledger).get(begun.attempt))),
    files: files.map(({ seq, ...file }) => file),
    open: await new Files(ledger).open(),
    toRefresh: (await new Files(ledger).toRefresh()).sort(),
    states: await new Files(ledger).states(),
    invoices: await new Files(ledger).invoices(),
    notDownloaded: await new Files(ledger).notDownloaded('txt', '/d'),
    withNews: (await new Files(ledger).withNews(ids)).sort(),
    downloads: [...(await new Downloads(ledger).forFiles(ids))].map(([file, all]) => [
      file,
      all.map(({ at, ...rest }) => rest),
    ]),
    kept: await new Invoices(ledger).all(),
    spent: (await new Budgets(ledger).spentSince('2020'))
      .map(inMillionths)
      .sort((one, other) => (one.currency < other.currency ? -1 : 1)),
    unpriced: (await new Budgets(ledger).unpriced('2020')).length,
    missing: await Promise.all(['1', '2', 'ü'].map((each) => new OpenAttempts(ledger).missingFiles(each))),
  };
  const ofIds = new Map(sent.map(({ begun }, at) => [begun.id, at]));
  const ofNumbers = new Map(sent.map(({ begun }, at) => [begun.attempt, at]));
  const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID.test(value);
  const numbers = (key: string, value: unknown): unknown => {
    if (key === 'attempt' && typeof value === 'number') return ofNumbers.get(value) ?? 'tracked';
    if (isUuid(value)) return ofIds.get(value) ?? 'tracked';
    return key === 'endedAgoMs' || key === 'by' ? undefined : value;
  };
  return JSON.parse(JSON.stringify(answers, numbers).replace(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, 'T'));
}

describe.skipIf(!postgresFolder)('a local and a shared ledger', () => {
  let server: PostgresServer;
  let address: string;
  const path = join(freshFolder(), 'ledger.db');
  let accounts = 0;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
    address = await server.newDatabase();
  });
  afterAll(() => server?.stop());

  async function sides(): Promise<Side[]> {
    accounts += 1;
    const name = `run ${accounts}`;
    const shared = await openSharedLedger(
      {
        ...{ address: readPostgresUrl(address, {}), account: { name, isChosen: true, baseUrl: undefined } },
        ...{ timeoutMs: 20_000, queryTimeoutMs: 20_000, folder: freshFolder() },
        password: async () => '',
        onTrouble: async () => {},
      },
      asItIs,
    );
    const local = await openLedger(path, name, asItIs);
    return [local, shared].map((ledger) => ({ ledger, sent: [] }));
  }

  it(
    'say the same after any work',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (work) => {
          const both = await sides();
          try {
            for (const { name, work: doIt } of work) {
              const [one, other] = await inBoth(both, doIt);
              expect(other, name).toEqual(one);
            }
            const [one, other] = await inBoth(both, questions);
            expect(other).toEqual(one);
            for (const { ledger } of both) expect((await linesOf(ledger)).length).toBeGreaterThan(0);
          } finally {
            for (const { ledger } of both) await ledger.close();
          }
        }),
        { numRuns: runs(5) },
      );
    },
    timeLimit(60_000),
  );
});

/** What it gives in each of them; an error counts by its message. */
async function inBoth(both: readonly Side[], work: Step): Promise<unknown[]> {
  const given: unknown[] = [];
  for (const side of both)
    given.push(
      await work(side).then(
        (value) => ({ value }),
        (error: Error) => ({ error: error.message }),
      ),
    );
  // Postgres keeps no NUL in a text.
  return JSON.parse(JSON.stringify(given).replaceAll('\\u0000', '\ufffd'));
}
