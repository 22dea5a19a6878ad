/** A command line that can't be read: the hint knows what was meant. Nothing is sent. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { KEY } from '../support/steno.ts';

const url = 'https://example.com/a.mp3';
const sku = ['--sku', 'TRANS14'];
const order = (...args: string[]): string[] => ['order', ...args, ...sku];

type Case = readonly [args: readonly string[], hint: RegExp, says?: RegExp];

const words: readonly Case[] = [
  ...['download', 'get', 'fetch'].map((word): Case => [[word, '5'], /did you mean transcript\?/]),
  ...['upload', 'submit', 'create', 'new'].map((word): Case => [[word], /did you mean order\?/]),
  [['cancel', '5'], /did you mean refund\?/],
  [['status', '5'], /did you mean file\?/],
  [['auth'], /did you mean login\?/],
  [['list'], /did you mean files\?/],
  [['prices'], /did you mean skus\?/],
  [['version'], /run: steno --version/],
  [['help', 'env'], /did you mean environment\?/],
  [['help', 'download'], /did you mean downloads\?/],
  [['file'], /steno file --help/, /file requires <id>/],
  [['blance'], /did you mean balance\?/],
  [[url], /steno order 'https:\/\/example\.com\/a\.mp3' --sku TRANS14/],
  [['12345'], /steno file 12345/],
  [['talks.csv'], /steno order --from talks\.csv/],
  [['events', 'shw'], /did you mean show\?/, /unknown command 'steno events shw'/],
  [['webhook', 'st'], /did you mean set\?/],
  [['webhook', 'bring'], /choose from: get, set, test;/],
  [['config', 'lst'], /did you mean list\?/],
  [['config'], /steno config --help/, /config requires one of: list, get/],
  [['--profile', 'work', 'ls', '--no-color', '5'], /steno file 5;/],
];

const flags: readonly Case[] = [
  [['--sku', 'TRANS14', 'order', url], /write it after the command: steno order … --sku/],
  [['--sku=TRANS14', 'order', url], /write it after the command: steno order … --sku=TRANS14/],
  [['events', '--to', 'http://x/', 'replay', '3'], /steno events replay … --to/],
  [['balance', '--download', 'd'], /--download belongs to: order, wait, sync, listen$/],
  [['file', '5', '--wait'], /--wait belongs to: order$/],
  [order(url, '--dry_run'), /did you mean --dry-run\?/],
  [order(url, '--dryRun'), /did you mean --dry-run\?/],
  [['balance', '--json=false'], /^--json takes no value: leave it out$/],
  [['--quiet=true', 'balance'], /--quiet takes no value/],
  [order(url, '--wait=yes'), /--wait takes no value/],
  [['balance', '--jsno'], /did you mean --json\?/],
  [['budget', 'set', '-5/month'], /amounts do not start with a hyphen/],
  [['order', url, '--sku'], /steno order --help/, /--sku requires a value: --sku <SKU…>/],
  [['api', '/prepay_balance'], /steno api --help/, /api requires <path>/],
  [['balance', '5'], /steno balance --help/, /balance takes no arguments/],
  [['webhook', 'get', 'x', '5'], /steno webhook get --help/, /webhook get takes no arguments/],
  [['config', 'set', 'timeout', 'never'], /write it as 500ms, 30s/, /timeout: 'never' is not a duration/],
  [['config', 'set', 'base-url', 'host.example'], /did you mean https:\/\/host\.example\/API4\?/],
  [['webhook', 'set'], /steno webhook set --help/, /webhook set requires <url>/],
  [['balance', '--min', 'lots'], /write it like 50/, /--min: 'lots' is not an amount/],
  [['transcript', '5', 'out/'], /to write to it: -o out\/$/, /'out\/' is a path, not an id/],
  [['transcript', '5', 'talk.vtt'], /to write to it: -o talk\.vtt$/],
  [['order', url, '-sku', 'TRANS14'], /did you mean --sku\? It has two dashes/],
  [['transcript', '5', '-output', 'x'], /did you mean --output\? It has two dashes/],
  [['order', url, '–sku', 'TRANS14'], /type it as --sku/, /a dash that is not a hyphen/],
  [['order', url, '—sku=TRANS14'], /type it as --sku/],
  [
    ['order', url, '--sku', 'TRANS14,', 'TSTMP1'],
    /leave out the comma/,
    /--sku has an empty value: 'TRANS14,'/,
  ],
  [['transcript', '--format', 'txt,', '5'], /leave out the comma/, /--format has an empty value/],
  [['order', url, '--sku', 'TRANS14', 'TSTMP1'], /--sku TRANS14,TSTMP1/, /'TSTMP1' is a SKU/],
  [['order', url, '--sku', '“TRANS14”'], /contains typographic quotes/],
  [['order', url, '--sku', 'upgrd1'], /upgrade a file with: steno upgrade <id> --sku UPGRD1/],
  [['upgrade', '5', '--sku', 'trans2'], /UPGRD2 from TRANS14/],
  [
    ['order', `${url}?token=1`],
    /put the URL in quotes, because the shell ends the command at &/,
    /requires --sku/,
  ],
];

const urls: readonly Case[] = [
  [order('example.com/a.mp3'), /did you mean https:\/\/example\.com\/a\.mp3\?/],
  [order('www.example.com:8080/a?x'), /did you mean https:\/\/www\.example\.com:8080\/a\?x\?/],
  [order('//example.com/a.mp3'), /did you mean https:\/\/example\.com\/a\.mp3\?/],
  [order('file:///x.mp3'), /by its path: .*upload-command/],
  [order('C:\\x.mp3'), /no such file.*upload-command/],
  [
    order('/x.mp3'),
    /check the path; .*upload-command/,
    /can't read \/x\.mp3: there is no such file or folder/,
  ],
  [order('../x.mp3'), /check the path; .*upload-command/, /can't read \.\.\/x\.mp3: there is no such file/],
  [['order', 'TRANS14', url], /write --sku before it: --sku TRANS14$/, /'TRANS14' is a SKU, not a URL/],
  [['upgrade', '5', 'UPGRD1'], /write --sku before it: --sku UPGRD1$/, /'UPGRD1' is a SKU, not an id/],
  [order('x.mp3'), /no such file.*upload-command/],
  [order('talks.csv'), /--from talks\.csv/],
  [order('feed.xml'), /--feed feed\.xml/],
  [order('list.csv'), /steno order --from list\.csv/, /list\.csv is a text file/],
  [order('cast.xml'), /steno order --feed cast\.xml/, /cast\.xml is a text file/],
  [order('https://example.com/feed.xml'), /--feed https:\/\/example\.com\/feed\.xml/, /is a feed, not audio/],
  [order('https://example.com/t.csv'), /steno order --from -/, /is a list, not audio/],
  [order('https://e.com/a b.mp3'), /%20/],
  [order('s3://b/a.mp3'), /aws s3 presign/],
  [order("s3://b/it's.mp3"), /aws s3 presign 's3:\/\/b\/it'\\''s\.mp3'$/],
  [order("https://e.com/f.xml?a=1&b='"), /--feed 'https:\/\/e\.com\/f\.xml\?a=1&b='\\''' --latest 1/],
  [order('ftp://e.com/a.mp3'), /http and https only/],
  [order(`“${url}”`), /contains typographic quotes/],
  [order(`<${url}>`), /leave out the < and >/],
  [order(`${url},`, 'https://example.com/b.mp3'), /without commas/],
  [order(`${url},https://example.com/b.mp3`), /separate them with spaces/],
  [order(`${url}?X-Amz-Algorithm=AWS4`), /put the URL in quotes/, /the link is cut/],
  [
    ['order', '--feed', 'example.com/feed.xml', '--latest', '1', ...sku],
    /did you mean https:\/\/example\.com\/feed\.xml\?/,
  ],
  [
    ['order', '--feed', 'nope.xml', '--latest', '1', ...sku],
    /^check the path, or give the address of the feed/,
  ],
  [['order', '--from', '.', ...sku], /to order the audio in it: steno order \. --sku/],
  [
    ['order', '--from', 'list.csv'],
    /fill in its column sku, or give --sku/,
    /list\.csv, line 2: there is no SKU/,
  ],
  [['order', '--from', 'https://example.com/t.csv', ...sku], /curl -fsS .* \| steno order --from -/],
  [['webhook', 'set', 'example.com/hook'], /did you mean https:\/\/example\.com\/hook\?/],
  [['config', 'set', 'base-url', 'api.example.com/API4'], /did you mean https:\/\/api\.example\.com\/API4\?/],
  [['balance', '--profile', 'wrok'], /did you mean work\? known profiles: home, work;/],
  [['balance', '--profile', 'zzz'], /known profiles: home, work; create it with: steno login --profile zzz/],
];

async function stderrOf(args: readonly string[]): Promise<string[]> {
  const { service, user } = await account();
  writeFileSync(join(user.home, 'list.csv'), `url\n${url}\n`);
  writeFileSync(join(user.home, 'cast.xml'), '<?xml version="1.0"?>\n<rss><channel></channel></rss>\n');
  mkdirSync(join(user.home, 'config'), { mode: 0o700 });
  const profiles = { work: { currency: 'USD' }, home: { currency: 'EUR' } };
  writeFileSync(join(user.home, 'config', 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const { code, stdout, stderr } = await user.run(args);
  expect([code, stdout, service.got], stderr).toEqual([2, '', []]);
  expect(stderr).toMatch(/^steno: [^\n]+\nhint: [^\n]+\n$/);
  return stderr.split('\n');
}

describe.each([
  ['a word for another command', words],
  ['a flag', flags],
  ['a URL, an id or a profile', urls],
])('%s', (_, cases) => {
  it.each(cases.map(([args, hint, says = /./]) => ({ args, hint, says })))(
    'is recognised in $args',
    async ({ args, hint, says }) => {
      const [line, hinted] = await stderrOf(args);
      expect(hinted?.slice('hint: '.length)).toMatch(hint);
      expect(line).toMatch(says);
    },
  );
});

it.each([
  ['1,2', /separate ids with spaces: 1 2/],
  [url, /it is a URL, not an id; list your files: steno files/],
])('says what %s was meant to be, once the service does not know it as an id', async (id, hint) => {
  const { service, user } = await account();
  service.allow('*', { status: 404, body: { message: 'no' } });
  for (const line of [
    ['file', id],
    ['file', id, '--no-ledger'],
    ['transcript', id],
  ]) {
    const { code, stderr } = await user.run(line);
    expect(code).toBe(4);
    expect(stderr.split('\n')[1]?.slice('hint: '.length)).toMatch(hint);
  }
});

it('does not repeat a key that stands in the line by mistake', async () => {
  const [line = '', hint = ''] = await stderrOf(['login', `${KEY}xyz`]);
  expect([line, hint]).toEqual([
    'steno: login takes no arguments',
    expect.stringContaining('run steno login, and paste the key'),
  ]);
});

it('takes a value that looks like a flag or ends in a comma as the value that it is', async () => {
  const { service, user } = await account();
  service.on('POST /order_url', { body: { order: '1', audiofiles: ['2'], message: 'ok' } });
  const { code } = await user.run(['order', url, '--sku', 'TRANS14', '--notes', '-sku', '--name', 'Ada,']);
  expect([code, service.got[0]?.body]).toEqual([
    0,
    expect.objectContaining({ notes: '-sku', name: ['Ada,'] }),
  ]);
});
