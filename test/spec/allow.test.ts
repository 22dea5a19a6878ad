/** STENO_ALLOW and the setting `allow`: a line that does more is refused before anything is sent, read or written. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from '../../src/cli/main.ts';
import { loadGroups } from '../../src/cli/registry.ts';
import { type Effect, effects } from '../../src/lib/effects.ts';
import { checkAllowed } from '../../src/spec/allow.ts';
import { runnables } from '../../src/spec/command-index.ts';
import { flagNames } from '../../src/spec/options.ts';
import { account } from '../support/account.ts';

const url = 'https://example.com/a.mp3';

/** Every command, and every flag that does more than its command: with all effects that the line has. */
const lines: ReadonlyArray<readonly [line: string, ...effects: Effect[]]> = [
  [`order ${url} --sku TRANS14`, 'money'],
  [`order ${url} --sku TRANS14 --dry-run`, 'read'],
  [`order ${url} --sku TRANS14 --dry-run --download out`, 'read'],
  [`order ${url} --sku TRANS14 --download out`, 'money', 'local'],
  ['upgrade 5 --sku UPGRD1', 'money'],
  ['refund 5 --yes', 'money'],
  ['attempts', 'read'],
  ['attempts settle 1 --not-placed', 'local'],
  [`ignore ${url}`, 'local'],
  [`ignore --remove ${url}`, 'local'],
  ['ignore --list', 'read'],
  ['track 5', 'local'],
  ['file 5', 'read'],
  ['file 5 --watch', 'read'],
  ['files', 'read'],
  ['ls --refresh', 'read'],
  ['wait 5', 'read'],
  ['wait 5 --download out', 'read', 'local'],
  ['transcript 5', 'local'],
  ['transcript 5 -o out.txt', 'local'],
  ['transcript 5 -o -', 'read'],
  ['sync', 'read'],
  ['sync --download out', 'read', 'local'],
  ['sync --download out --exec cat', 'read', 'local', 'exec'],
  ['sync --download undefined', 'read', 'local'],
  ['ui', 'read'],
  ['ui --no-open --port 0', 'read'],
  ['open 5', 'read'],
  ['open --order 4nX', 'read'],
  ['open --event 1', 'read'],
  ['search words', 'read'],
  ['search --forget', 'read', 'local'],
  ['check', 'local'],
  ['check talk.vtt --rules bbc', 'read'],
  ['diff talk.vtt 5', 'read'],
  ['quote these words', 'read'],
  ['quote --verify article.md', 'read'],
  ['convert talk.vtt --to srt', 'local'],
  ['convert talk.vtt --to srt -o -', 'read'],
  ['convert --feed feed.xml --base https://example.com/t/', 'read'],
  ['convert --feed feed.xml --base https://example.com/t/ -o new.xml', 'local'],
  ['budget', 'read'],
  ['budget set 5/day', 'local'],
  ['budget unset', 'local'],
  ['log', 'read'],
  ['balance', 'read'],
  ['invoice 7', 'read'],
  ['webhook get', 'read'],
  ['webhook set https://example.com/h', 'account'],
  ['webhook test TRANSCRIPT_COMPLETE', 'account'],
  ['listen', 'local'],
  ['listen --register --public-url https://example.com/', 'local', 'account'],
  ['listen --forward-to http://127.0.0.1:9/', 'local', 'account'],
  ['listen --exec cat', 'local', 'exec'],
  ['listen --register --tunnel cat', 'local', 'account', 'exec'],
  ['listen --download out', 'local'],
  ['listen --exec undefined', 'local', 'exec'],
  ['events', 'read'],
  ['events show 1', 'read'],
  ['events replay 1 --to http://127.0.0.1:9/', 'account'],
  ['events replay 1 --exec cat', 'account', 'exec'],
  ['login', 'local'],
  ['login --api-key-command cat', 'local', 'exec'],
  ['logout', 'local'],
  ['whoami', 'read'],
  ['config list', 'read'],
  ['config get timeout', 'read'],
  ['config path', 'read'],
  ['config set timeout 5s', 'local'],
  ['config set upload-command cat', 'exec'],
  ['config set API_KEY_COMMAND cat', 'exec'],
  ['config set allow read', 'money'],
  ['config unset allow', 'money'],
  ['config unset timeout', 'local'],
  ['skus', 'read'],
  ['states', 'read'],
  ['formats', 'read'],
  ['sandbox', 'local'],
  ['sandbox reset', 'local'],
  ['sandbox release 5', 'local'],
  ['sandbox advance', 'local'],
  ['mcp', 'read'],
  ['mcp --allow-orders --max-cost 20', 'read', 'money'],
  ['api GET /prepay_balance', 'read'],
  ['api GET /audiofile/5/refund', 'money'],
  ['api POST /invoice/7', 'read'],
  ['api post /order_url', 'money'],
  ['api POST /audiofile/5/%75pgrade', 'money'],
  ['api POST /webhook webhook=https://example.com/', 'account'],
  ['api GET /webhook', 'read'],
  ['api head webhook', 'read'],
  ['api GET /webhook webhook=https://example.com/', 'account'],
  ['api HEAD /Webhook webhook=https://example.com/', 'account'],
  ['api GET /%2577ebhook webhook=https://example.com/', 'account'],
  ['api GET /webhook/test/TRANSCRIPT_COMPLETE', 'account'],
  ['api GET /x;a=b/../webhook;v=1 webhook=https://example.com/', 'account'],
  ['api PUT /webhook/', 'account'],
  ['api GET /API4/webhook webhook=https://example.com/', 'account'],
  ['api GET /..%2fAPI4%2fwebhook webhook=https://example.com/', 'account'],
  ['api POST /transcript/..%2f..%2fAPI4%2fwebhook webhook=https://example.com/', 'account'],
  ['api GET /webhooks', 'read'],
  ['api POST /something_new', 'money'],
  ['api DELETE /audiofile/5', 'money'],
  ['report', 'read'],
  ['report --html out.html', 'read', 'local'],
  ['report --html undefined', 'read', 'local'],
  ['ledger status', 'read'],
  ['ledger migrate', 'local'],
  ['ledger copy --to local', 'local'],
  ['ledger export', 'read'],
  ['ledger export -o out.jsonl', 'read', 'local'],
  ['ledger export -o -', 'read'],
  ['ledger import -', 'local'],
  ['ledger prune --before 1d', 'local'],
  ['ledger copy --to postgres://db/steno --leave-local', 'local'],
  ['doctor', 'read'],
  ['schema files', 'read'],
  ['commands', 'read'],
  ['completion bash', 'read'],
];

const cases = lines.map(([line, ...has]) => ({ line, has }));

const without = (one: Effect): string => effects.filter((each) => each !== one).join(',');

describe('every line', () => {
  it('is of a command in the table, with each flag that has an effect', async () => {
    const all = runnables(await loadGroups());
    const commandOf = (line: string) =>
      all.findLast(({ path, spec }) =>
        [path, spec.alias].some((name) => name && `${line} `.startsWith(`${name} `)),
      );
    const named = new Map(lines.map(([line]) => [line, commandOf(line)?.path]));
    expect(all.map(({ path }) => path).filter((name) => ![...named.values()].includes(name))).toEqual([]);
    const flags = all.flatMap(({ path: command, spec }) =>
      Object.values(spec.options ?? {}).flatMap((each) =>
        each.effect ? [{ command, flag: flagNames(each)[0] ?? '' }] : [],
      ),
    );
    const missing = flags.filter(
      ({ command, flag }) =>
        !lines.some(([line]) => named.get(line) === command && line.split(' ').includes(flag)),
    );
    expect(missing).toEqual([]);
  });

  it.each(cases)('does what it says, and no more: $line', async ({ line, has }) => {
    const parsed = await parse(line.split(' '));
    if (!('command' in parsed)) throw new Error('it is no command');
    const check = (STENO_ALLOW: string) => () =>
      checkAllowed(
        { env: { STENO_ALLOW }, globals: parsed.globals },
        parsed.command,
        parsed.path,
        parsed.input,
      );
    expect(check(has.join(','))).not.toThrow();
    for (const effect of has) expect(check(without(effect))).toThrow(/ is not allowed: it /);
  });

  it.each(cases)('touches nothing where one of its effects is not allowed: $line', async ({ line, has }) => {
    const { user, service } = await account();
    const before = readdirSync(user.home, { recursive: true });
    for (const effect of has) {
      const { code, stdout, stderr } = await user.run(line.split(' '), {
        env: { STENO_ALLOW: without(effect) },
      });
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringMatching(/^steno: .* is not allowed: it /),
      ]);
    }
    expect([service.got, readdirSync(user.home, { recursive: true })]).toEqual([[], before]);
  });
});

describe('STENO_ALLOW', () => {
  it.each([
    ['', /STENO_ALLOW names no effect\nhint: choose from: read, local, exec, account, money\n$/],
    ['rad', /STENO_ALLOW: 'rad' is not an effect\nhint: did you mean read\?/],
    ['read,READ', /'READ' is not an effect/],
  ])('refuses %j, whatever the command', async (STENO_ALLOW, says) => {
    const { user, service } = await account();
    for (const args of [['balance'], ['skus', '--quiet']]) {
      const { code, stderr } = await user.run(args, { env: { STENO_ALLOW } });
      expect([code, stderr, service.got]).toEqual([2, expect.stringMatching(says), []]);
    }
  });

  it('holds for a call of which the base URL has a part', async () => {
    const { user, service } = await account();
    const env = { STENO_ALLOW: 'read' };
    const lines = [
      ['/audiofile/5', 'GET', '/refund'],
      ['/audiofile', 'GET', '/5/upgrade', 'sku=UPGRD1'],
      ['/webhook/test', 'GET', '/TRANSCRIPT_COMPLETE'],
      ['/x%2f..%2fWebhook', 'GET', '/test'],
    ];
    for (const [part, ...call] of lines) {
      const args = ['--base-url', `${service.baseUrl}${part}`, 'api', ...call];
      const { code, stderr } = await user.run(args, { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining(' includes part of a path of the API\n')]);
    }
    expect(service.got).toEqual([]);
  });

  it('takes blanks as well as commas', async () => {
    const { user } = await account();
    const { code } = await user.run(['skus', '--quiet'], { env: { STENO_ALLOW: ' local, read ' } });
    expect(code).toBe(0);
  });

  it('lets help and the version be shown', async () => {
    const { user } = await account();
    const env = { STENO_ALLOW: 'local' };
    for (const args of [['--version'], ['--help'], ['order', '--help']])
      expect((await user.run(args, { env })).code).toBe(0);
  });

  it('holds for uploads that only a manifest names', async () => {
    const { user, service } = await account();
    writeFileSync(join(user.home, 'talk.mp3'), Buffer.from([0xff, 0xfb, 0x90, 0x00]));
    writeFileSync(join(user.home, 'list.csv'), 'path\ntalk.mp3\n');
    await user.run(['config', 'set', 'upload-command', 'touch uploaded; echo https://example.com/x.mp3']);
    const env = { STENO_ALLOW: 'read,local,account,money' };
    for (const args of [['talk.mp3'], ['--from', 'list.csv']]) {
      const { code, stderr } = await user.run(['order', ...args, '--sku', 'TRANS14'], { env });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^steno: an upload is not allowed: it runs a command, /),
      ]);
    }
    expect(service.got).toEqual([]);
    expect(readdirSync(user.home)).not.toContain('uploaded');
  });
});

describe('the setting allow', () => {
  it('holds beside STENO_ALLOW, in its profile, and can not be changed by what it does not allow', async () => {
    const { user, service } = await account();
    expect((await user.run(['config', 'set', 'allow', 'read,local'])).code).toBe(0);
    const order = ['order', url, '--sku', 'TRANS14'];
    for (const env of [{}, { STENO_ALLOW: effects.join(',') }]) {
      const { code, stderr } = await user.run(order, { env });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /^steno: order is not allowed: .* the setting allow of profile default allows only read, local\n/,
        ),
      ]);
    }
    expect((await user.run(['config', 'unset', 'allow'])).code).toBe(2);
    // It is not known what a file that can't be read would allow.
    const path = (await user.run(['config', 'path', '--quiet'])).stdout.trim();
    const settings = readFileSync(path, 'utf8');
    writeFileSync(path, settings.slice(0, -3));
    writeFileSync(join(user.home, 'talk.vtt'), 'WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n');
    const unread = await user.run(['convert', 'talk.vtt', '--to', 'srt']);
    expect([unread.code, readdirSync(user.home)]).toEqual([2, expect.not.arrayContaining(['talk.srt'])]);
    expect((await user.run(['convert', 'talk.vtt', '--to', 'srt', '-o', '-'])).code).toBe(0);
    writeFileSync(path, settings);
    expect((await user.run(['config', 'set', 'allow', 'money'])).code).toBe(2);
    const less = await user.run(['config', 'set', 'timeout', '9s'], { env: { STENO_ALLOW: 'read' } });
    expect([less.code, less.stderr]).toEqual([2, expect.stringContaining('STENO_ALLOW allows only read\n')]);
    expect(service.got).toEqual([]);
  });
});
