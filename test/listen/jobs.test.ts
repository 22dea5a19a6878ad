/** How many commands run at once, and for whom: forged events must not hold up those of files on order. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { audio, type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { complete, form, Listener } from '../support/listener.ts';

/** Says when it begins and ends; goes on as long as there is a file `hold`. */
const COMMAND = `echo "+$STENO_EVENT_AUDIOFILE$STENO_EVENT_ORDER" >> ran
while [ -e hold ]; do sleep 0.05; done; echo "-$STENO_EVENT_AUDIOFILE$STENO_EVENT_ORDER" >> ran`;

/** The files 1 and 2 on order. */
async function withOrders(): Promise<OrderingAccount & { ran(): string[]; hold(): void; release(): void }> {
  const account = await orderingAccount();
  await account.order(audio('a'), audio('b'));
  const path = (name: string): string => join(account.user.home, name);
  return {
    ...account,
    ran: () => (existsSync(path('ran')) ? readFileSync(path('ran'), 'utf8').trim().split('\n') : []),
    hold: () => writeFileSync(path('hold'), ''),
    release: () => rmSync(path('hold')),
  };
}

it.each([
  [[], 4],
  [['--jobs', '2'], 2],
  [['--jobs', '1'], 1],
])('forged events whose command hangs do not hold up a file on order (%j)', async (flags, jobs) => {
  const { user, ran, hold, release } = await withOrders();
  hold();
  const listener = await Listener.start(user, ['--exec', COMMAND, ...flags]);
  for (let n = 0; n <= jobs; n += 1) await listener.post(complete(`90${n}`, 'none'));
  await listener.post(form({ event: 'CC_AUTH_FAILURE', order: 'made-up' }));
  await listener.until(() => ran().length === jobs);
  await listener.post(complete('1', 'none'));
  await listener.until(() => ran().includes('+1none'));
  expect(ran()).toHaveLength(jobs + 1);
  release();
  await listener.until(() => ran().length === 2 * (jobs + 3));
  await listener.stop();
});

it('--jobs 1 runs one command at a time for files on order, and begins none of another beside it', async () => {
  const { user, ran, hold, release } = await withOrders();
  hold();
  const listener = await Listener.start(user, ['--exec', COMMAND, '--jobs', '1']);
  for (const id of ['1', '2', '900']) await listener.post(complete(id, 'o'));
  await listener.until(() => ran().length === 1);
  release();
  await listener.until(() => ran().length === 6);
  expect(ran()).toEqual(['+1o', '-1o', '+2o', '-2o', '+900o', '-900o']);
  await listener.stop();
});
