/** A transcript is on disk before it gets its name, and its name before the ledger knows of it. */
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../../support/ledger.ts';
import { type Call, hasStrace, isSync, trace } from '../../support/strace.ts';

if (!hasStrace) console.warn('strace is not installed: what is synced before it gets its name is not tested');

const CALLS = 'fsync,fdatasync,write,writev,pwrite64,pwritev,pwritev2,link,linkat,rename,renameat,renameat2';

const isWrite = ({ name }: Call): boolean => /^p?write/.test(name);
const isNaming = ({ name }: Call): boolean => /^(link|rename)/.test(name);

/** The hidden file of a call that gives it its name. */
const hiddenName = ({ target, text }: Call): string =>
  basename(/"([^"]*\.steno-part)"/.exec(target + text)?.[1] ?? '');

describe.skipIf(!hasStrace)('each transcript', () => {
  it.each([
    ['transcript', ['transcript', '1', '2', '3', '4', '5', '--format', 'txt,srt', '-o', 'out/']],
    [
      'transcript --force',
      ['transcript', '1', '2', '3', '4', '5', '--format', 'txt,srt', '-o', 'out/', '--force'],
    ],
    ['sync', ['sync', '--download', 'out', '--format', 'txt,srt']],
  ])('of %s is synced between its last write and its name', async (_, args) => {
    const { user, order, states } = await orderingAccount();
    for (const id of ['1', '2', '3', '4', '5']) states.set(id, ['Delivered']);
    await order(...['a', 'b', 'c', 'd', 'e'].map(audio));
    const { calls, code } = await trace(user, args, CALLS);
    expect(code).toBe(0);
    const namings = calls.filter((call) => isNaming(call) && hiddenName(call));
    expect(namings).toHaveLength(10);
    for (const naming of namings) {
      const ofFile = calls.filter(({ target }) => target.includes(hiddenName(naming)));
      const written = ofFile.filter(isWrite).at(-1) as Call;
      const synced = ofFile.find((call) => isSync(call) && call.begun > written.ended);
      expect([hiddenName(naming), (synced?.ended ?? Number.POSITIVE_INFINITY) < naming.begun]).toEqual([
        hiddenName(naming),
        true,
      ]);
      const named = calls.find(
        (call) => isSync(call) && /\/out>/.test(call.target) && call.begun > naming.ended,
      );
      expect(named, 'the folder is synced after it').toBeDefined();
    }
  });
});
