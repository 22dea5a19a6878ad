/** After the line of `steno help shells` in a fresh home, a new shell on a terminal completes: with the real steno. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, User } from '../support/steno.ts';
import { until } from '../support/until.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** A user with `steno` in PATH, which completes as it does and of all else only tells what it was given. */
function userOf(shell: string): User {
  const user = new User({ SHELL: `/bin/${shell}`, STENO_LEDGER: undefined });
  mkdirSync(join(user.home, 'bin'));
  // Without it, fish would fill it from all man pages in the background, for longer than the test.
  mkdirSync(join(user.home, '.local/share/fish/generated_completions'), { recursive: true });
  const program = join(user.home, 'bin/steno');
  writeFileSync(
    program,
    `#!/bin/sh\ncase $1 in __complete|completion) exec '${process.execPath}' '${BIN}' "$@" ;; esac\necho "ran<$*>"\n`,
  );
  chmodSync(program, 0o755);
  return user;
}

/** Types into a new interactive shell, and gives the screen once it shows what is awaited. */
async function type(shell: string, user: User, keys: string, awaited: RegExp): Promise<string> {
  const child = spawn('script', ['-qec', `stty cols 100 rows 40; exec ${shell} -i`, '/dev/null'], {
    cwd: user.home,
    env: {
      ...user.env,
      PATH: `${join(user.home, 'bin')}:${process.env.PATH}`,
      TERM: 'xterm',
      LANG: 'C.UTF-8',
    },
  });
  let screen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString();
  });
  const shows = (what: RegExp) =>
    until(
      () => what.test(screen),
      () => `${what}; the screen: ${JSON.stringify(screen)}`,
    );
  try {
    child.stdin.write('echo re""ady\r');
    await shows(/ready/);
    child.stdin.write(keys);
    await shows(awaited);
    return screen;
  } finally {
    child.kill('SIGKILL');
  }
}

const missing = (shell: string): boolean => !process.env.CI && spawnSync(shell, ['--version']).status !== 0;

for (const shell of shells) {
  describe.skipIf(missing(shell))(`a new ${shell} after the line of steno help shells`, () => {
    async function installed(): Promise<User> {
      const user = userOf(shell);
      const page = (await user.run(['help', 'shells'])).stdout;
      const [line = ''] = new RegExp(`^.*completion ${shell}.*$`, 'm').exec(page) ?? [];
      mkdirSync(join(user.home, '.config/fish/completions'), { recursive: true });
      const env = { ...user.env, PATH: `${join(user.home, 'bin')}:${process.env.PATH}` };
      expect(spawnSync('sh', ['-c', line], { env, cwd: user.home }).status).toBe(0);
      return user;
    }

    it('completes commands, flags and values', async () => {
      const user = await installed();
      await type(shell, user, 'steno webh\tge\t\r', /ran<webhook get>/);
      await type(
        shell,
        user,
        'steno --quiet order x --sku TRANS14,TST\t\r',
        /ran<--quiet order x --sku TRANS14,TSTMP1>/,
      );
    });

    it('completes ids of the real ledger, and shows titles and meanings', async () => {
      const user = await installed();
      const order = (url: string) => user.run(['--sandbox', 'order', url, '--sku', 'TRANS14', '--quiet']);
      const id = (await order('https://example.com/first.mp3')).stdout.trim();
      await type(
        shell,
        user,
        `steno --sandbox file ${id.slice(0, -1)}\t\r`,
        new RegExp(`ran<--sandbox file ${id}>`),
      );
      await order('https://example.com/second.mp3');
      const screen = await type(shell, user, 'steno --sandbox file \t\t\t', /second\.mp3/);
      expect(screen).toContain('first.mp3');
      await type(shell, user, 'steno order x --sku \t\t', /TRANS14.*Budget transcription/);
    });
  });
}
