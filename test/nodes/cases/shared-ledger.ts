import { expect, inject, it } from 'vitest';
import { complete, eventsOf, Listener } from '../../support/listener.ts';
import { hasPostgres } from '../../support/postgres-programs.ts';
import type { NodeUnderTest, NodeUser } from '../node-user.ts';

let schemas = 0;

/** Users of one new ledger in PostgreSQL. */
export function newSharedLedger(): string {
  schemas += 1;
  return `${inject('postgres')}?schema=nodes_${process.pid}_${schemas}`;
}

export function sharedLedger(node: NodeUnderTest): void {
  const cases = it.skipIf(!hasPostgres && !process.env.CI);

  cases('knows on one machine what was ordered on another', async () => {
    const STENO_LEDGER = newSharedLedger();
    const [one, other] = [node.newUser({ STENO_LEDGER }), node.newUser({ STENO_LEDGER })];
    const id = await node.order('shared', one);
    expect(await other.json('files')).toMatchObject([{ audiofile: id }]);
    await other.exits(9, 'order https://example.com/shared.mp3 --sku TRANS14');
    expect((await other.ok('ledger status')).stdout).toMatch(/^store\tpostgres$/m);
  });

  cases('takes a local ledger over, and gives it back', async () => {
    const STENO_LEDGER = newSharedLedger();
    const local = node.newUser();
    const id = await node.order('copied', local);
    await local.ok(`ledger copy --to ${STENO_LEDGER}`);
    const team = node.newUser({ STENO_LEDGER });
    expect(await team.json('files')).toMatchObject([{ audiofile: id }]);
    await team.ok('ledger copy --to local');
    expect(await node.newUser({ STENO_STATE_DIR: team.env.STENO_STATE_DIR }).json('files')).toMatchObject([
      { audiofile: id },
    ]);
  });

  cases('keeps events', async () => {
    const user: NodeUser = node.newUser({ STENO_LEDGER: newSharedLedger() });
    const listener = await Listener.start(user);
    expect((await listener.post(complete('1001'))).status).toBe(200);
    await listener.until(() => listener.lines.length === 1);
    await listener.stop();
    expect(await eventsOf(user)).toMatchObject([{ event: 'TRANSCRIPT_COMPLETE', audiofile: '1001' }]);
  });

  cases('exits 7 before it orders where the ledger can not be reached', async () => {
    const user = node.newUser({ STENO_LEDGER: 'postgres://steno@127.0.0.1:9/steno' });
    const { stderr } = await user.exits(7, 'order https://example.com/away.mp3 --sku TRANS14');
    expect(stderr).toContain('127.0.0.1:9');
  });
}
