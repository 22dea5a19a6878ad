/** Texts of the service that no database keeps as they are: a NUL, and half of a surrogate pair. */
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Claims } from '../../src/ledger/claims.ts';
import { Files } from '../../src/ledger/files.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger, openSharedLedger } from '../../src/ledger/open.ts';
import { makeAudio } from '../../src/ledger/purchase.ts';
import { Purchases } from '../../src/ledger/purchases.ts';
import { readPostgresUrl } from '../../src/lib/postgres-url.ts';
import { beginFree } from '../support/attempts.ts';
import { freshFolder } from '../support/files.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';

const asItIs = (text: string): string => text;
let server: PostgresServer | undefined;
afterAll(() => server?.stop());

const stores: Readonly<Record<string, () => Promise<Ledger>>> = {
  local: () => openLedger(join(freshFolder(), 'ledger.db'), 'default', asItIs),
  shared: async () => {
    server = await startPostgres(['fsync = off']);
    const address = readPostgresUrl(await server.newDatabase(), {});
    const account = { name: 'default', isChosen: true, baseUrl: undefined };
    const limits = { timeoutMs: 20_000, queryTimeoutMs: 20_000, folder: freshFolder() };
    const rest = { password: async () => '', onTrouble: async () => {} };
    return openSharedLedger({ address, account, ...limits, ...rest }, asItIs);
  },
};

describe.each(Object.entries(stores))('a %s ledger', (name, open) => {
  it.skipIf(name === 'shared' && !postgresFolder)(
    'keeps an order whose ids hold them, and takes none of these for another id',
    async () => {
      const ledger = await open();
      const ids = ['1\u0000x', '1\ud800', '1'];
      const audios = ids.map((id) => makeAudio('https://h.example/a.mp3', `key ${id}`));
      const order = { audios, skus: ['TRANS14'], names: [], test: false };
      const begun = await beginFree(ledger, order);
      await new Purchases(ledger).markPlaced(begun, order, { id: '7', audiofiles: ids, hold: undefined });
      const kept = ['1\ufffdx', '1\ufffd', '1'];
      expect((await new Files(ledger).ofOrder('7')).map(({ id }) => id)).toEqual(kept);
      expect([...(await new Files(ledger).getAll(ids)).keys()].sort()).toEqual([...kept].sort());
      expect(await new Purchases(ledger).begin(order, [])).toBeUndefined();
      const holders = await new Claims(ledger).holders(audios.flatMap(({ names }) => names));
      expect([...holders.values()].map(({ order: id }) => id)).toEqual(['7', '7', '7']);
      await ledger.close();
    },
  );
});
