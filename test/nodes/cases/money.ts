import { expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { Service } from '../../support/server.ts';
import { KEY } from '../../support/steno.ts';
import { deadAddress } from '../../support/wire.ts';
import type { NodeUnderTest, NodeUser } from '../node-user.ts';

const ORDER = 'order https://example.com/talk.mp3 --sku TRANS14';

export function money(node: NodeUnderTest): void {
  /** A user of a service that answers as a case says. */
  async function withService(): Promise<{ service: Service; user: NodeUser }> {
    const service = await Service.start();
    return { service, user: node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl }) };
  }

  it('shows the balance, and exits 1 if there is less than --min', async () => {
    expect((await node.user.ok('balance')).stdout).toMatch(/^\d+\.\d\d\n$/);
    await node.user.ok('balance --min 1');
    await node.user.exits(1, 'balance --min 999999999');
  });

  it('exits 11 after an answer that breaks off, and 9 at the next try', async () => {
    const { service, user } = await withService();
    service.on('POST /order_url', (_got, _response, socket) => void socket.destroy());
    await user.exits(11, ORDER);
    const { stderr } = await user.exits(9, ORDER);
    expect(stderr).toContain('steno attempts');
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('settles an attempt whose outcome became known', async () => {
    const { service, user } = await withService();
    service.on(
      'POST /order_url',
      { status: 502, body: 'bad gateway' },
      { body: { order: 'aB1', audiofiles: [7], message: 'ok' } },
    );
    await user.exits(11, ORDER);
    expect(await user.json('attempts')).toMatchObject([{ attempt: 1, status: 'unclear' }]);
    await user.ok('attempts settle 1 --not-placed');
    expect(await user.json('attempts')).toEqual([]);
    await user.ok(ORDER);
  });

  it('sends an order once whatever the service answers', async () => {
    const { service, user } = await withService();
    service.on('POST /order_url', {
      status: 503,
      headers: { 'retry-after': '1' },
      body: { message: 'busy' },
    });
    await user.exits(1, ORDER);
    expect(service.calls('POST /order_url')).toHaveLength(1);
  });

  it('reads once more after 503', async () => {
    const { service, user } = await withService();
    service.on('GET /prepay_balance', { status: 503 }, { body: { balance: '1.00' } });
    expect((await user.ok('balance')).stdout).toBe('1.00\n');
  });

  it('exits 7 where nothing answers, and 6 where the answer takes too long', async () => {
    const away = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: await deadAddress() });
    expect(jsonError((await away.exits(7, `${ORDER} --json`)).stderr)).toMatchObject({ code: 'network' });
    const { service, user } = await withService();
    service.on('GET /prepay_balance', () => {});
    await user.exits(6, 'balance --timeout 300ms');
  });

  it('never sends the key over plain http to another machine', async () => {
    const user = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: 'http://192.0.2.1/API4' });
    await user.exits(2, 'balance');
  });

  it('keeps every digit of long ids and amounts', async () => {
    const { service, user } = await withService();
    const [id, order] = ['90071992547409931234', '18446744073709551617'];
    service.on('POST /order_url', { body: `{"order":${order},"audiofiles":[${id}],"message":"ok"}` });
    service.on(`GET /audiofile/${id}`, {
      body: `{"audiofile":{"id":${id},"statename":"Transcribing","total":12345678901234567.10}}`,
    });
    service.on('GET /prepay_balance', { body: '{"balance":12345678901234567890.10}' });
    expect((await user.ok(`${ORDER} --quiet`)).stdout).toBe(`${id}\n`);
    expect((await user.ok(`file ${id} --json`)).stdout).toContain('12345678901234567.10');
    expect((await user.ok('files')).stdout).toMatch(new RegExp(`^${id}\t.*\t${order}\t`));
    expect((await user.ok('balance')).stdout).toBe('12345678901234567890.10\n');
    expect((await user.ok('balance --json')).stdout).toContain('12345678901234567890.10');
  });
}
