/** What every command really prints with --json matches its schema, to the last member. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { messages, schemaOf } from '../../src/commands/schema.ts';
import { runnables } from '../../src/spec/command-index.ts';
import { account, fileAnswer } from '../support/account.ts';
import { groups, outputs } from '../support/commands.ts';
import { parseCsv } from '../support/csv.ts';
import { audio, orderingAccount } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { type Result, User } from '../support/steno.ts';

const schemaNames = [...outputs.keys(), ...Object.keys(messages)];
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  formats: { 'date-time': iso },
});
const compiled = new Map<string, ValidateFunction>();

function schema(name: string): ValidateFunction {
  const known = compiled.get(name) ?? ajv.compile(schemaOf(name, outputs) ?? {});
  compiled.set(name, known);
  return known;
}

const checked = new Set<string>();

/** Checks a document, and gives it back. */
function matching<T = unknown>(name: string, document: unknown): T {
  const validate = schema(name);
  expect([validate(document), validate.errors, document]).toEqual([true, null, document]);
  checked.add(name);
  return document as T;
}

type Run = (...args: string[]) => Promise<Result>;

/** Runs a command with --json and checks its stdout, and each line of its stderr. */
async function json<T = unknown>(run: Run, name: string, ...args: string[]): Promise<T> {
  const { stdout, stderr } = await run(...args, '--json');
  for (const line of stderr.split('\n').filter((each) => each.startsWith('{')))
    matching('error' in JSON.parse(line) ? 'error' : 'warning', JSON.parse(line));
  return matching<T>(name, JSON.parse(stdout));
}

const runOf =
  (user: User, ...before: string[]): Run =>
  (...args) =>
    user.run([...before, ...args]);

const LONG = '12345678901234567890';

describe('what is printed matches its schema:', { timeout: 120_000 }, () => {
  it('orders of every form, with failures, holds and no files', async () => {
    const { service, user } = await account();
    const order: Run = (...args) => user.run(['order', '--sku', 'TRANS14', ...args]);
    const answers = [
      { body: `{"order":${LONG},"audiofiles":[${LONG}],"message":"ok","new":{"x":1.10}}` },
      { body: { order: 'o2', audiofiles: [2], message: 'held', hold: 'billing' } },
      { status: 400, body: { message: 'no' } },
      { body: { order: 'o4', message: 'ok' } },
    ];
    writeFileSync(join(user.home, 'm'), ['a', 'b', 'c', 'd', 'e'].map(audio).join('\n'));
    service.on('POST /order_url', ...answers);
    const from = await json<Array<Record<string, unknown>>>(
      order,
      'order',
      '--from',
      'm',
      '--per-order',
      '1',
    );
    expect(from.map(({ audiofile, error }) => [audiofile, Boolean(error)])).toEqual([
      [LONG, false],
      ['2', false],
      [null, true],
      [null, true],
      [null, true],
    ]);
    const text = (await order('--from', 'm', '--skip-ordered', '--json')).stdout;
    matching('order', JSON.parse(text));
    service.on('POST /order_url', { body: { order: 'o5', audiofiles: [5], surprise: [1] } });
    service.allow('GET /audiofile/5', {
      body: `{"audiofile":{"id":5,"statename":"Error","total":"1.10","new":null}}`,
    });
    const waited = await json(order, 'order', audio('z'), '--wait', '--interval', '50ms', '--no-ledger');
    expect(waited).toMatchObject([
      { audiofile: '5', total: 1.1, state: 'Error', error: { code: 'unfinished' } },
    ]);
    service.on('POST /order_url', { body: { order: 'o6', audiofiles: [6] } });
    await json(order, 'order', audio('y'));
    await json(order, 'order --dry-run', audio('x'), '--dry-run', '--name', 'Ada', '--notes', 'n', '--test');
    await json(order, 'order --dry-run', '--from', 'm', '--again', '--dry-run');
    expect(schema('order')([{ ...from[0], more: 1 }])).toBe(false);
    expect(schema('order')([{ ...from[0], audiofile: 5 }])).toBe(false);
  });

  it('ignored audio', async () => {
    const run = runOf((await orderingAccount()).user);
    await json(run, 'ignore', 'ignore', audio('a'), 'a key');
    await json(run, 'ignore', 'ignore', '--list');
  });

  it('budgets', async () => {
    const { user } = await orderingAccount();
    const run = runOf(user);
    await json(run, 'budget', 'budget');
    await json(run, 'budget set', 'budget', 'set', '5/day');
    await json(run, 'config set', 'config', 'set', 'budget', '50 EUR/year');
    await json(run, 'budget', 'budget');
    await json(run, 'budget unset', 'budget', 'unset');
  });

  it('files of the ledger, followed, tracked, waited for, synchronised and downloaded', async () => {
    const { user, order, states, service } = await orderingAccount();
    const run = runOf(user);
    await json(run, 'files', 'files');
    await json(run, 'wait', 'wait');
    await json(run, 'sync', 'sync', '--download', 'd');
    await json(run, 'attempts', 'attempts');
    await json(run, 'report', 'report');
    states.set('2', ['Order Cancelled']).set('3', ['Transcribing']);
    await order(audio('a'), audio('b'), '--name', 'Ada', '--notes', 'n');
    await order(audio('c'), '--key', 'k');
    await order(audio('t'), '--test');
    await json(run, 'files', 'files');
    await json(run, 'sync', 'sync', '--download', 'd');
    const all = await json<Array<Record<string, unknown>>>(run, 'files', 'files', '--refresh');
    expect(schema('files')(all.map(({ state: _, ...rest }) => rest))).toBe(false);
    await json(run, 'wait', 'wait', '1', '--download', 'e');
    await json(run, 'wait', 'wait', '1', '2', '--interval', '50ms');
    service.on('GET /audiofile/99', { status: 404 }, fileAnswer(99));
    await json(run, 'track', 'track', '1', '99');
    await json(run, 'track', 'track', '99');
    await json(run, 'transcript', 'transcript', '1', '-o', 'f/');
    service.on('POST /audiofile/98/transcript.txt', { status: 404 });
    await json(run, 'transcript', 'transcript', '1', '98', '-o', 'f/', '--skip-existing');
    await json(run, 'transcript', 'transcript', '1', '-o', 'f/', '--format', 'txt,vtt');
    await json(run, 'check', 'check', '1', '98');
    await json(run, 'search', 'search', 'the');
    await json(run, 'convert', 'convert', '1', '98', '--to', 'md');
    await json(run, 'file', 'file', '1');
    service.on('GET /audiofile/97', { status: 404 });
    await json(run, 'file', 'file', '1', '97');
    service.on('POST /order_url', { status: 500 });
    await order(audio('u'));
    const [open] = await json<Array<{ attempt: number }>>(run, 'attempts', 'attempts');
    await json(run, 'log', 'log');
    await json(run, 'report', 'report');
    expect(await json(run, 'report', 'report', '--html', 'r.html')).toEqual({ path: 'r.html' });
    await json(run, 'attempts settle', 'attempts', 'settle', String(open?.attempt), '--not-placed');
  });

  it.each([
    ['balance', 'GET /prepay_balance', ['12.50', '"12.50"', '{"balance":12.5}']],
    [
      'webhook get',
      'GET /webhook',
      ['"https://e.org/h"', 'https://e.org/h', 'null', '["https://e.org/h"]', '{"webhook":""}'],
    ],
    ['webhook set', 'POST /webhook', ['"https://e.org/h"', 'https://e.org/h', '["https://e.org/h"]']],
    ['webhook test', 'POST /webhook/test/DIFFICULT_AUDIO', ['"sent"', 'sent', 'true', '1', '["sent"]']],
  ])('a bare answer of the service: %s', async (name, route, bodies) => {
    const { service, user } = await account();
    const args: Readonly<Record<string, string[]>> = {
      'webhook set': ['https://e.org/h'],
      'webhook test': [route.replace(/.*\//, '')],
    };
    service.on(route, ...bodies.map((body) => ({ body })));
    for (const _ of bodies) await json(runOf(user), name, ...name.split(' '), ...(args[name] ?? []));
  });

  it('calls, the account and its settings', async () => {
    const user = new User();
    const run = runOf(user, '--sandbox');
    const id = (await run('order', audio('slow'), '--sku', 'TRANS2', '--quiet')).stdout.trim();
    await json(run, 'balance', 'balance');
    await json(run, 'upgrade', 'upgrade', id, '--sku', 'TSTMP1');
    const [{ order = '' } = {}] = JSON.parse((await run('files', '--json')).stdout) as Array<{
      order?: string;
    }>;
    const { invoices = [] } = JSON.parse((await run('file', id, '--json')).stdout);
    await json(
      run,
      'invoice',
      'invoice',
      ...(invoices.length ? [String(invoices[0])] : []),
      '77777',
      '77778',
    );
    await json(run, 'refund', 'refund', id, '--yes');
    await json(run, 'webhook get', 'webhook', 'get');
    await json(run, 'webhook set', 'webhook', 'set', 'http://127.0.0.1:9/hook');
    await json(run, 'webhook test', 'webhook', 'test', 'TRANSCRIPT_COMPLETE');
    await json(run, 'api', 'api', 'GET', '/prepay_balance');
    expect(order).not.toBe('');
    const held = (await run('order', audio('hold'), '--sku', 'TRANS2', '--json')).stdout;
    await json(runOf(user), 'sandbox release', 'sandbox', 'release', JSON.parse(held)[0].order);
    await json(runOf(user), 'sandbox advance', 'sandbox', 'advance');
    await json(runOf(user), 'sandbox reset', 'sandbox', 'reset');
    const plain = runOf(user);
    await json(plain, 'config set', 'config', 'set', 'currency', 'usd');
    await json(plain, 'config list', 'config', 'list');
    await json(plain, 'config get', 'config', 'get', 'currency');
    await json(plain, 'config unset', 'config', 'unset', 'currency');
    await json(plain, 'config path', 'config', 'path');
    await json(plain, 'whoami', 'whoami');
    const login = await user.run(['login', '--no-verify', '--base-url', 'https://e.org/API4', '--json'], {
      stdin: 'a-key-of-some-length-0123\n',
    });
    matching('login', JSON.parse(login.stdout));
    await json(plain, 'logout', 'logout');
    await json(plain, 'doctor', 'doctor');
  });

  it('the catalogue and the interface itself', async () => {
    const run = runOf(new User());
    for (const name of ['skus', 'states', 'formats', 'commands', 'schema']) await json(run, name, name);
    await json(run, 'schema', 'schema', 'files');
    const { commands } = await json<{ commands: Array<Record<string, unknown>> }>(
      run,
      'commands',
      'commands',
    );
    const order = commands.find(({ command }) => command === 'order');
    expect(order).toMatchObject({
      effect: 'money',
      costs_money: true,
      safe_to_repeat: false,
      schema: 'order',
    });
    expect(commands.find(({ command }) => command === 'files')).toMatchObject({
      costs_money: false,
      safe_to_repeat: true,
      alias: 'ls',
    });
  });

  it('the ledger', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    const run = runOf(user);
    await json(run, 'ledger status', 'ledger', 'status');
    await json(run, 'ledger migrate', 'ledger', 'migrate');
    await json(run, 'ledger prune', 'ledger', 'prune', '--before', '1d', '--yes');
    const { stdout } = await user.run(['ledger', 'export']);
    expect(await json(run, 'ledger export', 'ledger', 'export', '-o', 'dump')).toEqual({ path: 'dump' });
    expect(readFileSync(join(user.home, 'dump'), 'utf8')).toBe(stdout);
    await json(run, 'ledger import', 'ledger', 'import', 'dump');
  });
});

it('events match their schemas, as they come and later', async () => {
  const { user } = await account();
  const run = runOf(user);
  await json(run, 'events', 'events');
  const listener = await Listener.start(user, ['--json']);
  await listener.post(complete('1', 'a'));
  await listener.post('event=ODD&x=1&x=2');
  await listener.until(() => listener.json.length === 2);
  await listener.stop();
  for (const event of listener.json) matching('listen', event);
  const all = await json<object[]>(run, 'events', 'events');
  expect(schema('events')(all.map((event) => ({ ...event, more: 1 })))).toBe(false);
  const following = user.start(['events', '--follow', '--json']);
  const [followed] = (await once(following.stdout, 'data')) as [Buffer];
  following.kill('SIGINT');
  matching('events', JSON.parse(followed.toString().split('\n')[0] ?? ''));
  await json(run, 'events show', 'events', 'show', '1');
  await json(run, 'events replay', 'events', 'replay', '1', '2', '--exec', 'true');
  await json(run, 'events replay', 'events', 'replay', '1', '2', '--exec', 'false');
});

afterAll(() => {
  // What no test here can run: a shared ledger, what only serves, and what its own test compares with its schema.
  const elsewhere = ['ledger copy', 'diff', 'quote', 'sandbox', 'ui', 'open'];
  expect(schemaNames.filter((name) => !checked.has(name) && !elsewhere.includes(name))).toEqual([]);
});

describe('the list of schemas', () => {
  const all = runnables(groups);

  it('has every command that prints JSON, and no other', () => {
    const names = all.map(({ path }) => path);
    expect(names.filter((name) => !outputs.has(name))).toEqual(['mcp', 'completion']);
    expect([...outputs.keys()].filter((name) => !names.includes(name))).toEqual(['order --dry-run']);
  });

  it('is printed offline, with a hint at a typo', async () => {
    const user = new User();
    for (const name of ['files', 'events show', 'error', 'order --dry-run'])
      expect(JSON.parse((await user.run(['schema', ...name.split(' ')])).stdout)).toEqual(
        JSON.parse(JSON.stringify(schemaOf(name, outputs))),
      );
    expect(JSON.parse((await user.run(['schema', 'ls'])).stdout)).toEqual(schemaOf('files', outputs));
    expect((await user.run(['schema', '--quiet'])).stdout.trim().split('\n')).toEqual([...schemaNames]);
    const typo = await user.run(['schema', 'fils']);
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean files')]);
    const above = await user.run(['schema', 'config']);
    expect([above.code, above.stderr]).toEqual([2, expect.stringContaining('config list')]);
    for (const line of [['constructor'], ['files', '--dry-run'], ['--dry-run']])
      expect((await user.run(['schema', ...line])).code).toBe(2);
    expect(Object.keys(messages)).toEqual(['error', 'warning']);
  });

  it('names the columns that CSV has, and so does the help', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    for (const line of [
      'files',
      'attempts',
      'skus',
      'events',
      'wait 1',
      'file 1',
      'track 1',
      'config list',
      'sync',
    ]) {
      const [header = []] = parseCsv((await user.run([...line.split(' '), '--csv'])).stdout);
      const name = line.replace(/ \d$/, '');
      expect([line, header]).toEqual([line, outputs.get(name)?.columns.map((column) => column.name)]);
      const help = (await user.run(['help', ...name.split(' ')])).stdout.replace(/\s+/g, ' ');
      const more = outputs.get(name)?.columns.filter((column) => column.more) ?? [];
      for (const column of more) expect(help.split('With --columns all')[1]).toContain(column.name);
      const own = header.filter((each) => !more.some(({ name }) => name === each));
      expect(help).toContain(own.join(', '));
    }
  });
});
