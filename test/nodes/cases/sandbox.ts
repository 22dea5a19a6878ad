import { expect, it } from 'vitest';
import type { NodeUnderTest } from '../node-user.ts';

export function sandbox(node: NodeUnderTest): void {
  it('needs no account: order, wait and download with --sandbox', async () => {
    const user = node.newcomer();
    const line = 'order https://example.com/talk.mp3 --sku TRANS14';
    expect((await user.ok(`--sandbox ${line} --quiet`)).stdout).toBe('1001\n');
    await user.exits(9, `--sandbox ${line}`);
    await user.ok('--sandbox wait --interval 100ms --timeout 25s');
    expect((await user.ok('--sandbox transcript 1001 -o -')).stdout.length).toBeGreaterThan(99);
  });

  it('moves files on, ends holds and starts afresh', async () => {
    const user = node.newcomer({ STENO_PROFILE: 'sandbox' });
    await user.ok('order https://example.com/hold.mp3 --sku TRANS14');
    const [{ order } = { order: '' }] = await user.json<Array<{ order: string }>>('files');
    await user.ok(`sandbox release ${order}`);
    await user.ok('sandbox advance');
    expect((await user.ok('file 1001 --quiet')).stdout).not.toBe('On Hold\n');
    await user.ok('sandbox reset');
    expect((await user.ok('files')).stdout).toBe('');
  });

  it('fails as it is told to', async () => {
    const user = node.newcomer();
    const child = user.start(['sandbox', '--port', '0', '--ephemeral', '--fault', '503=1']);
    const address = await new Promise<string>((done) =>
      child.stdout.once('data', (chunk) => done(String(chunk).split('\t')[0] ?? '')),
    );
    await node.newUser({ STENO_BASE_URL: address }).exits(1, 'balance');
    child.kill('SIGINT');
    expect(await new Promise((done) => child.on('close', done))).toBe(130);
  });
}
