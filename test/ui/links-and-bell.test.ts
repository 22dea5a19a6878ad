/** What terminals can do beyond text: links (OSC 8), the bell and desktop notifications (OSC 9). */
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../support/ledger.ts';

const LINK = '\u001b]8;;';
const END = '\u001b\\';
const RING = '\u0007\u001b]9;steno: ';

describe('links', () => {
  const able = { TERM: 'xterm-kitty', TMUX: '', STY: '', NO_COLOR: '' };

  it('lead to the whole address of a cut one, on terminals that show them', async () => {
    const it = await orderingAccount();
    const url = audio('a-long-name-that-a-narrow-terminal-has-no-room-for-in-its-table');
    await it.order(url);
    const { stdout } = await it.user.onTerminal('steno files --columns audiofile,url --no-pager', {
      columns: 60,
      env: able,
    });
    expect(stdout).toContain(`${LINK}${url}${END}`);
    expect(stdout.split(LINK).length % 2).toBe(1);
  });

  it.each([
    ['a terminal that does not show them', { ...able, TERM: 'xterm-256color' }, ''],
    ['tmux', { ...able, TMUX: '/tmp/x' }, ''],
    ['--no-color', able, ' --no-color'],
  ])('are left out in %s', async (_, env, flags) => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    const { stdout } = await it.user.onTerminal(`steno files --columns audiofile,url --no-pager${flags}`, {
      env,
    });
    expect(stdout).toContain('/a.mp3');
    expect(stdout).not.toContain(LINK);
  });

  it('are left out in a pipe, and never hold what the service sent as it is', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    expect((await it.user.run(['files', '--columns', 'url'], { env: able })).stdout).not.toContain('\u001b');
    const hostile = `https://h/x${END}${LINK}http://evil/`;
    it.service.on('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Delivered', originallink: hostile } },
    });
    const { stdout } = await it.user.onTerminal('steno file 1 --no-pager', { env: able });
    expect(stdout).not.toContain(`${LINK}http://evil/`);
  });
});

describe('--notify', () => {
  it.each(['wait 1 --notify', 'order {} --sku TRANS14 --wait --notify'])(
    'rings at the end of %s, on a terminal alone',
    async (line) => {
      const it = await orderingAccount();
      if (line.startsWith('wait')) await it.order(audio('a'));
      const words = line.replace('{}', audio('b'));
      const { code, stdout } = await it.user.onTerminal(`steno ${words}`);
      expect([code, stdout.includes(`${RING}1 of 1 file delivered\u0007`)]).toEqual([0, true]);
      const piped = await it.user.run(words.replace('b.mp3', 'c.mp3').split(' '));
      expect([piped.code, `${piped.stdout}${piped.stderr}`]).toEqual([
        0,
        expect.not.stringContaining('\u0007'),
      ]);
    },
  );

  it('says that a file was not delivered', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    it.states.set('1', ['Error']);
    const { code, stdout } = await it.user.onTerminal('steno wait 1 --notify');
    expect([code, stdout.includes(`${RING}0 of 1 file delivered\u0007`)]).toEqual([8, true]);
  });

  it('has no effect without waiting', async () => {
    const it = await orderingAccount();
    const { code, stderr } = await it.user.run(['order', audio('a'), '--sku', 'TRANS14', '--notify']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--notify requires --wait')]);
  });
});
