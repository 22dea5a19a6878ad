/** A service that is down or busy: one call tries again for all, and the rest is not asked for. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, type OrderingAccount, orderingAccount } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { finished } from '../../support/steno.ts';

const FILES = 500;

async function withOpenFiles(count = FILES): Promise<OrderingAccount> {
  const it = await orderingAccount();
  const urls = Array.from({ length: count }, (_, n) => audio(`n${n}`));
  writeFileSync(join(it.user.home, 'urls'), urls.join('\n'));
  await it.order('--from', 'urls', '--quiet');
  it.service.got.length = 0;
  return it;
}

const failing: ReadonlyArray<readonly [string, Answer, number]> = [
  ['refuses with 503', { status: 503, body: { message: 'closed' } }, 1],
  ['asks for a pause with 429', { status: 429, headers: { 'retry-after': '1' } }, 1],
  ['breaks off each connection', (_got, _response, socket) => socket.destroy(), 7],
];

describe.concurrent('a service that', () => {
  it.each(failing)('%s is asked a few times, whatever the number of files', async (_what, answer, exit) => {
    const { user, service } = await withOpenFiles();
    service.on('*', answer);
    const { code, stderr } = await user.run(['sync', '--download', 'd', '--jobs', '32']);
    expect(code, stderr).toBe(exit);
    expect(service.got.length).toBeLessThanOrEqual(60);
    const lines = stderr.split('\n').filter((line) => line.startsWith('steno: '));
    expect(lines).toHaveLength(1);
  });

  it('is gone is tried again for a while, and told in one line', async () => {
    const { user, service } = await withOpenFiles();
    await service.close();
    const { code, stderr } = await user.run(['sync', '--download', 'd']);
    expect(code).toBe(7);
    expect(stderr.split('\n').filter((line) => line.includes('refused'))).toHaveLength(1);
  });

  it('asks for a pause gets one from every job', async () => {
    const { user, service } = await withOpenFiles(40);
    const from = service.got.length;
    service.on(
      '*',
      ...Array.from({ length: 8 }, (): Answer => ({ status: 429, headers: { 'retry-after': '2' } })),
      ({ path }, response) =>
        void response.end(
          path.includes('transcript')
            ? 'text'
            : JSON.stringify({ audiofile: { id: path.split('/').at(-1), statename: 'Transcribing' } }),
        ),
    );
    const { code, stderr } = await user.run(['sync', '--download', 'd']);
    expect(code, stderr).toBe(0);
    const times = service.got.slice(from).map(({ at }) => at);
    const firstAnswered = (times[8] ?? 0) - (times[7] ?? 0);
    expect(firstAnswered).toBeGreaterThan(1500);
    // One call tries again, and only when it was answered do the others go on.
    expect(service.got.length - from).toBe(48);
  });

  it('goes down midway leaves what was done, and lists the rest in one line', async () => {
    const { user, service } = await withOpenFiles(100);
    let answered = 0;
    service.on('*', ({ path }, response) => {
      answered += 1;
      const id = /\d+/.exec(path)?.[0];
      if (answered > 40) return void response.writeHead(503).end();
      response.end(JSON.stringify({ audiofile: { id: Number(id), statename: 'Transcribing' } }));
    });
    const { code, stderr, stdout } = await user.run(['files', '--refresh', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toHaveLength(100);
    const { failures } = jsonError(stderr) as { failures: unknown[] };
    expect(failures).toHaveLength(60);
    expect(answered).toBeLessThanOrEqual(60);
    const again = await user.run(['files', '--refresh', '--quiet']);
    expect(again.stderr.split('\n').filter((line) => line.startsWith('steno: '))).toHaveLength(1);
  });

  it('fails for some files alone is asked about all others', async () => {
    const { user, service } = await withOpenFiles(60);
    service.on('*', ({ path }, response) => {
      const id = Number(/\d+/.exec(path)?.[0]);
      if (id <= 5) return void response.writeHead(500).end('{"message":"broken"}');
      response.end(JSON.stringify({ audiofile: { id, statename: 'Transcribing' } }));
    });
    const { code, stderr } = await user.run(['sync', '--download', 'd', '--jobs', '1']);
    expect(code, stderr).toBe(10);
    expect(stderr.split('\n').filter((line) => /^steno: \d+: /.test(line))).toHaveLength(5);
    expect(stderr).toContain('55 changed');
  });

  it('is down while waiting is not asked about every file in each round', async () => {
    const { user, service } = await withOpenFiles(200);
    service.on('*', { status: 503 });
    const { code } = await user.run(['wait', '--timeout', '6s', '--interval', '2s']);
    expect(code).toBe(6);
    expect(service.got.length).toBeLessThanOrEqual(60);
  });
});

describe.concurrent('connections', () => {
  it.each([1, 3, 16])('are at most as many as --jobs: %i', async (jobs) => {
    const { user, service } = await withOpenFiles(120);
    service.maxConnections = 0;
    const { code, stderr } = await finished(user.start(['sync', '--download', 'd', '--jobs', String(jobs)]));
    expect(code, stderr).toBe(0);
    expect(service.maxConnections).toBeLessThanOrEqual(jobs);
  });
});
