/** What `refund` asks on a terminal, and what each answer does. */
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';

describe('a refund on a terminal', () => {
  const known = { title: 'A “quoted”\u001b[2J talk', statename: 'Audio Processing', total: '12.5' };

  it.each([
    ['y', 0, 1],
    ['yes', 0, 1],
    ['n', 1, 0],
    ['', 1, 0],
    ['yep', 1, 0],
  ])('answered with %j ends with %i and %i refunds', async (answer, exit, refunds) => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', { body: { audiofile: { id: 5, ...known } } });
    service[refunds ? 'on' : 'never']('POST /audiofile/5/refund', { body: { message: 'refunded' } });
    await user.run(['config', 'set', 'currency', 'EUR']);
    const { code, stdout } = await user.onTerminal('steno refund 5', { stdin: `${answer}\r` });
    expect(stdout).toContain('Refund audiofile 5, “A “quoted” [2J talk”, Audio Processing, 12.50 EUR? [y/N]');
    expect([code, service.got.length]).toEqual([exit, 1 + refunds]);
  });

  it.each([
    ['is not known', { status: 404, body: { message: 'no such file' } }],
    ['can not be read', { body: 'not JSON' }],
  ])('asks also about a file that %s', async (_, answer) => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', answer);
    service.on('POST /audiofile/5/refund', { body: { message: 'refunded' } });
    const { code, stdout } = await user.onTerminal('steno refund 5', { stdin: 'y\r' });
    expect(stdout).toContain('Refund audiofile 5? [y/N]');
    expect(code).toBe(0);
  });

  it('asks nothing, and does not look at the file, with --yes', async () => {
    const { service, user } = await account();
    service.on('POST /audiofile/5/refund', { body: { message: 'refunded' } });
    expect((await user.onTerminal('steno refund 5 --yes')).code).toBe(0);
    expect(service.got).toHaveLength(1);
  });

  it.each([
    ['the end of input', '\u0004', 1],
    ['Ctrl-C', '\u0003', 130],
  ])('answered with %s refunds nothing', async (_, answer, exit) => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', { body: { audiofile: { id: 5, ...known } } });
    const { code, stdout } = await user.onTerminal('steno refund 5', { stdin: answer });
    expect([code, service.got.length]).toEqual([exit, 1]);
    expect(stdout).not.toContain('Warning');
  });
});
