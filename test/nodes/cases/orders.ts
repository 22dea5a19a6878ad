import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { NodeUnderTest } from '../node-user.ts';

const audio = (name: string): string => `https://example.com/${name}.mp3`;

export function orders(node: NodeUnderTest): void {
  const order = (...words: string[]): string => `order ${words.join(' ')} --sku TRANS14`;

  it('places an order and prints its file', async () => {
    const { stdout } = await node.user.ok(order(audio('placed')));
    expect(stdout).toMatch(/^\d+\t\w+\tordered\thttps:\/\/example\.com\/placed\.mp3\t\n$/);
  });

  it('sends and keeps nothing in a dry run', async () => {
    const user = node.newUser();
    const before = await node.user.json('balance');
    expect((await user.ok(order(audio('dry'), '--dry-run'))).stdout).toContain(audio('dry'));
    expect(await node.user.json('balance')).toEqual(before);
    expect((await user.ok('files')).stdout).toBe('');
  });

  it('stops with exit 9 at what was ordered before', async () => {
    await node.order('twice');
    const { stderr, stdout } = await node.user.exits(9, order(audio('twice')));
    expect(stderr).toMatch(/^steno: https:\/\/example\.com\/twice\.mp3 was ordered as order \w+ at /);
    expect(stdout).toBe('');
  });

  it('leaves out what was ordered before with --skip-ordered', async () => {
    await node.order('left-out');
    const { stdout } = await node.user.ok(order(audio('left-out'), audio('left-in'), '--skip-ordered'));
    expect(stdout).toContain(audio('left-in'));
    expect(stdout).not.toMatch(/^\d+\t.*left-out/m);
  });

  it('orders once more with --again', async () => {
    const first = await node.order('again');
    expect(await node.order('again', node.user, '--again')).not.toBe(first);
  });

  it('says that an order is held: exit 0, or 5 with --fail-on-hold', async () => {
    expect((await node.user.ok(order(audio('hold-1')))).stdout).toContain('\tOn Hold\t');
    await node.user.exits(5, order(audio('hold-2'), '--fail-on-hold'));
  });

  it('places a test order, which blocks no real one', async () => {
    expect(await node.user.json(order(audio('tried'), '--test'))).toMatchObject([
      { test: true, answer: { test_message: expect.any(String) } },
    ]);
    await node.order('tried');
  });

  it('orders the rows of a CSV manifest from stdin', async () => {
    const user = node.newUser();
    const stdin = `url,sku,notes\n${audio('m1')},TRANS14,"two, words"\n${audio('m2')},TRANS2,\n`;
    const rows = await user.json<Array<{ url: string }>>('order --from -', { stdin });
    expect(rows.map(({ url }) => url).sort()).toEqual([audio('m1'), audio('m2')]);
    expect(await user.json('files')).toContainEqual(expect.objectContaining({ notes: 'two, words' }));
  });

  it('orders JSON lines from a file, and does the rest where one row is refused', async () => {
    const user = node.newUser();
    const rows = ['j1', 'unfetchable', 'j2'].map((name) => JSON.stringify({ url: audio(name) }));
    writeFileSync(join(user.home, 'list.jsonl'), rows.join('\n'));
    const { stderr } = await user.exits(10, order('--from list.jsonl --per-order 1'));
    expect(stderr).toContain('unfetchable');
    expect(await user.json('files')).toHaveLength(2);
  });

  it('waits and downloads with --download', async () => {
    const user = node.newUser();
    await user.ok(order(audio('fetched'), '--download texts', '--interval 100ms', '--timeout 25s'));
    const [known] = await user.json<Array<{ audiofile: string }>>('files');
    expect(readFileSync(join(user.home, 'texts', `${known?.audiofile}.txt`), 'utf8').length).toBeGreaterThan(
      99,
    );
  });

  it('exits 1 where the service refuses, and lets the URL be ordered again', async () => {
    const { stderr } = await node.user.exits(1, order(audio('unfetchable')));
    expect(stderr).toContain('HTTP 400');
    await node.user.exits(1, order(audio('unfetchable')));
  });

  it('exits 2 at an unknown SKU, a bad URL and a cost over the limit, before it makes a file', async () => {
    const user = node.newUser();
    await user.exits(2, `order ${audio('x')} --sku NOPE`);
    await user.exits(2, order('ftp://example.com/x.mp3'));
    await user.exits(2, order(audio('x'), '--max-cost 0.01'));
    expect(existsSync(join(user.home, 'texts'))).toBe(false);
    expect((await user.ok('files')).stdout).toBe('');
  });

  it('orders episodes of a feed', async () => {
    const user = node.newUser();
    const item = (n: number): string =>
      `<item><title>Part ${n}</title><guid>g${n}</guid><enclosure url="${audio(`part-${n}`)}" type="audio/mpeg"/></item>`;
    writeFileSync(
      join(user.home, 'feed.xml'),
      `<rss version="2.0"><channel><title>Talks</title>${item(1)}${item(2)}</channel></rss>`,
    );
    expect(await user.json(order('--feed feed.xml', '--latest 1'))).toHaveLength(1);
    expect(await user.json('files')).toHaveLength(1);
  });
}
