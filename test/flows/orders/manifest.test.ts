/** Manifests: plain, CSV and JSON lines; nothing is sent if any line is bad. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../../support/ledger.ts';

const [a, b, c] = [audio('a'), audio('b'), audio('c')];

interface Plan {
  readonly url: string[];
  readonly sku: string[];
  readonly notes?: string;
  readonly name?: string[];
}

async function plan(text: string, ...args: string[]): Promise<Plan[]> {
  const { user, service } = await orderingAccount({ STENO_API_KEY: undefined, STENO_BASE_URL: undefined });
  writeFileSync(join(user.home, 'm'), text);
  const line = ['order', '--from', 'm', '--dry-run', '--json', ...args];
  const { code, stdout, stderr } = await user.run(line);
  expect(code, stderr).toBe(0);
  expect(service.got).toEqual([]);
  return (JSON.parse(stdout).orders as Array<{ request: Plan }>).map(({ request }) => request);
}

const sku = ['TRANS14'];
const flags = ['--sku', 'TRANS14'];

describe('a manifest', () => {
  it('is one URL a line, with blank lines, comments, a byte order mark and any line break', async () => {
    const text = `\ufeff# talks\r\n${a}\r\n\r\n  ${b}#part?x=1,2;3  \r  # more\n${c}`;
    expect(await plan(text, ...flags)).toEqual([{ url: [a, `${b}#part?x=1,2;3`, c], sku }]);
  });

  it.each([
    ['commas', `url,sku,notes,names\n${a},TRANS2 TSTMP1,"say ""hi"", twice\nplease",Ada|Bo\n${b},,"","" \n`],
    [
      'semicolons',
      `# from a spreadsheet\r\nURL; Sku ;Notes;names\r\n${a};TRANS2,TSTMP1;"say ""hi"", twice\r\nplease";Ada | Bo\r\n\r\n${b};;;\r\n`,
    ],
    [
      'tabs',
      `\ufeffnames\tnotes\tsku\turl\nAda|Bo\t"say ""hi"", twice\nplease"\tTRANS2;TSTMP1\t${a}\n\t\t\t${b}`,
    ],
    [
      'JSON lines',
      `{"url":"${a}","sku":["TRANS2","TSTMP1"],"notes":"say \\"hi\\", twice\\nplease","names":["Ada","Bo"]}\n\n{"url":"${b}","sku":null}\n`,
    ],
    [
      'JSON lines with texts',
      `{"url":"${a}","sku":"TRANS2,TSTMP1","notes":"say \\"hi\\", twice\\nplease","names":"Ada|Bo"}\r\n{"url":"${b}","notes":"","names":[]}`,
    ],
  ])('with %s says for each URL what it wants, and the flags say the rest', async (_, text) => {
    expect(await plan(text, ...flags, '--name', 'Cy')).toEqual([
      { url: [a], sku: ['TRANS2', 'TSTMP1'], notes: 'say "hi", twice\nplease', name: ['Ada', 'Bo'] },
      { url: [b], sku, name: ['Cy'] },
    ]);
  });

  it('may hold other separators in its cells than the header has', async () => {
    const text = `url,notes\n${a},one; two\t three\n${b};c=1,x\n`;
    expect((await plan(text, ...flags)).map(({ notes }) => notes)).toEqual(['one; two\t three', 'x']);
  });

  it('with only the column url is CSV too', async () => {
    expect(await plan(`url\n"${a},with,commas"\n${b}\n`, ...flags)).toEqual([
      { url: [`${a},with,commas`, b], sku },
    ]);
  });

  it('keeps rows of CSV that begin with #, and takes comments before the header', async () => {
    const text = `# from a spreadsheet\nnotes,url\n#1 of 2,${a}\n"#2 of 2",${b}\n`;
    expect((await plan(text, ...flags)).map(({ url, notes }) => [url, notes])).toEqual([
      [[a], '#1 of 2'],
      [[b], '#2 of 2'],
    ]);
  });

  it('may hold URLs with commas and semicolons, where not every line has them or they are parameters', async () => {
    const [commas, parameters] = [`${a}?x=1,2`, [`${b};v=1`, `${c};v=1;w=2`]];
    expect(await plan([commas, b].join('\n'), ...flags)).toEqual([{ url: [commas, b], sku }]);
    expect(await plan(parameters.join('\n'), ...flags)).toEqual([{ url: parameters, sku }]);
  });

  it('groups rows that are alike, so many an order, in their order', async () => {
    const rows = Array.from({ length: 7 }, (_, n) => `${audio(`n${n}`)},${n % 2 ? 'TRANS2' : 'TRANS14'}`);
    const orders = await plan(`url,sku\n${rows.join('\n')}`, '--per-order', '3');
    expect(
      orders.map(({ sku: [one], url }) => [one, url.map((each) => each.replace(/\D/g, '').slice(0, -1))]),
    ).toEqual([
      ['TRANS14', ['0', '2', '4']],
      ['TRANS2', ['1', '3', '5']],
      ['TRANS14', ['6']],
    ]);
  });

  it('of hundreds makes orders of fifty unless told otherwise; named URLs share one', async () => {
    const lines = Array.from({ length: 120 }, (_, n) => audio(`n${n}`));
    expect((await plan(lines.join('\n'), ...flags)).map(({ url }) => url.length)).toEqual([50, 50, 20]);
    const { user } = await orderingAccount();
    const named = await user.run(['order', ...lines, ...flags, '--dry-run', '--json']);
    expect(JSON.parse(named.stdout).orders[0].request.url).toHaveLength(120);
    const split = await user.run(['order', a, b, c, ...flags, '--per-order', '2', '--dry-run', '--json']);
    expect(
      (JSON.parse(split.stdout).orders as Array<{ audios: unknown[] }>).map(({ audios }) => audios.length),
    ).toEqual([2, 1]);
  });

  it('comes from stdin, beside named URLs, and shows its orders as rows', async () => {
    const { user, service } = await orderingAccount();
    const line = ['order', c, '--from', '-', ...flags, '--dry-run', '--per-order', '2'];
    const { code, stdout } = await user.run(line, { stdin: `${a}\n${b}\n` });
    expect([code, stdout]).toEqual([
      0,
      [c, a, b].map((url, n) => `${n < 2 ? 1 : 2}\t\t\t\t${url}\tTRANS14\t\t\t\t\n`).join(''),
    ]);
    expect(service.got).toEqual([]);
    const placed = await user.run(['order', '--from', '-', ...flags, '--quiet'], { stdin: `${a}\n${b}\n` });
    expect([placed.code, placed.stdout]).toEqual([0, '1\n2\n']);
    expect(service.got.map((got) => got.body?.url)).toEqual([[a, b]]);
    const known = await user.run(line, { stdin: `${a}\n` });
    expect(known.code).toBe(9);
    const rest = await user.run([...line, '--skip-ordered', '--quiet'], { stdin: `${a}\n` });
    expect([rest.code, rest.stdout]).toEqual([0, `${c}\n`]);
  });
});

const bad: ReadonlyArray<readonly [string, string, RegExp]> = [
  ['a path in it', `${a}\n\n./talk.mp3\n`, /m, line 3: '\.\/talk\.mp3' is not an http or https URL\nhint: /],
  ['a comment that is none', `${a}\n// b\n`, /m, line 2: /],
  ['nothing in it', '\n# only this\n', /^steno: m contains no URL/],
  ['a header and nothing else', 'url,sku\n', /^steno: m contains no URL/],
  [
    'a SKU beside each URL but no header',
    `${a},TRANS2\n${b},TRANS14\n`,
    /m, line 1: this looks like CSV, but the header line is missing\nhint: [^\n]*url,sku,notes,names/,
  ],
  [
    'a SKU beside one URL but no header',
    `${a}\n${b},TRANS14\n`,
    /m, line 2: [^\n]* has a SKU after the URL\nhint: start the manifest with the line: url,sku/,
  ],
  [
    'a column that is mistyped',
    `url,skus\n${a},TRANS2\n`,
    /m, line 1: unknown field 'skus'\nhint: did you mean sku\?/,
  ],
  ['no column url', `sku,notes\nTRANS2,x\n`, /m, line 1: the column url is missing/],
  [
    'a mistyped column url',
    `urll,notes\n${a},x\n`,
    /m, line 1: unknown field 'urll'\nhint: did you mean url\?/,
  ],
  ['a column twice', `url,sku,URL\n${a},,${b}\n`, /m, line 1: the column url occurs twice/],
  [
    'a cell too many',
    `url,notes\n${a},x\n${b},x,y\n`,
    /m, line 3: 3 cells, but the header has 2 columns\nhint: /,
  ],
  [
    'a cell too few',
    `url,notes\n${a},x\n\n${b}\n`,
    /m, line 4: 1 cell, but the header has 2 columns\nhint: /,
  ],
  [
    'a quote without an end',
    `url,notes\n${c},"1\n2"\n\n${a},"x\n${b},y\n`,
    /m, line 5: a quote is opened and never closed\nhint: /,
  ],
  [
    'a quote in a bare cell',
    `url,notes\n${a},say "hi"\n`,
    /m, line 2: a cell contains a quote but does not start/,
  ],
  ['text after a quoted cell', `url,notes\n${a},"x"y\n`, /m, line 2: there is text after the closing quote/],
  ['a column without a name', `url,notes,\n${a},x,\n`, /m, line 1: a field has no name\nhint: /],
  ['a header that is only data', `TRANS14,${a}\nTRANS14,${b}\n`, /m, line 1: [^\n]*header line is missing/],
  [
    'commas after each URL',
    `# talks\n${a},hello\n${b}, and more\n`,
    /m, line 2: [^\n]*header line is missing\nhint: [^\n]*url,sku,notes,names/,
  ],
  ['semicolons after each URL', `${a};Hallo\n${b};;\n`, /m, line 1: [^\n]*header line is missing/],
  ['tabs after each URL', `${a}\tTRANS14\n${b}\thello\n`, /m, line 1: [^\n]*header line is missing/],
  ['quotes around each URL', `"${a}","one\ntwo"\n"${b}",""\n`, /m, line 1: [^\n]*header line is missing/],
  ['a row of CSV that begins with #', `url,notes\n${a},x\n#${b},y\n`, /m, line 3: '#https:[^\n]* is not an/],
  ['a comment among JSON lines', `{"url":"${a}"}\n# more\n{"url":"${b}"}\n`, /m, line 2: not a JSON object/],
  [
    'a key of JSON twice',
    `{"url":"${c}"}\n{"url":"${a}","url":"${b}"}\n`,
    /m, line 2: 'url' occurs twice\nhint: /,
  ],
  ['a key of JSON in two cases', `{"URL":"${a}","url":"${b}"}\n`, /m, line 1: 'url' occurs twice/],
  [
    'an empty name in JSON',
    `{"url":"${a}"}\n{"url":"${b}","names":["Ada",""]}\n`,
    /m, line 2: a name is empty/,
  ],
  [
    'an empty name between two',
    `url,names\n${a},Ada|Bo\n${b},Ada||Bo\n`,
    /m, line 3: a name is empty\nhint: /,
  ],
  ['names that are only a bar', `url,names\n${a},|\n`, /m, line 2: a name is empty/],
  [
    'an object of several lines',
    `{\n"url":"${a}"\n}\n`,
    /m, line 1: not a JSON object\nhint: [^\n]*jq -c \./,
  ],
  [
    'an array of several lines',
    `[\n{"url":"${a}"}\n]\n`,
    /m, line 1: not a JSON object\nhint: [^\n]*jq -c '\.\[\]'/,
  ],
  [
    'a bad URL after a cell of three lines',
    `url,notes\r\n${a},"1\r\n2\r\n3"\r\nnope,x\r\n`,
    /m, line 5: 'nope' is not/,
  ],
  ['an empty URL', `url,notes\n${a},x\n,y\n`, /m, line 3: the url is missing/],
  ['a row of empty cells', `url,notes\n${a},x\n,\n`, /m, line 3: the url is missing/],
  [
    'an unknown SKU',
    `url,sku\n${a},TRANS14\n${b},TRANS41\n`,
    /m, line 3: unknown SKU 'TRANS41'\nhint: did you mean TRANS14\?/,
  ],
  [
    'two transcriptions in a row',
    `url,sku\n${a},TRANS14\n${b},TRANS14 TRANS2\n`,
    /m, line 3: TRANS14 and TRANS2 can't be used together/,
  ],
  ['an add-on alone', `url,sku\n${a},TSTMP1\n`, /m, line 2: TSTMP1 can only be added/],
  ['JSON that is broken', `{"url":"${a}"}\n{"url":\n`, /m, line 2: not a JSON object/],
  [
    'JSON that is an array',
    `[{"url":"${a}"}]\n`,
    /m, line 1: not a JSON object\nhint: [^\n]*one object per line/,
  ],
  [
    'JSON with an unknown key',
    `{"url":"${a}","note":"x"}\n`,
    /m, line 1: unknown field 'note'\nhint: did you mean notes\?/,
  ],
  ['JSON without a URL', `{"url":"${a}"}\n{"sku":"TRANS2"}\n`, /m, line 2: the url is missing/],
  ['an empty key in JSON', `{"url":"${a}"}\n{"url":"${b}","key":""}\n`, /m, line 2: the key is empty/],
  ['JSON with an object for notes', `{"url":"${a}","notes":{"x":1}}\n`, /m, line 1: notes is not a text/],
  [
    'wrong lines of several kinds, and names each',
    `url,sku\n${a},NONE\nnope,TRANS14\n${b},TRANS14\n${b},TRANS14\n`,
    /^steno: m, line 2: unknown SKU 'NONE'\nsteno: m, line 3: 'nope' is not [^\n]*\nsteno: m, line 5: [^\n]* the same as in m, line 4\nhint: for m, line 2: .*; for m, line 3: write it like/,
  ],
  [
    'twelve wrong lines, and names ten',
    `${'nope\n'.repeat(12)}`,
    /m, line 9: [^\n]*\nsteno: m, line 10: [^\n]*\nsteno: further lines are invalid too\nhint: /,
  ],
  [
    'the same URL twice',
    `${a}\n${b}\nhttps://EXAMPLE.com/a.mp3#x\n`,
    /m, line 3: https:\/\/EXAMPLE\.com\/a\.mp3#x is the same as in m, line 1 \(differs only in spelling\)\n/,
  ],
];

describe('refuses a manifest with', () => {
  it.each(bad)('%s, and sends nothing', async (_, text, says) => {
    const { user, service } = await orderingAccount();
    writeFileSync(join(user.home, 'm'), text);
    const { code, stdout, stderr } = await user.run(['order', '--from', 'm', ...flags]);
    expect([code, stdout], stderr).toEqual([2, '']);
    expect(stderr).toMatch(says);
    expect(service.got).toEqual([]);
  });

  it.each([
    ['several columns', `${a},TRANS14,x\n${b}\n`],
    ['one column', `${a}\n${b}\n`],
  ])('the name .csv, %s and no header', async (_, text) => {
    const { user, service } = await orderingAccount();
    writeFileSync(join(user.home, 'Talks.CSV'), text);
    const { code, stderr } = await user.run(['order', '--from', 'Talks.CSV', ...flags]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^steno: Talks\.CSV, line 1: [^\n]*header[^\n]*\nhint: [^\n]*url,sku,notes,names/,
      ),
    ]);
    expect(service.got).toEqual([]);
  });

  it('a name that is not there, or a SKU nowhere', async () => {
    const { user, service } = await orderingAccount();
    const missing = await user.run(['order', '--from', 'none.csv', ...flags]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("can't read none.csv")]);
    const none = await user.run(['order', '--from', '-'], { stdin: `${a}\n` });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('stdin, line 1: there is no SKU')]);
    expect(service.got).toEqual([]);
  });
});
