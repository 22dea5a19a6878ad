/** `ledger prune` and `ledger copy` killed at each step: no order is forgotten, and what was begun can be ended. */
import { describe, expect } from 'vitest';
import { audio } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { longOnly } from '../support/slices.ts';
import { isShared } from '../support/store.ts';
import { type Place, run, STORE } from './place.ts';
import { type Crash, sweep, TIME_LIMIT_MS } from './sweep.ts';
import { canTrace } from './traced.ts';

const orderOf = (name: string): string[] => ['order', audio(name), '--sku', 'TRANS14', '--quiet'];

const count = (place: Place, table: string): number =>
  Number(place.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n);

/** More than are removed in one transaction. */
const OLD_EVENTS = 1_100;

const COLUMNS = 'profile, source, remote, content_type, body, event, version, audiofile, order_id';

/** Events that came through a listener, one of them new. */
async function receiveEvents(place: Place): Promise<void> {
  const listener = await Listener.start(place.user, ['--exec', 'true', '--quiet']);
  for (const id of ['1', '2']) expect((await listener.post(complete(id))).status).toBe(200);
  await listener.until(() => place.rows("SELECT 1 FROM actions WHERE status = 'done'").length === 2);
  await listener.stop();
}

/** And many old ones. */
function addOldEvents(place: Place): void {
  const old = "'2020-01-01T00:00:00.000Z'";
  place.rows(`UPDATE events SET received_at = ${old} WHERE audiofile = '1'`);
  place.rows(
    `INSERT INTO events (${COLUMNS}, received_at)
     SELECT ${COLUMNS}, ${old} FROM events CROSS JOIN (
       WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${OLD_EVENTS})
       SELECT n FROM numbers) AS each WHERE audiofile = '1'`,
  );
}

const prune = ['ledger', 'prune', '--before', '30d', '--yes', '--quiet'];

/**
 * After a prune was killed: what is not due is there, and so is every order. The same prune once more ends well and
 * removes the rest, with their actions.
 */
async function checkPruned({ place, service }: Crash): Promise<void> {
  const events = place.rows<{ audiofile: string }>("SELECT audiofile FROM events WHERE audiofile = '2'");
  expect(events).toHaveLength(1);
  expect([count(place, 'purchases'), count(place, 'files')]).toEqual([1, 1]);
  await run(place, prune, [0]);
  const left = ['events', 'actions', 'purchases', 'files'].map((table) => count(place, table));
  expect(left).toEqual([1, 1, 1, 1]);
  await run(place, orderOf('a'), [9]);
  expect(service.sold(audio('a'))).toEqual([]);
}

describe.skipIf(!canTrace)(`ledger prune, killed at each step, with ${STORE}`, () => {
  longOnly('loses nothing that is not due', { timeout: TIME_LIMIT_MS }, () =>
    sweep('ledger prune', {
      args: prune,
      prepare: async (place) => {
        await run(place, orderOf('a'), [0]);
        await receiveEvents(place);
        addOldEvents(place);
      },
      check: checkPruned,
    }),
  );
});

const copyTo = (target: string): string[] => ['ledger', 'copy', '--to', target, '--quiet'];

/** Which of the two ledgers a person orders with. */
async function orderWith(
  place: Place,
  which: 'local' | 'shared',
  name: string,
): Promise<{ code: number; stderr: string }> {
  if (which === 'local') place.useLocal();
  else place.useShared();
  const { code, stderr } = await run(place, orderOf(name), [2, 9]);
  return { code: code ?? -1, stderr };
}

const rowsOf = (place: Place): number[] =>
  ['purchases', 'purchase_items', 'files', 'item_names', 'events'].map((table) => count(place, table));

/**
 * After a move was killed: the local ledger has all its rows. It stops a second order by what it knows (9) or because it
 * has moved (2); only where it names the shared ledger as the one to use does that one know every order, and stop it as
 * well. The copy once more ends well, and brings everything.
 */
async function checkMoved(before: readonly number[], { place, service }: Crash): Promise<void> {
  place.useLocal();
  expect(rowsOf(place)).toEqual(before);
  const { code, stderr } = await orderWith(place, 'local', 'a');
  if (code === 2 && stderr.includes('use the shared one')) await orderWith(place, 'shared', 'b');
  else if (code === 2) expect(stderr).toContain(`finish it with the same settings: steno ledger copy --to`);
  place.useLocal();
  await run(place, copyTo(place.url), [0]);
  expect((await orderWith(place, 'local', 'a')).stderr).toContain('use the shared one');
  expect((await orderWith(place, 'shared', 'a')).code).toBe(9);
  expect(rowsOf(place)).toEqual(before);
  expect(['a', 'b'].flatMap((name) => service.sold(audio(name)))).toEqual([]);
}

/**
 * After the way back was killed: the shared ledger stops a second order, by what it knows or because the local one has
 * orders again, and the local one does so too, or says that it has moved. The copy once more ends well, and the local one
 * knows every order.
 */
async function checkBroughtBack({ place, service }: Crash): Promise<void> {
  await orderWith(place, 'shared', 'b');
  await orderWith(place, 'local', 'b');
  place.useShared();
  await run(place, copyTo('local'), [0]);
  for (const name of ['a', 'b']) expect((await orderWith(place, 'local', name)).code).toBe(9);
  expect(['a', 'b'].flatMap((name) => service.sold(audio(name)))).toEqual([]);
}

describe.skipIf(!canTrace || !isShared)('ledger copy, killed at each step', () => {
  longOnly('to a shared ledger lets nothing be bought twice', { timeout: TIME_LIMIT_MS }, () => {
    let before: number[] = [];
    return sweep('ledger copy to a shared ledger', {
      args: (place) => copyTo(place.url),
      prepare: async (place) => {
        place.useLocal();
        for (const name of ['a', 'b']) await run(place, orderOf(name), [0]);
        await receiveEvents(place);
        before = rowsOf(place);
      },
      check: (crash) => checkMoved(before, crash),
    });
  });

  longOnly('to the local ledger lets nothing be bought twice', { timeout: TIME_LIMIT_MS }, () =>
    sweep('ledger copy to the local ledger', {
      args: copyTo('local'),
      prepare: async (place) => {
        place.useLocal();
        await run(place, orderOf('a'), [0]);
        await run(place, copyTo(place.url), [0]);
        place.useShared();
        await run(place, orderOf('b'), [0]);
      },
      check: checkBroughtBack,
    }),
  );
});
