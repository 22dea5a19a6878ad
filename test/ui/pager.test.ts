/** Long lists on a terminal are read in a pager, and nothing else is. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { fill, orderingAccount } from '../support/ledger.ts';
import { KEY, type User } from '../support/steno.ts';
import { Terminal } from '../support/terminal.ts';

const ROWS = 60;

/** With more files than the terminal has rows, and than a list without a pager shows. */
async function stocked(): Promise<User> {
  const { user } = await orderingAccount({ NO_COLOR: '1' });
  await user.run(['files']);
  fill(user, ROWS);
  return user;
}

/** A pager of this shell script; it gets its text on stdin. */
function pagerOf(user: User, script: string): string {
  const path = join(user.home, 'my pager');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return `"${path}"`;
}

const rowsIn = (text: string): number =>
  text.split('\n').filter((line) => /^\d+ +Delivered/.test(line)).length;

const paged = (user: User): string | undefined => {
  const path = join(user.home, 'paged');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

describe('a pager', () => {
  it('gets all rows of a list that is longer than the terminal', async () => {
    const user = await stocked();
    const pager = pagerOf(user, 'tee paged');
    for (const env of [
      { STENO_PAGER: pager, PAGER: 'false' },
      { STENO_PAGER: undefined, PAGER: pager },
    ]) {
      const { code, stdout } = await user.onTerminal('steno files', { env });
      expect([code, rowsIn(stdout), rowsIn(paged(user) ?? '')]).toEqual([0, ROWS, ROWS]);
      expect(stdout).not.toContain('--limit');
      writeFileSync(join(user.home, 'paged'), '');
    }
  });

  it('gets a page of help that is longer than the terminal, whole', async () => {
    const { user } = await account();
    const env = { STENO_PAGER: pagerOf(user, 'tee paged'), NO_COLOR: '1' };
    for (const line of ['steno help order', 'steno order --help']) {
      const { code } = await user.onTerminal(line, { env });
      const text = paged(user) ?? '';
      expect([line, code]).toEqual([line, 0]);
      expect(text).toContain('Columns');
      writeFileSync(join(user.home, 'paged'), '');
    }
    for (const line of [
      'steno',
      'steno logout --help',
      'steno help order --no-pager',
      "sh -c 'steno help order | cat'",
    ]) {
      const { code, stdout } = await user.onTerminal(line, { env });
      expect([line, code, paged(user)]).toEqual([line, 0, '']);
      expect(stdout).toMatch(/Usage: |All commands:/);
    }
  });

  it('is used for no short list, no form for programs, and not where it is turned off', async () => {
    const user = await stocked();
    const env = { STENO_PAGER: pagerOf(user, 'tee paged') };
    for (const line of [
      ...['steno files --limit 5', 'steno --no-pager files', 'steno files --no-pager'],
      ...['steno files --json', 'steno files --csv', 'steno files --quiet'],
      ...["sh -c 'steno files | cat'", "sh -c 'steno files > out.txt'", "sh -c 'steno files < /dev/null'"],
    ]) {
      const { code } = await user.onTerminal(line, { env });
      expect([line, code, paged(user)]).toEqual([line, 0, undefined]);
    }
    for (const off of [{ TERM: 'dumb' }, { STENO_PAGER: '' }, { STENO_PAGER: 'cat' }, { STENO_PAGER: ' ' }]) {
      const { stdout } = await user.onTerminal('steno files', {
        env: { ...env, PAGER: env.STENO_PAGER, ...off },
      });
      expect([rowsIn(stdout), paged(user)]).toEqual([50, undefined]);
      expect(stdout).toContain(`50 of ${ROWS}; show more with --limit`);
    }
  });

  it('that is missing or dies loses nothing', async () => {
    const user = await stocked();
    const missing = await user.onTerminal('steno files', { env: { STENO_PAGER: 'no-such-pager -R' } });
    expect([missing.code, rowsIn(missing.stdout)]).toEqual([0, 50]);
    for (const script of ['exit 1', 'kill -9 $$', 'exec </dev/null; sleep 0.3; exit 3']) {
      const { code, stdout } = await user.onTerminal('steno files', {
        env: { STENO_PAGER: pagerOf(user, script) },
      });
      expect([script, code, rowsIn(stdout)]).toEqual([script, 0, ROWS]);
    }
  });

  it("gets no key and no password, and what it shows is steno's own", async () => {
    const { service, user } = await account({ NO_COLOR: '1' });
    const steering = '\u001b[2J\u0007\u202e';
    for (let id = 1; id <= ROWS; id += 1)
      service.on(`GET /audiofile/${id}`, {
        body: { audiofile: { id, title: `${KEY} ${steering}talk`, statename: 'Delivered' } },
      });
    const ids = Array.from({ length: ROWS }, (_, at) => at + 1).join(' ');
    const { code } = await user.onTerminal(`steno file ${ids}`, {
      env: { STENO_PAGER: pagerOf(user, 'env > env; cat > paged'), STENO_API_KEY: KEY, PGPASSWORD: 'phrase' },
    });
    expect([code, rowsIn(paged(user) ?? '')]).toEqual([0, ROWS]);
    expect(paged(user)).not.toContain(KEY.slice(0, 8));
    expect(paged(user)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    const env = readFileSync(join(user.home, 'env'), 'utf8');
    expect(env).not.toContain(KEY);
    expect(env).not.toContain('phrase');
    expect(env).toMatch(/^LESS=FRX$/m);
  });

  it('changes no exit code, and messages come after it', async () => {
    const { service, user } = await account({ NO_COLOR: '1' });
    service.on('*', ({ path }, response) =>
      response.end(`{"audiofile":{"id":${path.split('/').at(-1)},"statename":"Delivered","title":"x"}}`),
    );
    service.on('GET /audiofile/9', { status: 404, body: { message: 'no such file' } });
    const ids = Array.from({ length: ROWS }, (_, at) => (at === 3 ? 9 : at + 100)).join(' ');
    const { code, stdout } = await user.onTerminal(`steno file ${ids}`, {
      env: { STENO_PAGER: pagerOf(user, 'cat; echo the end of the pager') },
    });
    expect(code).toBe(10);
    expect(stdout.indexOf('no such file')).toBeGreaterThan(stdout.indexOf('the end of the pager'));
  });
});

describe('less', () => {
  const open = async (user: User): Promise<Terminal> => {
    const terminal = new Terminal(user, 'files');
    await terminal.until('\n:');
    return terminal;
  };

  it('q ends it with 0, and the terminal is as it was', async () => {
    const terminal = await open(await stocked());
    terminal.type('q');
    expect(await terminal.end()).toEqual({ code: 0, restored: true, shell: 'next line' });
  });

  it('Ctrl-C does not end it, however often; after q the exit code is 130', async () => {
    const terminal = await open(await stocked());
    for (let at = 0; at < 3; at += 1) {
      terminal.type('\u0003');
      await new Promise((done) => setTimeout(done, 300));
    }
    expect(terminal.isRunning).toBe(true);
    terminal.type('q');
    expect(await terminal.end()).toEqual({ code: 130, restored: true, shell: 'next line' });
  });
});
