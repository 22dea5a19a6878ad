/** Answers of every shape are read without losing a digit, and shown as they came. */
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';
import { sliceOf } from '../support/slices.ts';
import { unclearWebhooks } from '../support/webhooks.ts';

const json = { 'content-type': 'application/json' };

async function shown(args: string[], body: string): Promise<string> {
  const { service, user } = await account();
  service.on('*', { body, headers: json });
  const { code, stdout, stderr } = await user.run(args);
  expect(code, stderr).toBe(0);
  return stdout;
}

/** JSON without its blanks; the texts here have none inside strings. */
const dense = (text: string): string => text.replace(/\s+/g, '');

const WILD_ID = '123456789012345678901234567890';

describe('a file', () => {
  const wild =
    '{"audiofile":{"id":123456789012345678901234567890,"statename":"Delivered","duration":"1","total":12.50,"quality_stars":null,' +
    '"title":"A","orders":["0a0",9007199254740993],"invoices":"007,8","names":"Ada|Grace","new_field":{"x":[1.0,1e400,-0,true]},"originallink":"https://h/a.mp3"},"message":"ok"}';

  it('is shown with every digit and every field that came, with --json', async () => {
    expect(dense(await shown(['file', WILD_ID, '--json'], wild))).toContain(`"answer":${wild}}`);
  });

  it('is a row of exact values off a terminal', async () => {
    const [row = []] = [(await shown(['file', WILD_ID, '--columns', 'all'], wild)).trimEnd().split('\t')];
    expect(row.slice(0, 6)).toEqual([WILD_ID, 'Delivered', 'A', '1', '12.50', '0a0']);
    expect(row).toEqual(expect.arrayContaining(['007,8', 'Ada|Grace', 'https://h/a.mp3']));
  });

  it.each([
    ['no wrapper', '{"id":"0077","statename":"Error"}', '77\tError'],
    ['nothing but an id', '{"audiofile":{"id":77.0}}', '77\t'],
    ['nothing at all', '{"audiofile":{}}', '77\t'],
    ['nulls everywhere', '{"audiofile":{"id":null,"statename":null,"orders":null,"title":null}}', '77\t'],
    ['names as a list', '{"audiofile":{"id":77,"names":["Ada","Grace"]}}', 'Ada|Grace'],
    ['booleans where ids belong', '{"audiofile":{"id":true,"orders":false,"invoices":[true]}}', '77\t'],
    ['a boolean where a text belongs', '{"audiofile":{"id":77,"title":false}}', '\tfalse\t'],
  ])('is read with %s', async (_, body, row) => {
    const line = await shown(['file', '77', '--columns', 'all'], body);
    expect(line).toContain(row);
    expect(line.startsWith('77\t')).toBe(true);
  });

  it('is an error where the answer is no object', async () => {
    const { service, user } = await account();
    service.on('*', { body: '[]', headers: json });
    const { code, stderr } = await user.run(['file', '77']);
    expect([code, stderr]).toEqual([1, 'steno: the answer for 77 contains no audiofile\n']);
  });
});

describe('several files', () => {
  it('are an array in the order asked, whatever the order of the answers', async () => {
    const { service, user } = await account();
    for (const id of [3, 1, 2]) {
      service.on(`GET /audiofile/${id}`, (_, response) => {
        setTimeout(
          () => response.setHeader('content-type', 'application/json').end(`{"audiofile":{"id":${id}}}`),
          40 * id,
        );
      });
    }
    const { code, stdout } = await user.run(['file', '3', '1', '2', '3', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([3, 1, 2, 3].map((id) => ({ audiofile: String(id) })));
  });

  it('end with 10 where one fails; it is listed and stands in its place', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1 } } });
    service.on('GET /audiofile/3', { body: { audiofile: { id: 3 } } });
    const rows = await user.run(['file', '1', '2', '3']);
    expect(rows.code).toBe(10);
    expect(rows.stdout.split('\n').map((row) => row.split('\t')[0])).toEqual(['1', '3', '']);
    expect(rows.stderr).toMatch(/^steno: 2: .*no such thing.*\nsteno: 1 of 3 failed\n$/);
    const doc = await user.run(['file', '1', '2', '3', '--json']);
    expect(doc.code).toBe(10);
    const [one, two, three] = JSON.parse(doc.stdout) as Array<Record<string, unknown>>;
    expect([one, two, three].map((each) => each?.audiofile)).toEqual(['1', '2', '3']);
    expect(two?.error).toMatchObject({ code: 'missing', status: 404 });
    expect(jsonError(doc.stderr)).toMatchObject({
      code: 'partial',
      failures: [{ what: '2', code: 'missing', status: 404 }],
    });
  });

  it('end with the code of their failure where all fail alike', async () => {
    const { user } = await account();
    const { code, stderr } = await user.run(['file', '1', '2']);
    expect(code).toBe(4);
    expect(stderr).toContain('steno: 2 of 2 failed');
  });

  it('stop at a key that is not accepted', async () => {
    const { service, user } = await account();
    service.on('*', { status: 401, body: { message: 'bad key' } });
    const { code, stdout } = await user.run(['file', ...Array.from({ length: 60 }, (_, at) => `${at}`)]);
    expect([code, stdout]).toEqual([3, '']);
    expect(service.got.length).toBeLessThan(20);
  });
});

describe('a balance', () => {
  it.each([
    ['{"balance":"1.00"}', '1.00'],
    ['{"balance":1.00}', '1.00'],
    ['{"balance":0}', '0'],
    ['{"balance":-12.5,"message":"x"}', '-12.5'],
    ['{"balance":99999999999999999999.99}', '99999999999999999999.99'],
    ['"7.10"', '7.10'],
  ])('of %s is %s', async (body, balance) => {
    expect(await shown(['balance'], body)).toBe(`${balance}\n`);
  });

  it.each(sliceOf(['{}', '{"balance":null}', '[]', 'null'], 2))(
    'that is not in %s is an error',
    async (body) => {
      const { service, user } = await account();
      service.on('*', { body, headers: json });
      const { code, stdout, stderr } = await user.run(['balance']);
      expect([code, stdout, stderr]).toEqual([1, '', 'steno: the answer contains no balance\n']);
    },
  );

  it('is held against --min digit by digit', async () => {
    const { service, user } = await account();
    service.on('*', { body: '{"balance":"10000000000000000.01"}', headers: json });
    for (const min of ['10000000000000000.02', '10000000000000000.01', '.5', '1e3', '-1', '$10']) {
      const { code, stdout } = await user.run(['balance', '--min', min, '--quiet']);
      expect([min, code, stdout]).toEqual([min, min.endsWith('.02') ? 1 : 0, '10000000000000000.01\n']);
    }
  });
});

describe('an invoice', () => {
  const body =
    '{"id":9007199254740993,"purchase_order":null,"createtime":"2024-05-01T10:00:00Z","paidtime":null,"total":"30.00","state":"SUBMITTED","extra":1,' +
    '"items":[{"id":1,"sku":"TRANS14","quantity":2.0,"price":10.00,"audiofile":"12","total":20.00},{"id":"2","sku":"TSTMP1","quantity":1,"price":"10.00","total":"10.00"}]}';

  it('is shown as it came with --json, and a row an item without', async () => {
    const document = dense(await shown(['invoice', '1', '--json'], body));
    expect(document).toContain(`"answer":${body}}`);
    expect(document).toContain('{"invoice":"9007199254740993","state":"SUBMITTED",');
    expect(document).toContain('"total":30.00,');
    expect(document).toContain(
      '{"item":"1","sku":"TRANS14","quantity":2.0,"price":10.00,"audiofile":"12","total":20.00}',
    );
    const head = '9007199254740993\tSUBMITTED\t\t2024-05-01T10:00:00Z\t\t30.00\tUSD\t';
    expect(await shown(['invoice', '1'], body)).toBe(
      `${head}1\tTRANS14\t2.0\t10.00\t12\t20.00\n${head}2\tTSTMP1\t1\t10.00\t\t10.00\n`,
    );
  });

  it.each([
    ['a wrapper', '{"invoice":{"id":5,"total":1}}', '5\t\t\t\t\t1\tUSD\t\t\t\t\t\t\n'],
    ['no items', '{"id":5,"items":null}', '5\t\t\t\t\t\tUSD\t\t\t\t\t\t\n'],
    ['odd items', '{"id":5,"items":[null,7,{"id":1}]}', '5\t\t\t\t\t\tUSD\t1\t\t\t\t\t\n'],
  ])('is read with %s', async (_, answer, rows) => {
    expect(await shown(['invoice', '5'], answer)).toBe(rows);
  });
});

describe('a webhook', () => {
  const url = 'https://example.com/hook?x=1';

  it.each([
    ['webhook', `{"webhook":"${url}","message":"ok"}`, url],
    ['webhook_url', `{"message":"see https://x","webhook_url":"${url}"}`, url],
    ['an odd key', `{"message":"ok","current":"${url}"}`, url],
    ['a key inside a key', `{"webhook":{"url":"${url}"}}`, url],
    ['a list', `["${url}"]`, url],
    ['no key at all', `"${url}"`, url],
    ['null', '{"webhook":null,"help":"https://example.com/docs"}', ''],
    ['an empty text', '{"webhook":"","help":"https://example.com/docs"}', ''],
    ['an object in an object', `{"result":{"webHookURL":"${url}","message":"https://x"}}`, url],
    ['two keys', `{"webhook":"${url}","url":"${url}"}`, url],
    ['a null in an object', '{"data":{"webhook":{"url":null}}}', ''],
    ['an empty list', '{"webhook":[]}', ''],
    ['an empty list alone', '[]', ''],
    ['an empty text alone', '""', ''],
    ['a null answer', 'null', ''],
    ['something that is no URL', '{"webhook":"example.com/hook"}', 'example.com/hook'],
  ])('is found under %s', async (_, body, found) => {
    expect(await shown(['webhook', 'get'], body)).toBe(found ? `${found}\n` : '');
    const document = dense(await shown(['webhook', 'get', '--json'], body));
    expect(document).toBe(`{"url":${found ? JSON.stringify(found) : 'null'},"answer":${dense(body)}}`);
  });

  it.each(sliceOf(unclearWebhooks, 4))('is not guessed from %s', async (body) => {
    const { service, user } = await account();
    service.on('GET /webhook', { body });
    for (const flags of [[], ['--json'], ['--quiet']]) {
      const { code, stdout, stderr } = await user.run(['webhook', 'get', ...flags]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain("the service's answer can't be read");
    }
  });

  it('that is not set is said on stderr, and is an empty table', async () => {
    const { service, user } = await account();
    service.on('*', { body: { webhook: null } });
    const plain = await user.run(['webhook', 'get']);
    expect([plain.code, plain.stdout, plain.stderr]).toEqual([
      0,
      '',
      expect.stringContaining('no webhook is set'),
    ]);
    const csv = await user.run(['webhook', 'get', '--csv']);
    expect(csv.stdout).toBe('url\r\n');
  });

  it('that comes as bare text is read', async () => {
    const { service, user } = await account();
    service.on('GET /webhook', { body: 'https://e.com/hook\n' });
    expect((await user.run(['webhook', 'get'])).stdout).toBe('https://e.com/hook\n');
  });

  it('that was set is shown, also where the answer does not name it', async () => {
    const { service, user } = await account();
    service
      .on('POST /webhook', { body: '{"message":"done"}' })
      .on('GET /webhook', { body: { webhook: url } });
    expect((await user.run(['webhook', 'set', url])).stdout).toBe(`${url}\n`);
  });
});

describe('an order', () => {
  const order = ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14', '--no-ledger'];

  it.each([
    [
      'strings and long numbers',
      '{"order":"0a0","audiofiles":[12345678901234567890,"007"],"message":"ok"}',
      '12345678901234567890\n007\n',
    ],
    ['one id without a list', '{"order":4,"audiofiles":12}', '12\n'],
    ['ids in a text', '{"order":4,"audiofiles":"12,13"}', '12\n13\n'],
    ['objects with ids', '{"order":4,"audiofiles":[{"id":12}]}', '12\n'],
  ])('is read with %s', async (_, body, quiet) => {
    expect(await shown([...order, '--quiet'], body)).toBe(quiet);
    expect(dense(await shown([...order, '--json'], body))).toContain(`"answer":${dense(body)}}`);
  });

  it.each([
    '{"order":false,"audiofiles":false,"message":"insufficient funds"}',
    '{"order":false,"audiofiles":[],"message":"insufficient funds"}',
    '{"order":true,"audiofiles":[false],"message":"insufficient funds"}',
  ])('is unclear where true and false are all that is named: %s', async (body) => {
    const { service, user } = await account();
    service.on('*', { body, headers: json });
    const { code, stdout, stderr } = await user.run(order);
    expect([code, stdout]).toEqual([11, '']);
    expect(stderr).toContain('it contains neither an order nor an audiofile, but says: insufficient funds');
  });

  it.each([
    ['"billing"', true],
    ['"something new"', true],
    ['""', true],
    ['true', true],
    ['null', true],
    ['false', true],
  ])('with hold %s is held: %s', async (hold, held) => {
    const { service, user } = await account();
    service.on('*', { body: `{"order":"h1","audiofiles":[5],"hold":${hold}}`, headers: json });
    const plain = await user.run([...order, '--quiet']);
    expect([plain.code, plain.stdout]).toEqual([0, '5\n']);
    expect(plain.stderr.includes('on hold')).toBe(held);
    const strict = await user.run([...order, '--fail-on-hold', '--quiet']);
    expect([strict.code, strict.stdout]).toEqual([held ? 5 : 0, '5\n']);
  });
});

describe('a raw call', () => {
  it('prints JSON as it came, and anything else byte by byte', async () => {
    const bytes = Buffer.from([0x50, 0x4b, 0, 0xff, 0xfe, 0x0a, 0x80, 0x1b]);
    const { service, user } = await account();
    service.on('GET /json', { body: '{"b":1.00,"a":12345678901234567890}' });
    service.on('GET /doc', { body: bytes });
    service.on('GET /none', { status: 204 });
    expect(dense((await user.run(['api', 'GET', '/json'])).stdout)).toBe(
      '{"b":1.00,"a":12345678901234567890}',
    );
    expect((await user.run(['api', 'GET', '/doc'])).bytes.equals(bytes)).toBe(true);
    const none = await user.run(['api', 'GET', '/none']);
    expect([none.code, none.stdout]).toEqual([0, '']);
    const odd = await user.run(['api', 'GET', '/doc', '--json']);
    expect([odd.code, odd.stdout]).toEqual([1, '']);
  });
});
