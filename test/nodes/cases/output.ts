import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { finished } from '../../support/steno.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function output(node: NodeUnderTest): void {
  /** Runs a line of the shell, with the program in PATH. */
  function shell(line: string): ReturnType<typeof finished> {
    const { env, home, program } = node.user;
    const child = spawn('bash', ['-c', line.replaceAll('steno', program[0])], { cwd: home, env });
    child.stdin.end();
    return finished(child);
  }

  it('prints errors as JSON with --json, and the document alone on stdout', async () => {
    const { stdout, stderr } = await node.user.exits(4, 'file 999999 --json');
    expect(stdout).toBe('');
    expect(jsonError(stderr)).toMatchObject({ code: 'missing', status: 404 });
  });

  it('can be read by jq', async () => {
    const id = await node.order('for-jq');
    const { stdout, code } = await shell('steno files --json | jq -r ".[].audiofile"');
    expect([code, stdout.split('\n')]).toEqual([0, expect.arrayContaining([id])]);
  });

  it('ends without a word when its reader has enough', async () => {
    const { stdout, stderr, code } = await shell('set -o pipefail; steno help commands | head -1');
    expect([stdout.split('\n').length, stderr, code]).toEqual([2, '', 0]);
  });

  it('exits 1 where stdout can not be written', async () => {
    const { stderr, code } = await shell('steno balance > /dev/full');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^steno: /)]);
  });

  it('has colour and aligned columns on a terminal, and none elsewhere', async () => {
    await node.order('coloured');
    const line = 'steno files --no-pager';
    const on = await node.user.onTerminal(line);
    expect(on.stdout).toContain('\u001b[');
    expect(on.stdout).not.toMatch(/Warning/);
    expect((await shell(line)).stdout).not.toContain('\u001b[');
  });

  it('shows requests without the key, and where an error came from, with --debug', async () => {
    const { stderr } = await node.user.exits(4, 'file 999999 --debug');
    expect(stderr).toMatch(/\/src\/api\/files\.ts:\d+/);
    expect(stderr).toContain('GET ');
  });

  it('keeps text of all scripts as it is', async () => {
    const user = node.newUser();
    const line = [
      'order',
      'https://example.com/größe-日本.mp3',
      '--sku',
      'TRANS14',
      '--notes',
      'Grüße, 日本 👩‍👩‍👧',
    ];
    expect((await user.run(line)).code).toBe(0);
    expect(await user.json('files')).toMatchObject([{ notes: 'Grüße, 日本 👩‍👩‍👧' }]);
  });
}
