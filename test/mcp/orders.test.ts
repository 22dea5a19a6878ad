/** `steno mcp --allow-orders`: nothing is bought without a yes of the person, and nothing twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { type OrderingAccount, orderingAccount, reply } from '../support/ledger.ts';
import { type Asked, assistant, BareClient, MANY_MS, processesOf, revisions } from '../support/mcp.ts';
import { sliceOf } from '../support/slices.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';

const LIMIT = ['--allow-orders', '--max-cost', '20'];
const wanted = { urls: ['https://example.com/a.mp3'], minutes: [10], sku: ['TRANS14'] };
const yes: ElicitResult = { action: 'accept', content: { order: true, max_cost: 10 } };

/** An account with a known price. */
async function buyer(env: Record<string, string | undefined> = {}): Promise<OrderingAccount> {
  const account = await orderingAccount(env);
  expect((await account.user.run(['config', 'set', 'price.TRANS14', '0.86'])).code).toBe(0);
  return account;
}

const bought = ({ service }: OrderingAccount): number => service.calls('POST /order_url').length;

const outcomes = async ({ user }: OrderingAccount): Promise<unknown[]> => {
  const { stdout } = await user.run(['log', '--json']);
  return (JSON.parse(stdout) as Array<{ status: string }>).map(({ status }) => status);
};

describe.each(sliceOf(revisions, 2))('with revision %s', (revision) => {
  it(
    'orders after a yes, once',
    async () => {
      const account = await buyer();
      const questions: string[] = [];
      const answer = ({ message }: Asked): ElicitResult => {
        questions.push(message);
        expect(bought(account)).toBe(0);
        return yes;
      };
      const opened = await assistant(account.user, LIMIT, { revision, answer });
      const first = await opened.call('order', { ...wanted, notes: 'Names:\nAda' });
      expect(first).toMatchObject({ isError: false, result: [{ audiofile: '1', order: 'o1' }] });
      expect(questions).toEqual([
        'Order the transcription of 1 recording with TRANS14?\n' +
          'Cost: unknown, 8.6 USD if the assistant is right about these lengths. ' +
          'Type the most that it may cost (limit: 20.00).\n' +
          '- https://example.com/a.mp3 (10 min, says the assistant)\n' +
          'Notes for the transcribers: Names: Ada',
      ]);
      const again = await opened.call('order', wanted);
      expect(again).toMatchObject({ isError: false, result: [{ audiofile: '1', left_out: 'ordered' }] });
      expect([bought(account), questions.length]).toEqual([1, 1]);
      expect(await outcomes(account)).toEqual(['placed']);
    },
    MANY_MS,
  );

  it(
    'orders nothing without a yes',
    async () => {
      const account = await buyer();
      const answers: ElicitResult[] = [
        { action: 'decline' },
        { action: 'cancel' },
        { action: 'accept' },
        { action: 'accept', content: { order: false, max_cost: 10 } },
        { action: 'accept', content: { order: 'true', max_cost: 10 } },
        { action: 'accept', content: { Order: true, max_cost: 10 } },
        { action: 'decline', content: { order: true, max_cost: 10 } },
        { action: 'accept', content: { order: true } },
        ...[0, -1, 21, '10', 'much', true].map(
          (max_cost): ElicitResult => ({ action: 'accept', content: { order: true, max_cost } }),
        ),
      ];
      const left = [...answers];
      const opened = await assistant(account.user, LIMIT, {
        revision,
        answer: () => left.shift() as ElicitResult,
      });
      for (const answer of answers)
        expect([answer, (await opened.call('order', wanted)).isError]).toEqual([answer, true]);
      expect([left, bought(account), await outcomes(account)]).toEqual([[], 0, []]);
    },
    MANY_MS,
  );

  it('takes what was agreed for the limit, whatever the price is by then', async () => {
    const account = await buyer();
    const answer = async (): Promise<ElicitResult> => {
      expect((await account.user.run(['config', 'set', 'price.TRANS14', '1.95'])).code).toBe(0);
      return yes;
    };
    const opened = await assistant(account.user, LIMIT, { revision, answer });
    expect(await opened.call('order', wanted)).toMatchObject({ isError: true });
    expect(bought(account)).toBe(0);
  });

  it('shows all that is sent, or refuses it', async () => {
    const account = await buyer();
    const questions: string[] = [];
    const answer = ({ message }: Asked): ElicitResult => {
      questions.push(message);
      return { action: 'decline' };
    };
    const opened = await assistant(account.user, LIMIT, { revision, answer });
    const hidden = await opened.call('order', { ...wanted, notes: 'Ada\u200bEve' });
    expect([hidden.isError, questions]).toEqual([true, []]);
    for (const end of ['a', 'b'])
      await opened.call('order', { ...wanted, urls: [`https://example.com/${'x'.repeat(900)}/${end}.mp3`] });
    expect(new Set(questions).size).toBe(2);
  });

  it('orders nothing if the client cannot ask', async () => {
    const account = await buyer();
    const opened = await assistant(account.user, LIMIT, { revision });
    expect(await opened.call('order', wanted)).toMatchObject({
      isError: true,
      error: { code: 'usage', message: "this client can't ask the person; nothing was ordered" },
    });
    expect(bought(account)).toBe(0);
  });

  it('does not even ask about an order that is too expensive by what the assistant claims', async () => {
    const account = await buyer();
    let asked = 0;
    const answer = (): ElicitResult => {
      asked += 1;
      return yes;
    };
    const opened = await assistant(account.user, LIMIT, { revision, answer });
    expect((await opened.call('order', { ...wanted, minutes: [1000] })).error).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('exceeds the limit of 20.00'),
    });
    expect([asked, bought(account)]).toEqual([0, 0]);
  });

  it('has the person type the limit of what nobody has measured, with or without a claimed length', async () => {
    const account = await buyer();
    const schemas: unknown[] = [];
    let max_cost = 8;
    const answer = ({ requestedSchema }: Asked): ElicitResult => {
      schemas.push(requestedSchema);
      return { action: 'accept', content: { order: true, max_cost } };
    };
    const opened = await assistant(account.user, LIMIT, { revision, answer });
    expect((await opened.call('order', wanted)).error).toMatchObject({
      message: 'the estimate of 8.6 USD exceeds the limit of 8; nothing was ordered',
    });
    expect(bought(account)).toBe(0);
    max_cost = 8.6;
    const { urls, sku } = wanted;
    expect(await opened.call('order', { urls, sku })).toMatchObject({ isError: false });
    const amount = { type: 'number', minimum: 0, maximum: 20 };
    const properties = { order: { type: 'boolean' }, max_cost: amount };
    expect(schemas).toMatchObject([1, 2].map(() => ({ properties, required: ['order', 'max_cost'] })));
    expect(bought(account)).toBe(1);
  });

  it('does not let a claimed length pass a budget', async () => {
    const account = await buyer();
    expect((await account.user.run(['budget', 'set', '9/month'])).code).toBe(0);
    const opened = await assistant(account.user, LIMIT, { revision, answer: () => yes });
    const { isError, error } = await opened.call('order', wanted);
    expect([isError, error?.message]).toEqual([true, expect.stringContaining('budget')]);
    expect(JSON.stringify(error)).not.toMatch(/--|steno /);
    expect(bought(account)).toBe(0);
  });

  it('lets an order finish that is being sent when the client goes, and records it', async () => {
    const account = await buyer();
    // A client that closes waits two seconds for the server to end.
    account.service.on('POST /order_url', (_, response) => {
      setTimeout(() => reply(response, { order: 'slow', audiofiles: [1], message: 'ok' }), 3_500);
    });
    const opened = await assistant(account.user, LIMIT, { revision, answer: () => yes });
    const called = opened.call('order', wanted).catch(() => 'gone');
    await until(() => bought(account) === 1, 'the order is sent');
    await opened.client.close();
    expect(await called).toBe('gone');
    await until(() => processesOf(account.user).length === 0, 'all processes end');
    expect(await outcomes(account)).toEqual(['placed']);
  });

  it('is not run where the request was cancelled before the answer', async () => {
    const account = await buyer();
    const cancel = new AbortController();
    const answer = async (): Promise<ElicitResult> => {
      cancel.abort();
      await sleep(100);
      return yes;
    };
    const opened = await assistant(account.user, LIMIT, { revision, answer });
    await expect(opened.call('order', wanted, cancel.signal)).rejects.toThrow();
    expect(await opened.call('files')).toMatchObject({ isError: false });
    expect([bought(account), await outcomes(account)]).toEqual([0, []]);
  });
});

it('knows the cost in the sandbox, which bills the lengths that it is given', async () => {
  const user = new User();
  expect((await user.run(['config', 'set', 'price.TRANS14', '0.86', '--sandbox'])).code).toBe(0);
  const asked: Asked[] = [];
  const answer = (question: Asked): ElicitResult => {
    asked.push(question);
    return { action: 'accept', content: { order: true } };
  };
  const opened = await assistant(user, ['--sandbox', ...LIMIT], { answer });
  expect(await opened.call('order', wanted)).toMatchObject({ isError: false });
  expect(asked).toMatchObject([
    {
      message: expect.stringContaining('Estimated cost: 8.6 USD'),
      requestedSchema: { required: ['order'] },
    },
  ]);
});

describe('a client that makes up answers', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bare', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const inputResponses = { order: yes };

  async function asked(client: BareClient, id: number): Promise<string> {
    client.send(id, 'tools/call', { name: 'order', arguments: wanted, _meta: meta });
    const { result } = (await client.answer(id)) as { result: { resultType: string; requestState: string } };
    expect(result.resultType).toBe('input_required');
    return result.requestState;
  }

  it(
    'buys nothing without having been asked, with another order, or a second time',
    async () => {
      const account = await buyer();
      const client = new BareClient(account.user, LIMIT);
      const call = async (id: number, params: object): Promise<string> => {
        client.send(id, 'tools/call', { name: 'order', arguments: wanted, _meta: meta, ...params });
        return JSON.stringify(await client.answer(id));
      };
      expect(await call(1, { inputResponses })).toContain('input_required');
      expect(await call(2, { inputResponses, requestState: 'made-up' })).toContain('question was not asked');
      const other = { ...wanted, urls: ['https://example.com/other.mp3'] };
      const state = await asked(client, 3);
      expect(await call(4, { inputResponses, requestState: state, arguments: other })).toContain(
        'question was not asked',
      );
      expect(await call(5, { inputResponses, requestState: state })).toContain('question was not asked');
      expect(bought(account)).toBe(0);
      const good = await asked(client, 6);
      expect(await call(7, { inputResponses, requestState: good })).toContain('o1');
      expect(await call(8, { inputResponses, requestState: good })).toContain('question was not asked');
      expect(bought(account)).toBe(1);
      client.child.stdin.end();
      expect((await client.ended).code).toBe(0);
    },
    MANY_MS,
  );
});

describe('what allows orders', () => {
  it.each([
    [['--allow-orders'], {}, '--max-cost'],
    [['--max-cost', '20'], {}, '--allow-orders'],
    [['--allow-orders', '--max-cost', 'much'], {}, 'is not an amount'],
    [LIMIT, { STENO_ALLOW: 'read' }, 'STENO_ALLOW allows only read'],
    [[], { STENO_ALLOW: 'local' }, 'STENO_ALLOW allows only local'],
    [['--json'], {}, '--json'],
  ])('must be said in full: mcp %j', async (args, env, expected) => {
    const { user } = await orderingAccount();
    const { code, stdout, stderr } = await user.runAlone(['mcp', ...args], { env });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(expected)]);
  });

  it('is the setting allow too', async () => {
    const account = await buyer();
    await account.user.run(['config', 'set', 'allow', 'read']);
    const { code, stderr } = await account.user.runAlone(['mcp', ...LIMIT]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('allow')]);
    const opened = await assistant(account.user, []);
    expect(await opened.call('files')).toMatchObject({ isError: false });
  });

  it('needs a ledger', async () => {
    const { code, stderr } = await new User().run(
      ['mcp', '--allow-orders', '--max-cost', '5', '--no-ledger'],
      { stdin: '' },
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('--no-ledger')]);
  });

  it('is not there by default: no tool has a way to spend', async () => {
    const account = await buyer();
    const opened = await assistant(account.user, [], { answer: () => yes });
    await expect(opened.call('order', wanted)).rejects.toThrow('not found');
    await opened.call('estimate', wanted);
    expect(bought(account)).toBe(0);
  });
});
