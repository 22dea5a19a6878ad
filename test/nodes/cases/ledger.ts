import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SANDBOX_KEY } from '../../../src/sandbox/server.ts';
import { modeOf } from '../../support/files.ts';
import { complete, eventsOf, Listener } from '../../support/listener.ts';
import { expectNotInState } from '../../support/secrets.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function ledger(node: NodeUnderTest): void {
  it('says where it is, and how', async () => {
    const user = node.newUser();
    await node.order('status', user);
    const { stdout } = await user.ok('ledger status');
    expect(stdout).toContain(`where\t${join(user.home, 'state', 'ledger.db')}\n`);
    expect(stdout).toMatch(/^rows\.files\t1$/m);
    expect((await user.ok('doctor')).stdout).toMatch(/^ledger\tok\t/m);
  });

  it('is closed to others, and holds no key', async () => {
    const user = node.newUser();
    await node.order('private', user);
    const state = join(user.home, 'state');
    expect(modeOf(state)).toBe('700');
    expect(
      readdirSync(state).filter((name) => name.startsWith('ledger') && modeOf(join(state, name)) !== '600'),
    ).toEqual([]);
    expectNotInState(user, SANDBOX_KEY);
  });

  it('moves to another machine by export and import', async () => {
    const [from, to] = [node.newUser(), node.newUser()];
    const id = await node.delivered('moved', from);
    await from.ok('ledger export -o dump.jsonl');
    const text = readFileSync(join(from.home, 'dump.jsonl'), 'utf8');
    await to.ok('ledger import -', { stdin: text });
    expect(await to.json('files')).toMatchObject([{ audiofile: id, state: 'Delivered' }]);
    await to.exits(9, 'order https://example.com/moved.mp3 --sku TRANS14');
    expect((await to.ok('ledger export')).stdout.split('\n')).toHaveLength(text.split('\n').length);
  });

  it('removes old events', async () => {
    const user = node.newUser();
    const listener = await Listener.start(user);
    await listener.post(complete('1'));
    await listener.until(() => listener.lines.length === 1);
    await listener.stop();
    await user.ok('ledger prune --before 1d --yes');
    expect(await eventsOf(user)).toHaveLength(1);
    await user.ok('ledger prune --before 0s --yes');
    expect(await eventsOf(user)).toEqual([]);
  });

  it('is left alone with --no-ledger', async () => {
    const user = node.newUser();
    await user.ok('order https://example.com/unnoted.mp3 --sku TRANS14 --no-ledger');
    expect(readdirSync(user.home)).not.toContain('state');
  });

  it('is not made by a command that only reads the service', async () => {
    const user = node.newUser();
    await user.ok('balance');
    await user.ok('ledger status');
    expect(
      readdirSync(user.home).includes('state') ? readdirSync(join(user.home, 'state')) : [],
    ).not.toContain('ledger.db');
  });
}
