import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Service } from '../../support/server.ts';
import { finished, KEY } from '../../support/steno.ts';
import { until } from '../../support/until.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function processes(node: NodeUnderTest): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    it(`ends at ${signal} with exit ${code}`, async () => {
      const service = await Service.start();
      service.on('GET /audiofile/5', { body: { audiofile: { id: 5, statename: 'Transcribing' } } });
      const user = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
      const child = user.start(['wait', '5', '--interval', '50ms']);
      const ended = finished(child);
      await until(() => service.got.length > 1, 'two requests');
      child.kill(signal);
      const result = await ended;
      expect(result.code).toBe(code);
      expect(result.stderr).not.toMatch(/^\s+at /m);
    });

  it('hides a key on the command line from the list of processes', async () => {
    const service = await Service.start();
    service.on('GET /prepay_balance', () => {});
    const user = node.newcomer({ STENO_BASE_URL: service.baseUrl });
    const child = user.start(['balance', '--api-key', KEY]);
    const ended = finished(child);
    await until(() => service.got.length > 0, 'a request');
    expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain(KEY);
    child.kill('SIGINT');
    await ended;
  });

  it('orders each audio once in four processes at a time', async () => {
    const user = node.newUser();
    const urls = Array.from({ length: 6 }, (_, at) => `https://example.com/at-once-${at}.mp3`).join('\n');
    const line = 'order --from - --sku TRANS14 --skip-ordered --per-order 1 --quiet';
    const runs = await Promise.all(Array.from({ length: 4 }, () => user.ok(line, { stdin: urls })));
    expect(runs.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean))).toHaveLength(6);
    expect(await user.json('files')).toHaveLength(6);
  });

  it('leaves no process behind', async () => {
    const user = node.newUser();
    await user.ok('order https://example.com/alone.mp3 --sku TRANS14');
    const isOurs = (pid: string): boolean => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(user.home);
      } catch {
        return false;
      }
    };
    await until(() => !readdirSync('/proc').some((name) => /^\d+$/.test(name) && isOurs(name)), 'an end');
  });
}
