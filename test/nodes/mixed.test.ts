/** One ledger, and several Nodes that read and write it: in turn, and at once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SANDBOX_KEY } from '../../src/sandbox/server.ts';
import { complete, eventsOf, form, Listener } from '../support/listener.ts';
import { hasPostgres } from '../support/postgres-programs.ts';
import { newSharedLedger } from './cases.ts';
import { NodeUnderTest, NodeUser } from './node-user.ts';
import { type NodeVersion, versions } from './node-versions.ts';

const node = new NodeUnderTest('26');

const audio = (name: string): string => `https://example.com/${name}.mp3`;

/** The same person on each Node: one home, one ledger. */
function onEachNode(env: Record<string, string> = {}): Record<NodeVersion, NodeUser> {
  const STENO_STATE_DIR = join(node.newcomer().home, 'state');
  const all = { STENO_API_KEY: SANDBOX_KEY, STENO_BASE_URL: node.baseUrl, STENO_STATE_DIR, ...env };
  const users = versions.map((version) => [version, new NodeUser(version, all)] as const);
  return Object.fromEntries(users) as Record<NodeVersion, NodeUser>;
}

const order = (name: string): string => `order ${audio(name)} --sku TRANS14`;

describe('one ledger of several Nodes', () => {
  it('is made by 20, written by 26, read by 20, and the other way round', async () => {
    for (const [first, second] of [
      ['20', '26'],
      ['26', '20'],
    ] as const) {
      const users = onEachNode();
      await users[first].ok(order(`${first}-a`));
      await users[second].exits(9, order(`${first}-a`));
      await users[second].ok(order(`${first}-b`));
      await users[first].exits(9, order(`${first}-b`));
      const [one, other] = [await users[first].json('files'), await users[second].json('files')];
      expect(one).toHaveLength(2);
      expect(other).toEqual(one);
      expect((await users[first].ok('doctor')).stdout).toMatch(/^ledger\tok\t.*no damage found/m);
    }
  });

  it('goes round all Nodes, each with an order of its own', async () => {
    const users = onEachNode();
    for (const version of [...versions, ...versions]) {
      await users[version].ok(`${order(`round-${version}`)} --again`);
      await users[version].ok('files --refresh');
    }
    for (const version of versions) expect(await users[version].json('files')).toHaveLength(8);
  });

  it('orders each audio once, with all Nodes at it at a time', async () => {
    const users = onEachNode();
    const stdin = Array.from({ length: 8 }, (_, at) => audio(`all-${at}`)).join('\n');
    const line = 'order --from - --sku TRANS14 --skip-ordered --per-order 1 --quiet';
    const runs = await Promise.all(
      [...versions, ...versions].map((version) => users[version].ok(line, { stdin })),
    );
    expect(runs.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean))).toHaveLength(8);
    expect(await users['22'].json('files')).toHaveLength(8);
  });

  it('loses no event of a listener on 26 while 20, 22 and 24 order, read and close', async () => {
    const users = onEachNode();
    const listener = await Listener.start(users['26'], ['--quiet']);
    const posts = Array.from({ length: 40 }, async (_, at) => {
      expect((await listener.post(complete(`9${at}`))).status).toBe(200);
    });
    await Promise.all([
      ...posts,
      ...(['20', '22', '24'] as const).map(async (version) => {
        await users[version].ok(order(`beside-${version}`));
        await users[version].ok('events --limit 1');
        await users[version].ok('files --refresh');
      }),
    ]);
    await listener.stop('SIGKILL');
    const seen = await eventsOf(users['20']);
    expect(new Set(seen.map(({ audiofile }) => audiofile)).size).toBe(40);
    expect(await users['20'].json('files')).toHaveLength(3);
  });

  it('keeps what a listener of 26 received that was killed, before what one of 20 receives', async () => {
    const users = onEachNode();
    const first = await Listener.start(users['26']);
    await first.post(form({ event: 'ORDER_ON_HOLD', order: 'a1' }));
    await first.stop('SIGKILL');
    const second = await Listener.start(users['20'], ['--count', '1']);
    await second.post(form({ event: 'ORDER_ON_HOLD', order: 'a2' }));
    await second.ended;
    expect((await eventsOf(users['24'])).map((event) => event.order)).toEqual(['a2', 'a1']);
  });

  it('exports the same on every Node, and each imports what another wrote', async () => {
    const users = onEachNode();
    await users['24'].ok(order('exported'));
    const dumps = await Promise.all(
      versions.map(async (version) => (await users[version].ok('ledger export')).stdout),
    );
    expect(new Set(dumps).size).toBe(1);
    for (const version of versions) {
      const other = node.newUser({ PATH: users[version].env.PATH });
      await other.ok('ledger import -', { stdin: dumps[0] ?? '' });
      expect(await other.json('files')).toHaveLength(1);
    }
  });

  it('keeps settings that another Node reads', async () => {
    const users = onEachNode({ STENO_CONFIG_DIR: join(node.newcomer().home, 'config') });
    await users['20'].ok('config set timeout 41s');
    await users['26'].ok('config set budget 200/month');
    expect((await users['22'].ok('config get budget')).stdout).toBe('200/month\n');
    expect((await users['24'].ok('config get timeout')).stdout).toBe('41s\n');
    const path = (await users['20'].ok('config path')).stdout.trim();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toBeTypeOf('object');
  });

  it.skipIf(!hasPostgres && !process.env.CI)('is shared in PostgreSQL by all Nodes at once', async () => {
    const users = onEachNode({ STENO_LEDGER: newSharedLedger() });
    await users['20'].ok('files');
    const stdin = Array.from({ length: 6 }, (_, at) => audio(`team-${at}`)).join('\n');
    const line = 'order --from - --sku TRANS14 --skip-ordered --per-order 1 --quiet';
    const runs = await Promise.all(versions.map((version) => users[version].ok(line, { stdin })));
    expect(runs.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean))).toHaveLength(6);
    for (const version of versions) expect(await users[version].json('files')).toHaveLength(6);
  });
});
