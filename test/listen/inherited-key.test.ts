/** Programs that steno starts for the user get the key only where the user says so. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { complete, Listener } from '../support/listener.ts';
import { BIN, KEY, User } from '../support/steno.ts';

/** A command that writes its environment down. */
const dump = (user: User): string => `env > ${join(user.home, 'dump')}.part && mv dump.part dump`;
const dumped = (user: User): string => readFileSync(join(user.home, 'dump'), 'utf8');
const isDumped = (user: User): boolean => existsSync(join(user.home, 'dump'));

const withKey = (): User => new User({ STENO_API_KEY: KEY, STENO_PROFILE: 'default', MINE: 'stays' });

describe('the key is not inherited', () => {
  it('by the command of --exec, nor by that of events replay', async () => {
    const user = withKey();
    const listener = await Listener.start(user, ['--exec', dump(user)]);
    await listener.post(complete('1'));
    await listener.until(() => isDumped(user));
    await listener.stop();
    expect(dumped(user)).not.toMatch(/STENO_API_KEY|very/);
    expect(dumped(user)).toContain('MINE=stays\n');
    writeFileSync(join(user.home, 'dump'), '');
    expect((await user.run(['events', 'replay', '1', '--exec', dump(user)])).code).toBe(0);
    expect(dumped(user)).toContain('STENO_EVENT_N=1\n');
    expect(dumped(user)).not.toMatch(/STENO_API_KEY|very/);
  });

  it('by the tunnel, with --exec-with-key too', async () => {
    const user = withKey();
    const tunnel = `${dump(user)}; echo https://steno.example; sleep 60`;
    const listener = await Listener.start(user, ['--tunnel', tunnel, '--exec', 'true', '--exec-with-key']);
    await listener.stop();
    expect(dumped(user)).toContain('MINE=stays\n');
    expect(dumped(user)).not.toMatch(/STENO_API_KEY|very/);
  });

  it('by the command that prints a key', async () => {
    const user = withKey();
    const args = ['login', '--no-verify', '--api-key-command', `${dump(user)}; echo another-key`];
    expect((await user.run(args)).code).toBe(0);
    expect(dumped(user)).not.toMatch(/STENO_API_KEY|very/);
  });

  it('and a steno in such a command says what to do', async () => {
    const { user } = await account();
    const inner = `${process.execPath} ${BIN} balance 2> said.part; mv said.part said`;
    const listener = await Listener.start(user, ['--exec', inner]);
    await listener.post(complete('1'));
    await listener.until(() => existsSync(join(user.home, 'said')));
    await listener.stop();
    expect(readFileSync(join(user.home, 'said'), 'utf8')).toBe(
      'steno: no API key is set\n' +
        'hint: run: steno login (or pass the key to this command: listen --exec-with-key)\n',
    );
  });
});

describe('the password of a shared ledger is not inherited', () => {
  const withPassword = (): User =>
    new User({
      STENO_LEDGER:
        'postgres://steno:pass%2Fphrase@db.example.com/steno?sslmode=verify-full&password=pass%2Fphrase',
      PGPASSWORD: 'pass/phrase',
      PGSSLPASSWORD: 'pass/phrase',
      PGPASSFILE: '/etc/steno/pgpass',
      MINE: 'stays',
    });
  const expectCut = (user: User): void => {
    const lines = dumped(user).split('\n');
    expect(lines.filter((line) => /pass(%2f|\/)?phrase|^PG(SSL)?PASSWORD=/i.test(line))).toEqual([]);
    expect(lines).toContain('STENO_LEDGER=postgres://steno@db.example.com/steno?sslmode=verify-full');
    expect(lines).toContain('PGPASSFILE=/etc/steno/pgpass');
    expect(lines).toContain('MINE=stays');
  };

  it.each([[], ['--exec-with-key']])('by the command of --exec %s', async (...flags) => {
    const user = withPassword();
    const listener = await Listener.start(user, ['--sandbox', '--exec', dump(user), ...flags]);
    await listener.post(complete('1'));
    await listener.until(() => isDumped(user));
    await listener.stop();
    expectCut(user);
    writeFileSync(join(user.home, 'dump'), '');
    await user.run(['--sandbox', 'events', 'replay', '1', '--exec', dump(user), ...flags]);
    expectCut(user);
  });

  it('by the tunnel, which starts before the ledger is reached', async () => {
    const user = withPassword();
    const tunnel = `${dump(user)}; echo https://steno.example; sleep 60`;
    const listener = await Listener.start(user, ['--tunnel', tunnel]);
    await listener.stop();
    expectCut(user);
  });

  it('by an upload command', async () => {
    const user = withPassword();
    await user.run([
      '--sandbox',
      'config',
      'set',
      'upload-command',
      `: "$1"; ${dump(user)}; echo https://example.com/a.mp3`,
    ]);
    writeFileSync(join(user.home, 'a.mp3'), 'ID3\u0003\0audio');
    const args = ['--sandbox', 'order', 'a.mp3', '--sku', 'TRANS14'];
    expect(await user.run(args)).toMatchObject({ code: 0 });
    expectCut(user);
  });

  it('by the commands that print a key and a password', async () => {
    const user = withPassword();
    const args = ['login', '--no-verify', '--api-key-command', `${dump(user)}; echo another-key`];
    expect((await user.run(args)).code).toBe(0);
    expectCut(user);
  });

  it('nor is a URL that can not be read, which may hold one', async () => {
    const user = new User({ STENO_LEDGER: 'postgres://steno:pass%phrase@db:x/steno' });
    const listener = await Listener.start(user, ['--sandbox', '--exec', dump(user)]);
    await listener.post(complete('1'));
    await listener.until(() => isDumped(user));
    await listener.stop();
    expect(dumped(user)).toContain('STENO_LEDGER=unreadable\n');
    expect(dumped(user)).not.toContain('phrase');
  });
});

describe('--exec-with-key', () => {
  it.each([
    ['environment', { STENO_API_KEY: KEY }, []],
    ['flag', {}, ['--api-key', KEY]],
    ['profile', {}, []],
  ])('gives the command the key of the %s', async (source, env, flags) => {
    const user = new User(env);
    if (source === 'profile') await user.run(['login', '--no-verify'], { stdin: KEY });
    const listener = await Listener.start(user, ['--exec', dump(user), '--exec-with-key', ...flags]);
    await listener.post(complete('1'));
    await listener.until(() => isDumped(user));
    await listener.stop();
    expect(dumped(user).split('\n')).toContain(`STENO_API_KEY=${KEY}`);
    writeFileSync(join(user.home, 'dump'), '');
    await user.run(['events', 'replay', '1', '--exec', dump(user), '--exec-with-key', ...flags]);
    expect(dumped(user).split('\n')).toContain(`STENO_API_KEY=${KEY}`);
  });

  it('requires --exec and a key', async () => {
    const refusal =
      'steno: --exec-with-key requires --exec\n' + 'hint: add --exec, or leave out --exec-with-key\n';
    const user = new User();
    const alone = await user.run(['listen', '--port', '0', '--exec-with-key']);
    expect([alone.code, alone.stderr]).toEqual([2, refusal]);
    const replay = await user.run([
      'events',
      'replay',
      '1',
      '--to',
      'http://127.0.0.1:9/',
      '--exec-with-key',
    ]);
    expect([replay.code, replay.stderr]).toEqual([2, refusal]);
    const keyless = await user.run(['listen', '--port', '0', '--exec', 'true', '--exec-with-key']);
    expect([keyless.code, keyless.stderr]).toEqual([3, expect.stringContaining('no API key is set')]);
  });
});

describe('--api-key on a command line', () => {
  const hint =
    'steno login (or set STENO_API_KEY, or have a command print it: steno login --api-key-command)';

  it('is warned about once, also with --quiet', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    service.allow('*', { body: { balance: '1.00' } });
    for (const flags of [[], ['--quiet'], ['--csv']]) {
      const { code, stdout, stderr } = await user.run(['balance', ...flags, '--api-key', KEY]);
      expect([code, stdout.trim().endsWith('1.00')]).toEqual([0, true]);
      expect(stderr).toBe(
        `warning: --api-key exposes the key: other users of this machine see it in the process list, and the shell history keeps it\nhint: save it with: ${hint}\n`,
      );
    }
    const { stderr } = await user.run(['balance', '--json', '--api-key', KEY]);
    expect(JSON.parse(stderr)).toMatchObject({
      warning: { message: expect.stringMatching(/^--api-key exposes the key/) },
    });
    expect((await user.run(['balance'], { env: { STENO_API_KEY: KEY } })).stderr).toBe('');
  });
});
