/** On a terminal, `files` asks about what is open before it lists it: within bounds, and it says how old the rest is. */
import { describe, expect, it } from 'vitest';
import { audio, type OrderingAccount, orderingAccount } from '../../support/ledger.ts';

async function withOrders(count: number): Promise<OrderingAccount> {
  const it = await orderingAccount();
  const urls = Array.from({ length: count }, (_, at) => audio(`f${at}`));
  for (const [at] of urls.entries()) it.states.set(String(at + 1), ['Transcribing']);
  const { code } = await it.user.run(['order', '--from', '-', '--sku', 'TRANS14', '--per-order', '100'], {
    stdin: urls.join('\n'),
  });
  expect(code).toBe(0);
  return it;
}

describe('files on a terminal', () => {
  it('shows the states and titles that the service has now, without a word', async () => {
    const it = await withOrders(2);
    const { stdout } = await it.user.onTerminal('steno files --no-color', { columns: 120 });
    expect(it.askedFiles().toSorted()).toEqual(['1', '2']);
    expect(stdout.match(/Transcribing/g)).toHaveLength(2);
    expect(stdout).not.toContain('not refreshed');
  });

  it('asks about the newest 50, and says how old the others are', async () => {
    const it = await withOrders(53);
    const { stdout } = await it.user.onTerminal('steno files --no-color --no-pager');
    expect(new Set(it.askedFiles()).size).toBe(50);
    expect(it.askedFiles()).not.toContain('3');
    expect(stdout).toMatch(
      /3 open files were not refreshed \(last checked just now\).*steno files --refresh/s,
    );
  });

  it('waits no longer than two seconds for a service that hangs', async () => {
    const it = await withOrders(1);
    it.service.on('GET /audiofile/1', () => {});
    const began = performance.now();
    const { code, stdout } = await it.user.onTerminal('steno files --no-color');
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(code).toBe(0);
    expect(stdout).toContain('ordered');
    expect(stdout).toContain('1 open file was not refreshed');
  });

  it('lists what it knows where the service fails, and says why it is old', async () => {
    const it = await withOrders(1);
    it.service.on('GET /audiofile/1', { status: 404, body: { message: 'gone fishing' } });
    const { code, stdout } = await it.user.onTerminal('steno files --no-color', { columns: 200 });
    expect(code).toBe(0);
    expect(stdout).toMatch(/1 open file was not refreshed .*gone fishing/);
  });

  it('asks nothing where all have ended, in another form of output, or off a terminal', async () => {
    const it = await withOrders(1);
    for (const line of ['files', 'files --json', 'files --csv', 'files --quiet', 'files --markdown'])
      await it.user.run(line.split(' '));
    for (const form of ['--json', '--csv', '--quiet', '--markdown', '--columns audiofile'])
      await it.user.onTerminal(`steno files ${form}`);
    expect(it.askedFiles()).toEqual([]);
    it.states.set('1', ['Delivered']);
    await it.user.run(['files', '--refresh']);
    const asked = it.askedFiles().length;
    await it.user.onTerminal('steno files');
    expect(it.askedFiles()).toHaveLength(asked);
  });
});
