import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { formats } from '../../../src/catalog/formats.ts';
import { Service } from '../../support/server.ts';
import { KEY } from '../../support/steno.ts';
import { until } from '../../support/until.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function downloads(node: NodeUnderTest): void {
  let id = '';
  const path = (...parts: string[]): string => join(node.user.home, ...parts);

  beforeAll(async () => {
    id = await node.delivered('downloaded');
  });

  it('writes a transcript to a file', async () => {
    await node.user.ok(`transcript ${id} -o one.txt`);
    expect(readFileSync(path('one.txt'), 'utf8').length).toBeGreaterThan(99);
  });

  it('writes the same to stdout', async () => {
    const { stdout } = await node.user.ok(`transcript ${id} -o -`);
    await node.user.ok(`transcript ${id} -o same.txt`);
    expect(stdout).toBe(readFileSync(path('same.txt'), 'utf8'));
  });

  it('fetches all formats into a folder', async () => {
    const exts = formats.map(({ ext }) => ext);
    await node.user.ok(`transcript ${id} --format ${exts.join(',')} -o all/`);
    expect(readdirSync(path('all')).sort()).toEqual(exts.map((ext) => `${id}.${ext}`).sort());
    expect(
      readFileSync(path('all', `${id}.docx`))
        .subarray(0, 2)
        .toString(),
    ).toBe('PK');
  });

  it('does not replace a file unless --force', async () => {
    writeFileSync(path('mine.txt'), 'mine');
    await node.user.exits(1, `transcript ${id} -o mine.txt`);
    await node.user.ok(`transcript ${id} -o mine.txt --skip-existing`);
    expect(readFileSync(path('mine.txt'), 'utf8')).toBe('mine');
    await node.user.ok(`transcript ${id} -o mine.txt --force`);
    expect(readFileSync(path('mine.txt'), 'utf8').length).toBeGreaterThan(99);
  });

  it('names files by a template, and takes ids from stdin', async () => {
    const line = 'transcript --from - --name-as {order}-{id}.{ext} -o named/ --quiet';
    const { stdout } = await node.user.ok(line, { stdin: `${id}\n` });
    expect(stdout).toMatch(new RegExp(`^named/\\w+-${id}\\.txt\n$`));
    expect(existsSync(path(stdout.trim()))).toBe(true);
  });

  it('exits 10 where some could not be had', async () => {
    const { stderr } = await node.user.exits(10, `transcript ${id} 999999 -o some/`);
    expect(stderr).toContain('steno: 1 of 2 failed');
    expect(readdirSync(path('some'))).toEqual([`${id}.txt`]);
  });

  it('syncs what is new, once', async () => {
    const user = node.newUser();
    const ids = [await node.delivered('sync-a', user), await node.delivered('sync-b', user)];
    const first = (await user.ok('sync --download texts --quiet')).stdout.trim().split('\n');
    expect(first.sort()).toEqual(ids.map((each) => `texts/${each}.txt`).sort());
    expect((await user.ok('sync --download texts --quiet')).stdout).toBe('');
  });

  it('downloads many at once', async () => {
    const service = await Service.start();
    const ids = Array.from({ length: 300 }, (_, at) => String(at + 1));
    service.allow('*', (got, response) => void response.end(`text of ${got.path}\n`));
    const user = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
    await user.ok('transcript --from - --jobs 16 -o many/', { stdin: ids.join('\n') });
    expect(readdirSync(join(user.home, 'many'))).toHaveLength(300);
    expect(service.maxConnections).toBeLessThanOrEqual(16);
  });

  it('leaves nothing half-written behind when it is interrupted', async () => {
    const service = await Service.start();
    service.on(
      '*',
      (_got, response) => void response.write('the first half of a transcript '.repeat(10_000)),
    );
    const user = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
    const child = user.start(['transcript', '5', '-o', 'half/5.txt']);
    await until(() => service.got.length > 0, 'a request');
    await until(() => existsSync(join(user.home, 'half')), 'a folder');
    child.kill('SIGINT');
    const code = await new Promise((done) => child.on('close', done));
    expect(code).toBe(130);
    expect(readdirSync(join(user.home, 'half'))).toEqual([]);
  });
}
