import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Claims } from '../../../src/ledger/claims.ts';
import { FileLooks } from '../../../src/ledger/file-looks.ts';
import { Files } from '../../../src/ledger/files.ts';
import { type Begun, makeAudio } from '../../../src/ledger/purchase.ts';
import { Purchases } from '../../../src/ledger/purchases.ts';
import { openSharedStore } from '../../../src/ledger/shared.ts';
import { readPostgresUrl } from '../../../src/lib/postgres-url.ts';
import { freshFolder } from '../../support/files.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';

describe.skipIf(!postgresFolder)('a ledger in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('takes an order', async () => {
    const address = readPostgresUrl(await server.newDatabase(), {});
    const account = { name: 'default', isChosen: false, baseUrl: undefined };
    const db = await openSharedStore({
      ...{ address, account, timeoutMs: 5000, queryTimeoutMs: 5000, outcomes: freshFolder() },
      onTrouble: async () => {},
      password: async () => '',
    });
    const context = { db, profile: 'default', hide: (text: string) => text };
    const purchases = new Purchases(context);
    const audio = makeAudio('https://e.example/a.mp3');
    const order = { audios: [audio], skus: ['TRANS14'], names: [], test: false };
    const begun = (await purchases.begin(order, [])) as Begun;
    expect(begun.attempt).toBe(1);
    expect(await purchases.begin(order, [])).toBeUndefined();
    await purchases.markPlaced(begun, order, { id: '77', audiofiles: ['100'], hold: undefined });
    const holders = await new Claims(context).holders(audio.names);
    expect([...holders.values()][0]).toMatchObject({ status: 'placed', order: '77' });
    const files = new Files(context);
    expect(await files.page({}, 10)).toMatchObject([{ id: '100', order_id: '77' }]);
    await files.update({
      id: '100',
      state: 'Delivered',
      title: 'T',
      duration: '12',
      total: 'USD 3.00',
      invoices: ['5'],
      link: '',
      answer: '{}',
      askedAt: new Date().toISOString(),
    });
    expect(await files.count({ states: ['Delivered'] })).toBe(1);
    expect(await files.notDownloaded('txt', '/x')).toEqual(['100']);
    expect(await new FileLooks(context).named(5, [])).toEqual([]);
    await db.close();
  });
});
