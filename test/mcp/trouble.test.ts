/** Whatever a client does to `steno mcp`, no process is left behind and nothing is bought. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { orderingAccount } from '../support/ledger.ts';
import { BareClient, MANY_MS, processesOf } from '../support/mcp.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';

const nobody = (user: User): Promise<true> =>
  until(
    () => processesOf(user).length === 0,
    () => `the end of ${processesOf(user)}`,
  );

describe('the end', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s leaves nothing behind', async (signal) => {
    const { service, user } = await orderingAccount();
    service.on('GET /prepay_balance', () => {});
    const client = await new BareClient(user, []).open();
    client.call(1, 'balance');
    await until(() => service.got.length === 1, 'a call');
    client.child.kill(signal);
    const { code, stdout } = await client.ended;
    expect(code).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
    expect(stdout.split('\n').filter(Boolean)).toHaveLength(1);
    await nobody(user);
  });

  it('by a closed stdin is a good one', async () => {
    const { service, user } = await orderingAccount();
    service.on('GET /prepay_balance', () => {});
    const client = await new BareClient(user, []).open();
    for (let id = 1; id <= 9; id += 1) client.call(id, 'balance');
    await until(() => service.got.length === 4, 'four calls');
    client.child.stdin.end();
    expect(await client.ended).toMatchObject({ code: 0, stderr: '' });
    expect(service.got).toHaveLength(4);
    await nobody(user);
  });

  it('comes after the answers to what was piped in', async () => {
    const { service, user } = await orderingAccount();
    service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
    const hello = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'pipe', version: '1' },
    };
    const client = new BareClient(user, []);
    client.send(0, 'initialize', hello);
    client.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    for (let id = 1; id <= 4; id += 1) client.call(id, 'balance');
    client.send(5, 'tools/list', {});
    client.child.stdin.end();
    expect(await client.ended).toMatchObject({ code: 0, stderr: '' });
    expect(client.messages.map(({ id, error }) => [id, error]).sort()).toEqual(
      [0, 1, 2, 3, 4, 5].map((id) => [id, undefined]),
    );
    await nobody(user);
  });

  it('by a closed stdout comes with the next answer', async () => {
    const user = new User();
    const client = await new BareClient(user).open();
    client.child.stdout.destroy();
    client.call(1, 'balance');
    expect((await client.ended).code).toBe(0);
    await nobody(user);
  });

  it('comes before the first message, too', async () => {
    const client = new BareClient(new User());
    client.child.stdin.end();
    expect(await client.ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it(
    'in the middle of a question buys nothing',
    async () => {
      const { service, user } = await orderingAccount();
      await user.run(['config', 'set', 'price.TRANS14', '0.86']);
      const order = { urls: ['https://example.com/a.mp3'], minutes: [1], sku: ['TRANS14'] };
      for (const end of ['stdin', 'SIGTERM', 'SIGKILL'] as const) {
        const client = await new BareClient(user, ['--allow-orders', '--max-cost', '5']).open({
          elicitation: {},
        });
        client.call(1, 'order', order);
        await client.asked('elicitation/create');
        if (end === 'stdin') client.child.stdin.end();
        else client.child.kill(end);
        await client.ended;
        await nobody(user);
      }
      expect(service.calls('POST /order_url')).toEqual([]);
      expect((await user.run(['log', '--json'])).stdout).toBe('[]\n');
    },
    MANY_MS,
  );
});

describe('a message', () => {
  it(
    'that is malformed does not stop the server',
    async () => {
      const client = await new BareClient(new User()).open();
      const malformed = [
        '{"jsonrpc": nonsense',
        '',
        '[1, 2, 3]',
        'null',
        '{"jsonrpc":"2.0","id":5}',
        '{"jsonrpc":"1.0","id":5,"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":7}',
        '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"__proto__"}}',
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"files","arguments":{"__proto__":{}}}}',
        '{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"steno://transcript/%zz"}}',
        '{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}',
        '\u0000\u0001\ufffd',
        ...['constructor', 'toString'].map(
          (name) =>
            `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"${name}","arguments":{}}}`,
        ),
        // Answers what nobody asked.
        '{"jsonrpc":"2.0","id":77,"result":{}}',
        '['.repeat(1e5),
      ];
      for (const [at, text] of malformed.entries()) {
        client.write(text);
        client.call(100 + at, 'file');
        expect([text, await client.answer(100 + at)]).toMatchObject([text, { result: { isError: true } }]);
      }
      client.call(1, 'balance');
      expect(await client.answer(1)).toMatchObject({ result: { isError: false } });
      client.child.stdin.end();
      expect((await client.ended).code).toBe(0);
    },
    MANY_MS,
  );

  it(
    'of 10 MB is refused, and the server goes on',
    async () => {
      const user = new User();
      const client = await new BareClient(user).open();
      client.call(1, 'search', { words: ['x'.repeat(10_000_000)] });
      expect(await client.answer(1)).toMatchObject({ result: { isError: true } });
      client.call(2, 'balance');
      expect(await client.answer(2)).toMatchObject({ result: { isError: false } });
      client.child.stdin.end();
      expect((await client.ended).code).toBe(0);
      await nobody(user);
    },
    MANY_MS,
  );

  it('without an end is not gathered for ever', async () => {
    const user = new User();
    const client = await new BareClient(user).open();
    client.child.stdin.write('x'.repeat(20_000_000));
    const { code, stderr } = await client.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('maximum size')]);
    await nobody(user);
  });
});

describe('200 requests at once', () => {
  it(
    'are all answered, with four processes at a time',
    async () => {
      const { service, user } = await orderingAccount();
      service.on('GET /prepay_balance', { body: { balance: '1.00' } });
      const client = await new BareClient(user, []).open();
      // Most are refused without a process.
      for (let id = 1; id <= 200; id += 1) client.call(id, id % 10 ? 'file' : 'balance');
      let most = 0;
      await until(
        async () => {
          // Looking costs processor time, which the processes need.
          await sleep(50);
          most = Math.max(most, processesOf(user, client.child.pid).length);
          return client.messages.length === 201;
        },
        'all answers',
        MANY_MS,
      );
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(4);
      const answers = client.messages.slice(1) as Array<{ id: number; result: { isError: boolean } }>;
      for (const { id, result } of answers) expect([id, result.isError]).toEqual([id, id % 10 !== 0]);
      expect(service.got).toHaveLength(20);
      client.child.stdin.end();
      expect(await client.ended).toMatchObject({ code: 0, stderr: '' });
      await nobody(user);
    },
    MANY_MS,
  );

  it('end with the client: those that wait are never run', async () => {
    const { service, user } = await orderingAccount();
    service.allow('GET /prepay_balance', () => {});
    const client = await new BareClient(user, []).open();
    for (let id = 1; id <= 200; id += 1) client.call(id, 'balance');
    await until(() => service.got.length === 4, 'four calls');
    client.child.stdin.end();
    expect((await client.ended).code).toBe(0);
    expect(service.got).toHaveLength(4);
    await nobody(user);
  });

  it('can be cancelled one by one', async () => {
    const { service, user } = await orderingAccount();
    service.allow('GET /prepay_balance', () => {});
    const client = await new BareClient(user, []).open();
    client.call(1, 'balance');
    await until(
      () => processesOf(user, client.child.pid).length === 1 && service.got.length === 1,
      'a process',
    );
    client.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await until(() => processesOf(user, client.child.pid).length === 0, 'its end');
    client.call(2, 'files');
    expect(await client.answer(2)).toMatchObject({ result: { isError: false } });
  });
});
