/** --timeout bounds the command that prints a key. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Service } from '../support/server.ts';
import { finished, type Result, User } from '../support/steno.ts';
import { until } from '../support/until.ts';

/** Far less than what the program would wait of itself (60 s). */
const IN_TIME_MS = 15_000;

async function timed(run: Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const result = await run;
  expect(performance.now() - startedAt).toBeLessThan(IN_TIME_MS);
  return result;
}

describe.concurrent('login --timeout', () => {
  it('ends with 6 where the key command hangs', async () => {
    const user = new User();
    const { baseUrl, got } = await Service.start();
    const line = [
      'login',
      '--base-url',
      baseUrl,
      '--timeout',
      '1s',
      '--api-key-command',
      'sleep 100; echo x',
    ];
    const { code, stderr } = await timed(user.run(line));
    expect([code, stderr]).toEqual([
      6,
      'steno: the key command took longer than 1s\nhint: run it on its own to see what it waits for\n',
    ]);
    expect([got, existsSync(join(user.home, 'config', 'config.json'))]).toEqual([[], false]);
  });
});

describe.concurrent('a kept key command that hangs', () => {
  const commands: ReadonlyArray<readonly [string, string]> = [
    ['alone', 'sleep 100'],
    ['in a child that holds the output', 'sleep 100; echo x'],
    ['deaf to SIGTERM', `trap '' TERM; sleep 100; sleep 100`],
  ];

  it.each(commands)('%s ends with 6 at --timeout', async (_, command) => {
    const user = new User();
    await user.run(['config', 'set', 'api-key-command', command]);
    const at = ['--base-url', 'http://127.0.0.1:1/API4', '--timeout', '1s'];
    for (const name of ['whoami', 'balance']) {
      const { code, stdout, stderr } = await timed(user.run([name, ...at]));
      expect([code, stdout], stderr).toEqual([6, '']);
    }
  });

  it('ends with the program on SIGTERM', async () => {
    const user = new User();
    await user.run(['config', 'set', 'api-key-command', 'echo $$ > pid; exec sleep 100']);
    const child = user.start(['whoami']);
    const ended = finished(child);
    const pid = join(user.home, 'pid');
    await until(() => existsSync(pid) && readFileSync(pid, 'utf8').endsWith('\n'), 'the command runs');
    child.kill('SIGTERM');
    expect((await timed(ended)).code).toBe(143);
    expect(() => process.kill(Number(readFileSync(pid, 'utf8')), 0)).toThrow();
  });
});
