/** A disk that is nearly full is said to be so before it is full: once a run, by what keeps things. */
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';

const WARNING =
  /warning: the disk of the ledger is nearly full: \d+ MB left for \S+\nhint: free space, [^\n]*\n/g;

it('a disk that has room is not warned of', async () => {
  const { order } = await orderingAccount();
  const { code, stderr } = await order(audio('a'));
  expect([code, stderr]).toEqual([0, expect.not.stringMatching(WARNING)]);
});

describe('a disk that is nearly full', () => {
  it.skipIf(!canMount)('is warned of once by order, sync and listen, which go on', async (context) => {
    const { user, order } = await orderingAccount();
    expect((await order(audio('a'))).code).toBe(0);
    const disk = SmallDisk.mount(user, 160);
    if (!disk) return context.skip('no disk can be mounted here');
    const roomy = await order(audio('b'));
    expect([roomy.code, roomy.stderr]).toEqual([0, '']);
    disk.fill(60 * 1024);
    const ordered = await order(audio('c'));
    expect([ordered.code, ordered.stderr.match(WARNING)?.length]).toEqual([0, 1]);
    const synced = await user.run(['sync', '--download', 'd', '--quiet']);
    expect([synced.code, synced.stderr.match(WARNING)?.length]).toEqual([0, 1]);
    const listener = await Listener.start(user);
    expect((await listener.stop()).stderr.match(WARNING)).toHaveLength(1);
    const json = await user.run(['sync', '--json']);
    expect(JSON.parse(json.stderr)).toMatchObject({
      warning: { message: expect.stringMatching(/nearly full/) },
    });
    // What keeps nothing says nothing, and neither does a run without the ledger.
    expect((await user.run(['files'])).stderr).toBe('');
    expect((await order(audio('d'), '--no-ledger')).stderr).toBe('');
    disk.free();
    expect((await order(audio('e'))).stderr).toBe('');
  });
});
