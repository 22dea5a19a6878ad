/** A 200 that holds an error is a refusal; one that says nothing is no success. */
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';
import type { Result } from '../support/steno.ts';

const HOOK = 'https://example.com/hook';

const commands = {
  upgrade: { args: ['upgrade', '5', '--sku', 'TSTMP1'], nothing: 11 },
  refund: { args: ['refund', '5', '--yes'], nothing: 11 },
  invoice: { args: ['invoice', '5'], nothing: 1 },
  'webhook set': { args: ['webhook', 'set', HOOK], nothing: 1 },
  'webhook test': { args: ['webhook', 'test', 'ORDER_ON_HOLD'], nothing: 1 },
  balance: { args: ['balance'], nothing: 1 },
  file: { args: ['file', '5'], nothing: 1 },
};

const refusals: ReadonlyArray<readonly [body: string, text: string]> = [
  ['{"error":"insufficient funds"}', 'insufficient funds'],
  ['{"error":{"code":402,"message":"insufficient funds"}}', 'insufficient funds'],
  ['{"error":{"sku":["is unknown"]}}', 'sku: is unknown'],
  ['{"errors":["no funds","no file"],"message":"sorry"}', 'no funds; no file'],
  ['{"errors":[{"message":"no funds"}]}', 'no funds'],
  ['{"error":true,"message":"no funds"}', 'no funds'],
  ['{"error":402,"message":"no funds"}', 'no funds'],
  ['{"error":402}', 'error: 402'],
  ['{"Error":"no funds"}', 'no funds'],
  ['{"error":null,"errors":["no funds"]}', 'no funds'],
  ['{"result":{"error":"no funds"},"message":"done"}', 'no funds'],
  ['{"audiofile":{"errors":{"base":"no funds"}}}', 'base: no funds'],
  ['[{"error":"no funds"}]', 'no funds'],
  ['{"success":false,"message":"no funds"}', 'no funds'],
  ['{"success":"false"}', 'success: false'],
  ['{"status":"error","message":"no funds"}', 'no funds'],
  ['{"status":402,"message":"no funds"}', 'no funds'],
  ['{"result":"error"}', 'result: error'],
  ['{"fault":"no funds"}', 'no funds'],
];

/** Neither a success as the document describes it nor a clear error. */
const unclear = ['"insufficient funds"', 'true', '5', '["insufficient funds"]'];

describe.each(['upgrade', 'refund'] as const)('%s', (name) => {
  it.each(unclear)('is unclear where the answer is %s', async (body) => {
    const { code, stdout, stderr } = await answered(commands[name].args, body);
    expect([code, stdout], stderr).toEqual([11, '']);
    if (body.includes('funds')) expect(stderr).toContain('insufficient funds');
  });
});

describe('a balance', () => {
  it.each(['true', '"done"', '{"balance":""}', '{"balance":"abc"}', '{"balance":true}', '{"balance":null}'])(
    'is not in %s',
    async (body) => {
      const { code, stdout, stderr } = await answered(['balance'], body);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^steno: [^\n]+\n$/)]);
    },
  );

  it.each(['12.50', '"12.50"', '{"balance":"USD 12"}', '{"balance":0}'])('is in %s', async (body) => {
    expect((await answered(['balance'], body)).code).toBe(0);
  });
});

it('an error beside an order is a warning: the order is placed', async () => {
  const body = '{"order":"o1","audiofiles":[1],"error":"insufficient funds"}';
  const order = ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14'];
  const { code, stdout, stderr } = await answered([...order, '--quiet'], body);
  expect([code, stdout]).toEqual([0, '1\n']);
  expect(stderr).toBe('warning: order o1 is placed, but the service says: insufficient funds\n');
});

const empty = [
  '{}',
  'null',
  '[]',
  '{"message":""}',
  '{"error":null}',
  '{"result":{}}',
  '',
  '<html>hi</html>',
];

async function answered(args: readonly string[], body: string): Promise<Result & { calls: number }> {
  const { service, user } = await account();
  service.on('*', { body, headers: { 'content-type': 'application/json' } });
  const result = await user.run(args);
  return { ...result, calls: service.got.length };
}

describe.each(Object.entries(commands))('%s', (_, { args, nothing }) => {
  it('takes an error in a 200 for a refusal, and says its text', async () => {
    for (const [body, text] of refusals) {
      const { code, stdout, stderr, calls } = await answered(args, body);
      expect([body, code, stdout, stderr, calls]).toEqual([
        body,
        1,
        '',
        `steno: the service refused: ${text}\n`,
        1,
      ]);
    }
  });

  it('takes no answer that says nothing for success', async () => {
    for (const body of empty) {
      const { code, stdout, stderr, calls } = await answered(args, body);
      expect([body, code, stdout, calls], stderr).toEqual([body, nothing, '', 1]);
      if (nothing === 11)
        expect(stderr).toMatch(/may have gone through\nhint: check the file and the balance/);
    }
  }, 60_000);
});

const noErrors = ['null', 'false', '""', '0', '[]', '{}', '[null]', '{"code":0}', '"none"'];

describe('an error that is none', () => {
  it.each([
    ['upgrade', '"message":"done"'],
    ['refund', '"success":true'],
    ['invoice', '"id":5'],
    ['webhook set', `"webhook":"${HOOK}"`],
    ['balance', '"balance":1'],
    ['file', '"audiofile":{"id":5}'],
  ] as const)('does not stop %s', async (name, rest) => {
    for (const error of noErrors) {
      const { code, stderr } = await answered(commands[name].args, `{"error":${error},${rest}}`);
      expect([error, code, stderr]).toEqual([error, 0, '']);
    }
  });
});

describe('a refusal in a 200', () => {
  it('is an object with --json', async () => {
    const { stderr } = await answered([...commands.refund.args, '--json'], '{"error":"no funds"}');
    expect(jsonError(stderr)).toMatchObject({ code: 'failed', message: 'the service refused: no funds' });
  });

  it('shows no signature of a link', async () => {
    const link =
      'https://b.s3.amazonaws.com/a.mp3?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=me&X-Amz-Date=20240101T000000Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-Signature=0123abcd';
    const { stderr } = await answered(commands.upgrade.args, `{"error":"can not read ${link}"}`);
    expect(stderr).toContain('can not read https://b.s3.amazonaws.com/a.mp3');
    expect(stderr).not.toContain('0123abcd');
  });

  it('is not what a file says of its audio', async () => {
    const file = '{"audiofile":{"id":5,"statename":"Error","error":"the audio is silent"}}';
    const { code, stdout } = await answered(['file', '5'], file);
    expect([code, stdout.split('\t').slice(0, 2)]).toEqual([0, ['5', 'Error']]);
  });
});

describe('an invoice', () => {
  it.each(['{"message":"ok"}', '{"invoice":{"message":"ok"}}', '{"items":[],"id":null}'])(
    'is not in %s',
    async (body) => {
      const { code, stdout, stderr } = await answered(['invoice', '5'], body);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('the answer for 5 ')]);
    },
  );

  it.each(['{"id":9}', '{"state":"OPEN"}', '{"total":0}', '{"items":[{"id":1}]}'])(
    'is in %s',
    async (body) => {
      expect((await answered(['invoice', '5'], body)).code).toBe(0);
    },
  );
});

describe('webhook set', () => {
  it.each([`{"webhook":"${HOOK}"}`, '{"webhook":"HTTPS://EXAMPLE.com:443/hook"}'])(
    'is done where the answer is %s',
    async (body) => {
      const { code, stderr } = await answered(commands['webhook set'].args, body);
      expect([code, stderr]).toEqual([0, '']);
    },
  );

  it.each([
    ['{"message":"done"}', { webhook: HOOK }, 0],
    ['OK', { webhook: HOOK }, 0],
    ['{"message":"Access denied"}', { webhook: 'https://other.example.com/' }, 1],
    ['{"message":"Access denied"}', { webhook: null }, 1],
    ['{"message":"Access denied"}', { message: 'Access denied' }, 1],
  ])('asks what is set where the answer is %s: %j', async (body, set, exit) => {
    const { service, user } = await account();
    service.on('POST /webhook', { body }).on('GET /webhook', { body: set });
    const { code, stdout, stderr } = await user.run(['webhook', 'set', HOOK]);
    expect([code, stdout], stderr).toEqual([exit, exit ? '' : `${HOOK}\n`]);
  });

  it('fails where the answer names another URL', async () => {
    const { code, stdout, stderr } = await answered(
      commands['webhook set'].args,
      '{"webhook":"https://other.example.com/","message":"ok"}',
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      `steno: the webhook was not set to ${HOOK}: the service reports https://other.example.com/\n`,
    );
  });
});
