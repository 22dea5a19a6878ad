/** A pipe, a socket or a device under a transcript's name in a folder is refused. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Account, account, fileAnswer } from '../../support/account.ts';
import { audio, orderingAccount } from '../../support/ledger.ts';
import { complete, Listener } from '../../support/listener.ts';
import type { User } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

async function serving(count = 5): Promise<Account> {
  const made = await account();
  for (let id = 1; id <= count; id += 1) {
    made.service.allow(`GET /audiofile/${id}`, fileAnswer(id));
    made.service.allow(`POST /audiofile/${id}/transcript.txt`, { body: 'Hello.' });
  }
  mkdirSync(join(made.user.home, 'd'));
  return made;
}

const fifo = (user: User, name: string): void => {
  execFileSync('mkfifo', [join(user.home, name)]);
};

const refusal = (name: string): string => `can't write ${name}: it is not a regular file`;

describe.concurrent('transcript, in a folder', () => {
  it.each([[], ['--force'], ['--skip-existing'], ['--timeout', '3s']])(
    'refuses a pipe %s',
    async (...flags) => {
      const { service, user } = await serving();
      fifo(user, 'd/5.txt');
      const { code, stderr } = await user.run(['transcript', '5', '-o', 'd', ...flags]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(refusal('d/5.txt'))]);
      expect(service.calls('POST /audiofile/5/transcript.txt')).toHaveLength(0);
      expect(lstatSync(join(user.home, 'd/5.txt')).isFIFO()).toBe(true);
    },
  );

  it('refuses links to devices and to pipes, and a socket', async () => {
    const { user } = await serving();
    symlinkSync('/dev/null', join(user.home, 'd/1.txt'));
    symlinkSync('/dev/full', join(user.home, 'd/2.txt'));
    fifo(user, 'pipe');
    symlinkSync('../pipe', join(user.home, 'd/3.txt'));
    const socket = createServer().listen(join(user.home, 'd/4.txt'));
    await until(() => socket.listening, 'a socket');
    const { code, stderr } = await user.run(['transcript', '1', '2', '3', '4', '5', '-o', 'd', '--force']);
    socket.close();
    expect(code).toBe(10);
    for (const id of [1, 2, 3, 4]) expect(stderr).toContain(refusal(`d/${id}.txt`));
    expect(readFileSync(join(user.home, 'd/5.txt'), 'utf8')).toBe('Hello.');
    expect(lstatSync(join(user.home, 'd/1.txt')).isSymbolicLink()).toBe(true);
  });

  it('refuses a pipe under a name from --name-as, and in the working folder', async () => {
    const { user } = await serving();
    fifo(user, 'talk.txt');
    fifo(user, '5.txt');
    const named = await user.run(['transcript', '5', '--name-as', 'talk.txt']);
    expect([named.code, named.stderr]).toEqual([1, expect.stringContaining(refusal('talk.txt'))]);
    const plain = await user.run(['transcript', '5']);
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining(refusal('5.txt'))]);
  });

  it('refuses -o that names a pipe or a device', async () => {
    const { service, user } = await serving();
    fifo(user, 'pipe');
    symlinkSync('/dev/null', join(user.home, 'nowhere'));
    for (const path of ['pipe', '/dev/null', 'nowhere']) {
      const { code, stderr } = await user.run(['transcript', '5', '-o', path, '--force']);
      expect([code, stderr]).toEqual([1, expect.stringContaining(refusal(path))]);
    }
    expect(service.calls('POST /audiofile/5/transcript.txt')).toHaveLength(0);
  });
});

describe.concurrent('other downloads', () => {
  it.each([
    ['wait', ['wait', '1', '2']],
    ['sync', ['sync']],
  ])('%s refuses a pipe, and saves the others', async (_, line) => {
    const it = await orderingAccount();
    await it.order(audio('a'), audio('b'));
    mkdirSync(join(it.user.home, 'd'));
    fifo(it.user, 'd/1.txt');
    const { code, stderr } = await it.user.run([...line, '--download', 'd']);
    expect(code).not.toBe(0);
    expect(stderr).toContain(refusal('d/1.txt'));
    expect(readFileSync(join(it.user.home, 'd/2.txt'), 'utf8')).toBe('transcript 2.txt\n');
  });

  it('order --download refuses a pipe', async () => {
    const it = await orderingAccount();
    mkdirSync(join(it.user.home, 'd'));
    fifo(it.user, 'd/1.txt');
    const { code, stderr } = await it.user.run(['order', audio('a'), '--sku', 'TRANS14', '--download', 'd']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(refusal('d/1.txt'))]);
  });

  it('listen refuses eight of them, keeps answering, and ends at a signal', async () => {
    const { user } = await serving(9);
    for (let id = 1; id <= 8; id += 1) fifo(user, `d/${id}.txt`);
    const listener = await Listener.start(user, ['--download', 'd']);
    for (let id = 1; id <= 9; id += 1) expect((await listener.post(complete(String(id)))).status).toBe(200);
    await listener.until(() => /downloaded d\/9\.txt/.test(listener.stderr));
    expect((await listener.post(complete('3'))).status).toBe(200);
    const { code } = await listener.stop('SIGTERM');
    expect(code).toBe(143);
    expect(listener.stderr).toContain(refusal('d/1.txt'));
  });
});
