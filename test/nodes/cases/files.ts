import { expect, it } from 'vitest';
import { parseCsv } from '../../support/csv.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function files(node: NodeUnderTest): void {
  it('lists what was ordered: rows, JSON, CSV and bare ids', async () => {
    const user = node.newUser();
    const [a, b] = [await node.order('list-a', user), await node.order('list-b', user)];
    const rows = (await user.ok('files')).stdout.slice(0, -1).split('\n');
    expect(rows.map((row) => row.split('\t')[0])).toEqual([b, a]);
    expect(new Set(rows.map((row) => row.split('\t').length)).size).toBe(1);
    expect(await user.json('ls')).toMatchObject([{ audiofile: b }, { audiofile: a }]);
    const csv = parseCsv((await user.ok('files --csv')).stdout);
    expect(csv.map((row) => row[0])).toEqual(['audiofile', b, a]);
    expect((await user.ok('files --quiet --limit 1')).stdout).toBe(`${b}\n`);
  });

  it('shows one file, and several in the order asked', async () => {
    const [a, b] = [await node.order('show-a'), await node.order('show-b')];
    expect(await node.user.json(`file ${a}`)).toMatchObject({ audiofile: a });
    const several = await node.user.json<Array<{ audiofile: string }>>(`file ${b} ${a}`);
    expect(several.map(({ audiofile }) => audiofile)).toEqual([b, a]);
  });

  it('exits 4 at a file that the service does not know', async () => {
    const { stderr } = await node.user.exits(4, 'file 999999');
    expect(stderr).toMatch(/^steno: the service does not know audiofile 999999 /);
  });

  it('watches a file until it is delivered', async () => {
    const id = await node.order('watched');
    const { stdout } = await node.user.ok(`file ${id} --watch --interval 50ms --json`);
    const states = stdout.trim().split('\n');
    expect(JSON.parse(states.at(-1) ?? '')).toMatchObject({ state: 'Delivered' });
  });

  it('waits for files, and notes their state', async () => {
    const user = node.newUser();
    const id = await node.delivered('waited', user);
    expect(await user.json('files')).toMatchObject([
      { audiofile: id, state: 'Delivered', ended: 'delivered' },
    ]);
  });

  it('exits 6 when the time of wait is over', async () => {
    const id = await node.order('slow-one');
    await node.user.exits(6, `wait ${id} --timeout 100ms --interval 50ms`);
  });

  it('exits 8 for a file that ends without a transcript, and 5 for one on hold', async () => {
    const [failed, held] = [await node.order('error-one'), await node.order('hold-wait')];
    await node.user.exits(8, `wait ${failed} --interval 100ms --timeout 25s`);
    await node.user.exits(5, `wait ${held} --interval 100ms --timeout 25s`);
  });

  it('takes files in that were ordered elsewhere', async () => {
    const id = await node.order('elsewhere');
    const other = node.newUser();
    await other.ok(`track ${id}`);
    expect(await other.json('files')).toMatchObject([{ audiofile: id }]);
    await other.exits(9, 'order https://example.com/elsewhere.mp3 --sku TRANS14');
  });

  it('refreshes what it knows, and lists by state', async () => {
    const user = node.newUser();
    const [held] = [await node.order('hold-list', user), await node.delivered('ended-list', user)];
    await user.ok('files --refresh');
    const line = ['files', '--state', 'On Hold', '--quiet'];
    expect((await user.run(line)).stdout).toBe(`${held}\n`);
  });
}
