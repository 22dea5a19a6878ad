/** How the browser gets in, how `steno open` finds what runs, and how all of it ends. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listing, modeOf } from '../support/files.ts';
import { audio, folderIn, orderingAccount, queryLedger } from '../support/ledger.ts';
import { isGone } from '../support/listener.ts';
import { BIN, User } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { Pages } from './pages.ts';

const stateOf = (user: User): string => user.env.STENO_STATE_DIR ?? '';
const ownFiles = (user: User): string[] => listing(stateOf(user)).filter((name) => name.startsWith('ui-'));

/** A program in place of the browser's: notes its arguments, and what the file says that it is given. */
function fakeBrowser(user: User, exit = 0): { readonly env: Record<string, string>; opened(): string[] } {
  const folder = folderIn(user, 'bin');
  const log = join(user.home, 'browser.log');
  const program = join(folder, 'xdg-open');
  writeFileSync(program, `#!/bin/sh\necho "$@" >> '${log}'\ncp "$1" '${log}.html'\nexit ${exit}\n`);
  chmodSync(program, 0o755);
  return {
    env: { PATH: `${folder}:${process.env.PATH}` },
    opened: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  };
}

/** Where a file leads that was opened. */
const targetOf = (user: User): URL => {
  const page = readFileSync(join(user.home, 'browser.log.html'), 'utf8');
  return new URL((/content="0;url=([^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&'));
};

async function withOrder() {
  const account = await orderingAccount();
  await account.order(audio('one'));
  return account;
}

describe('steno ui', () => {
  it('opens the browser through a file that only its owner can read, and deletes it when the browser is here', async () => {
    const user = new User();
    const browser = fakeBrowser(user);
    const pages = await Pages.startSilently(user, ['ui'], browser);
    await pages.until(() => pages.stderr.includes('opened in your browser'));
    const [path = ''] = browser.opened();
    expect(path).toMatch(/\/ui-open-[0-9a-f]{24}\.html$/);
    expect(modeOf(path)).toBe('600');
    const target = targetOf(user);
    expect(target.pathname).toMatch(/^\/open\/[\w-]{43}$/);
    expect(target.port).toBe(String(pages.port));
    // Neither the list of processes nor the terminal has the address.
    for (const shown of [browser.opened().join(), pages.stderr, pages.stdout])
      expect(shown).not.toContain(target.pathname);
    expect(await pages.enter(target)).toBe('/#/files');
    expect(existsSync(path)).toBe(false);
    expect((await pages.call('about')).status).toBe(200);
    await pages.stop();
  });

  it.each([
    ['there is no program for it', undefined],
    ['that fails', 3],
  ])('prints the address where no browser can be started, because %s', async (_, exit) => {
    const user = new User();
    const env = exit === undefined ? { PATH: folderIn(user, 'empty') } : fakeBrowser(user, exit).env;
    const pages = await Pages.start(user, ['ui'], { env });
    expect(pages.stderr).toContain('no browser could be started');
    expect(pages.url.origin).toBe(`http://127.0.0.1:${pages.port}`);
    expect((await pages.call('about')).status).toBe(200);
  });

  it('hands no key to the program that opens the browser', async () => {
    const user = new User({ STENO_API_KEY: 'sk-0123456789' });
    const browser = fakeBrowser(user);
    writeFileSync(join(user.home, 'bin', 'xdg-open'), `#!/bin/sh\nenv > '${user.home}/env'\n`);
    const pages = await Pages.startSilently(user, ['ui'], browser);
    await pages.until(() => pages.stderr.includes('opened in your browser'));
    expect(readFileSync(join(user.home, 'env'), 'utf8')).not.toContain('sk-0123456789');
  });

  it('prints one document with --json, and the bare address with --quiet', async () => {
    const user = new User();
    const pages = await Pages.start(user, ['ui', '--no-open', '--json']);
    expect(Object.keys(JSON.parse(pages.stdout))).toEqual(['url']);
    const quiet = await Pages.start(new User(), ['ui', '--no-open', '--quiet']);
    expect(quiet.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}\n$/);
  });

  it('prints the whole address on a narrow terminal', async () => {
    const user = new User();
    const line = `stty cols 40; exec ${process.execPath} ${BIN} ui --no-open`;
    const terminal = spawn('script', ['-qec', line, '/dev/null'], {
      ...{ cwd: user.home, env: { TERM: 'xterm', ...user.env } },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let printed = '';
    terminal.stdout.on('data', (chunk: Buffer) => {
      printed += chunk;
    });
    await until(() => /open\/\S{43}/.test(printed), 'the address');
    expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}\r?$/m);
    terminal.kill('SIGKILL');
    await until(() => ownFiles(user).length === 0, 'the end of the page');
  });

  it.each([
    [{}, 'steno'],
    [{ STENO_PROFILE: 'work' }, 'steno --profile work'],
    [{ STENO_PROFILE: 'sandbox' }, 'steno --profile sandbox'],
  ])('shows command lines for the same account with %j', async (env, command) => {
    const user = new User();
    await user.run(['--profile', 'work', 'config', 'set', 'timeout', '5s']);
    const pages = await Pages.start(user, ['ui', '--no-open'], { env });
    expect(await pages.json('about')).toMatchObject({ command });
  });

  it.each(['x', '-1', '65536', '1.5', ''])('refuses the port %j', async (port) => {
    const { code, stderr } = await new User().run(['ui', '--no-open', `--port=${port}`]);
    expect(code, stderr).toBe(2);
  });

  it('says so if the port is taken, and leaves nothing behind', async () => {
    const pages = await Pages.start(new User());
    const user = new User();
    const { code, stderr } = await user.runAlone(['ui', '--no-open', '--port', String(pages.port)]);
    expect(code).toBe(1);
    expect(stderr).toContain('choose another port with --port');
    expect(ownFiles(user)).toEqual([]);
  });

  it('does not work without a ledger', async () => {
    const { code, stderr } = await new User().run(['--no-ledger', 'ui', '--no-open']);
    expect(code).toBe(2);
    expect(stderr).toContain('--no-ledger');
  });
});

describe('its end', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('comes with %s, though a page is open, and leaves nothing behind', async (signal, code) => {
    const user = new User();
    const pages = await Pages.start(user);
    const live = await pages.live();
    expect(ownFiles(user)).toEqual([`ui-${pages.child.pid}.json`]);
    expect((await pages.stop(signal)).code).toBe(code);
    expect(ownFiles(user)).toEqual([]);
    live.close();
  });

  it('by kill -9 leaves files, which the next one removes', async () => {
    const user = new User();
    const killed = await Pages.startSilently(user, ['ui'], fakeBrowser(user));
    await killed.until(() => killed.stderr.includes('opened in your browser'));
    await killed.stop('SIGKILL');
    expect(ownFiles(user)).toHaveLength(2);
    const next = await Pages.startSilently(user, ['ui'], fakeBrowser(user));
    await next.until(() => next.stderr.includes('opened in your browser'));
    const third = await Pages.start(user);
    const left = ownFiles(user);
    expect(left.filter((name) => name.endsWith('.html'))).toHaveLength(1);
    expect(left.filter((name) => name.endsWith('.json')).sort()).toEqual(
      [next, third].map(({ child }) => `ui-${child.pid}.json`).sort(),
    );
  });

  it('comes with the terminal or the shell that started it, also where that is killed', async () => {
    const user = new User();
    const shell = spawn(
      'sh',
      ['-c', `'${process.execPath}' '${BIN}' ui --no-open > out 2> err & echo $! > pid; wait`],
      { cwd: user.home, env: user.env, stdio: 'ignore' },
    );
    const err = join(user.home, 'err');
    await until(() => existsSync(err) && readFileSync(err, 'utf8').includes('serving on'), 'a page');
    const pid = Number(readFileSync(join(user.home, 'pid'), 'utf8'));
    shell.kill('SIGKILL');
    await until(() => isGone(pid), 'the end of the page');
    expect(ownFiles(user)).toEqual([]);
  });

  it('comes with the terminal itself', async () => {
    const user = new User();
    const terminal = spawn('script', ['-qec', `${process.execPath} ${BIN} ui --no-open`, '/dev/null'], {
      ...{ cwd: user.home, env: { TERM: 'xterm', ...user.env } },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await until(() => ownFiles(user).length === 1, 'a page');
    const pid = Number(/\d+/.exec(ownFiles(user)[0] ?? '')?.[0]);
    terminal.kill('SIGKILL');
    await until(() => isGone(pid), 'the end of the page');
    expect(ownFiles(user)).toEqual([]);
  });
});

describe('steno open', () => {
  it('shows a file, an order or an event in the page that runs', async () => {
    const { user } = await withOrder();
    queryLedger(
      user,
      `INSERT INTO events (id, profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
       VALUES (5, 'default', 'received', '2026-11-01T00:00:00.000Z', '::1', 'text/plain', CAST('event=X' AS BLOB), 'X', '1', '', '')`,
    );
    const pages = await Pages.start(user);
    for (const [args, go] of [
      [['1'], '/file/1'],
      [['--order', 'o1'], '/files?order=o1'],
      [['--event', '5'], '/event/5'],
    ] as const) {
      const browser = fakeBrowser(user);
      const { code, stderr, stdout } = await user.runAlone(['open', ...args], { env: browser.env });
      expect(code, stderr).toBe(0);
      expect(stdout).toBe('');
      const target = targetOf(user);
      expect(target.port).toBe(String(pages.port));
      expect(await pages.enter(target)).toBe(`/#${go}`);
      expect((await pages.call('about')).status).toBe(200);
      expect(ownFiles(user).filter((name) => name.includes('open'))).toEqual([]);
    }
  });

  it('makes a new address each time', async () => {
    const { user } = await withOrder();
    const pages = await Pages.start(user);
    const found = new Set([pages.url.href]);
    for (let count = 0; count < 3; count += 1) {
      const { code, stdout } = await user.run(['open', '1', '--no-open', '--json']);
      expect(code).toBe(0);
      const { url } = JSON.parse(stdout) as { url: string };
      found.add(url);
      expect(await pages.enter(new URL(url))).toBe('/#/file/1');
    }
    expect(found.size).toBe(4);
  });

  it('serves the page itself where none runs', async () => {
    const { user } = await withOrder();
    const pages = await Pages.start(user, ['open', '1', '--no-open']);
    expect((await pages.call('file/1')).status).toBe(200);
    expect((await pages.stop()).code).toBe(130);
  });

  it.each([
    ['nothing', [], /one id/],
    ['two things', ['1', '--event', '1'], /one id/],
    ['a file that the ledger does not have', ['99'], /steno track 99/],
    ['an order that it does not have', ['--order', 'zz'], /not in the ledger/],
    ['an event that it does not have', ['--event', '99'], /there is no event 99/],
    ['a path', ['../x'], /not an id/],
  ] as const)('refuses %s', async (_, args, message) => {
    const { user } = await withOrder();
    const { code, stderr } = await user.run(['open', '--no-open', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  it('leaves alone what is stale, damaged, of another profile or no server of ours', async () => {
    const { user } = await withOrder();
    const other = await Pages.start(user, ['--profile', 'sandbox', 'ui', '--no-open']);
    const folder = stateOf(user);
    const [note = ''] = ownFiles(user);
    const real = JSON.parse(readFileSync(join(folder, note), 'utf8')) as Record<string, unknown>;
    expect(modeOf(join(folder, note))).toBe('600');
    const own = await Pages.start(user);
    const { account } = JSON.parse(readFileSync(join(folder, `ui-${own.child.pid}.json`), 'utf8')) as {
      account: string;
    };
    await own.stop('SIGKILL');
    // Left behind by one that was killed; its number may be another's by now.
    expect(existsSync(join(folder, `ui-${own.child.pid}.json`))).toBe(true);
    writeFileSync(join(folder, 'ui-1.json'), '{"port":');
    writeFileSync(join(folder, 'ui-2.json'), JSON.stringify({ ...real, account, port: '22' }));
    writeFileSync(join(folder, 'ui-3.json'), JSON.stringify({ ...real, account, start: '1 x y' }));
    // It runs, but nothing of ours answers there.
    writeFileSync(join(folder, 'ui-4.json'), JSON.stringify({ ...real, account, session: 'a'.repeat(43) }));
    const pages = await Pages.start(user, ['open', '1', '--no-open']);
    expect(pages.port).not.toBe(other.port);
    expect(existsSync(join(folder, `ui-${own.child.pid}.json`))).toBe(false);
    await other.stop();
  });
});
