import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { NodeUnderTest } from '../node-user.ts';

export function lookUps(node: NodeUnderTest): void {
  it('runs on the Node that it is tested with', async () => {
    const { stdout } = await node.user.ok('doctor');
    expect(stdout).toContain(`node\tok\tNode ${node.version}.`);
  });

  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect((await node.user.ok('--version')).stdout).toBe(`${version}\n`);
  });

  it('shows help, and that of a command and a topic', async () => {
    expect((await node.user.ok('--help')).stdout).toContain('Usage: steno <command> [options]');
    expect((await node.user.ok('order --help')).stdout).toContain('--skip-ordered');
    expect((await node.user.ok('help exit-codes')).stdout).toContain('uncertain');
  });

  it('lists SKUs, states and formats without a service', async () => {
    const user = node.newcomer();
    expect((await user.ok('skus')).stdout).toContain('TRANS14\torder\ttranscription\t');
    expect(await user.json('states')).toContainEqual(expect.objectContaining({ state: 'Delivered' }));
    expect((await user.ok('formats --csv')).stdout.split('\r\n')).toHaveLength(10);
  });

  it('prints completions that bash can read', async () => {
    const { stdout } = await node.user.ok('completion bash');
    execFileSync('bash', ['-n'], { input: stdout });
    for (const shell of ['zsh', 'fish', 'powershell'])
      expect((await node.user.ok(`completion ${shell}`)).stdout).toContain(`steno __complete ${shell}`);
  });

  it('completes the id of a file that was ordered', async () => {
    const id = await node.order('completed');
    const { stdout, stderr } = await node.user.ok(`__complete audiofile ${id.slice(0, 3)}`);
    expect(stdout).toContain(`${id}\t`);
    expect(stderr).toBe('');
  });

  it('describes itself for programs', async () => {
    const { commands } = await node.user.json<{ commands: Array<{ command: string }> }>('commands');
    expect(commands.map(({ command }) => command)).toEqual(expect.arrayContaining(['order', 'transcript']));
    expect(JSON.parse((await node.user.ok('schema files')).stdout)).toMatchObject({ type: 'array' });
  });

  it('says what is wrong with a command line, and exits 2', async () => {
    const { stderr } = await node.user.exits(2, 'balance --bad');
    expect(stderr).toBe("steno: unknown option '--bad'\nhint: see: steno balance --help\n");
    await node.user.exits(2, 'ordr');
  });
}
