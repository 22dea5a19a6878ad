/** Commands that the system can't start for lack of descriptors, processes or memory: they run once it can. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { User } from '../support/steno.ts';

const linesOf = ({ home }: User, name: string): string[] => {
  const path = join(home, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

const limit = ({ child }: Listener, what: string): void =>
  void execFileSync('prlimit', ['--pid', String(child.pid), what]);

/** Writes which event it is for and which try this is; goes on as long as there is a file `hold`. */
const COMMAND =
  'echo "$STENO_EVENT_AUDIOFILE $STENO_EVENT_TRY" >> ran; while [ -e hold ]; do sleep 0.05; done';

describe.runIf(process.platform === 'linux')('a command that could not be started', () => {
  it('is tried again, and that was its first run (no free descriptor)', async () => {
    const user = new User();
    writeFileSync(join(user.home, 'hold'), '');
    const listener = await Listener.start(user, ['--exec', COMMAND, '--jobs', '1']);
    await listener.post(complete('1'));
    await listener.until(() => linesOf(user, 'ran').length === 1);
    for (const id of ['2', '3']) await listener.post(complete(id));
    limit(listener, '--nofile=8:4096');
    rmSync(join(user.home, 'hold'));
    await listener.until(() => /too many files are open/.test(listener.stderr));
    expect(listener.stderr).not.toMatch(/failed:/);
    limit(listener, '--nofile=4096:4096');
    await listener.until(() => linesOf(user, 'ran').length === 3);
    expect(linesOf(user, 'ran').sort()).toEqual(['1 1', '2 1', '3 1']);
    await listener.stop();
    expect(listener.stderr).not.toMatch(/TypeError|left for the next listen/);
  });
});

/**
 * No program can be started while there is a file `none`. As Node does it: where memory is short it throws, and without a
 * free descriptor it makes no streams.
 */
function startsNone({ home }: User, code: 'ENOMEM' | 'EMFILE'): Record<string, string> {
  const preload = join(home, 'none.cjs');
  writeFileSync(
    preload,
    `const { ChildProcess } = require('node:child_process');
const { existsSync } = require('node:fs');
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  if (!existsSync('none')) return spawn.call(this, options);
  const error = Object.assign(new Error('spawn /bin/sh ${code}'), { code: '${code}', errno: -1, syscall: 'spawn' });
  if ('${code}' === 'ENOMEM') throw error;
  process.nextTick(() => this.emit('error', error));
  return -1;
};`,
  );
  writeFileSync(join(home, 'none'), '');
  return { NODE_OPTIONS: `--require ${preload}` };
}

const shortages = [
  ['ENOMEM', 'there is not enough memory'],
  ['EMFILE', 'too many files are open'],
] as const;

describe.each(shortages)('where nothing can be started (%s)', (code, reason) => {
  it('listen --exec leaves it to the next listen, as its first try', async () => {
    const user = new User();
    const env = startsNone(user, code);
    const first = await Listener.start(user, ['--exec', COMMAND, '--count', '1'], { env });
    await first.post(complete('1'));
    expect((await first.ended).stderr).toMatch(new RegExp(`does not work: can't start: ${reason}`));
    expect(first.stderr).toMatch(/1 \w+ left for the next listen/);
    const second = await Listener.start(user, ['--exec', COMMAND]);
    await second.until(() => linesOf(user, 'ran').length === 1);
    await second.stop();
    expect(linesOf(user, 'ran')).toEqual(['1 1']);
  });

  it('sync --exec leaves the transcript waiting', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const sync = ['sync', '--download', 'd', '--exec', COMMAND];
    const failed = await user.run(sync, { env: startsNone(user, code) });
    expect([failed.code, linesOf(user, 'ran')]).toEqual([1, []]);
    expect(failed.stderr).toMatch(new RegExp(`can't start: ${reason}`));
    rmSync(join(user.home, 'none'));
    expect((await user.run(sync)).code).toBe(0);
    expect(linesOf(user, 'ran')).toHaveLength(1);
  });

  it('an upload fails plainly, and nothing is ordered', async () => {
    const { user, service } = await orderingAccount();
    await user.run(['config', 'set', 'upload-command', 'echo https://example.com/a.mp3 "$1" >&2']);
    writeFileSync(join(user.home, 'a.mp3'), Buffer.from('ID3\u0004\0\0\0\0'));
    const { code: exit, stderr } = await user.run(['order', 'a.mp3', '--sku', 'TRANS14'], {
      env: startsNone(user, code),
    });
    expect([exit, stderr]).toEqual([1, expect.stringMatching(`can't run the upload command: ${reason}`)]);
    expect(service.got.filter(({ path }) => path.includes('order'))).toEqual([]);
  });
});
