/** Bad input ends with exit 2, one clear line and, where there is one, a hint; nothing is sent. */
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';

const url = 'https://example.com/a.mp3';
const order = (...args: string[]): string[] => ['order', ...args];
const ids = ['', ' ', '.', '..', '../x', 'a/../b', 'a/.', '..\\x', '1\n', '\t', 'a\u0007b', 'a\u009bb'];

const cases: ReadonlyArray<readonly [what: string, args: readonly string[], says: RegExp, hint?: RegExp]> = [
  ['an order without a URL', order('--sku', 'TRANS14'), /url/i],
  ['an order without a SKU', order(url), /--sku/, /steno skus/],
  ['an empty SKU', order(url, '--sku', 'TRANS14,'), /empty value/],
  ['an unknown SKU', order(url, '--sku', 'TRANS41'), /unknown SKU 'TRANS41'/, /did you mean TRANS14\?/],
  ['a SKU with a typo', order(url, '--sku', 'trans15'), /unknown SKU/, /did you mean TRANS14\?/],
  [
    'an upgrade SKU in an order',
    order(url, '--sku', 'UPGRD1'),
    /UPGRD1 is for upgrades, not for new orders/,
    /upgrade a file with: steno upgrade <id> --sku UPGRD1/,
  ],
  [
    'two transcriptions',
    order(url, '--sku', 'TRANS14,TSTMP1,TRANS2'),
    /TRANS14 and TRANS2 can't be used together: each is a transcription/,
    /choose one, like --sku TRANS14,TSTMP1$/m,
  ],
  [
    'two transcriptions in two flags',
    order(url, '--sku', 'EMSR02', '--sku', 'TRANS6'),
    /EMSR02 and TRANS6 can't be used together/,
  ],
  [
    'a transcription by both of its names',
    order(url, '--sku', 'TRANS6,TRANS7'),
    /TRANS6 and TRANS7 can't be used together/,
  ],
  [
    'two transcriptions and an unknown SKU that is let through',
    order(url, '--sku', 'NEW1,TRANS14,TRANS2', '--any-sku'),
    /TRANS14 and TRANS2 can't be used together/,
  ],
  [
    'an add-on without a transcription SKU',
    order(url, '--sku', 'TSTMP1,VERBATIM1'),
    /can only be added/,
    /--sku TRANS14,TSTMP1/,
  ],
  [
    'a path in place of a URL',
    order('./talk.mp3', '--sku', 'TRANS14'),
    /can't read \.\/talk\.mp3: there is no such file or folder/,
    /check the path; .*upload-command/,
  ],
  [
    'a URL of another scheme',
    order('ftp://example.com/a.mp3', '--sku', 'TRANS14'),
    /not an http or https URL/,
  ],
  ['a URL without a host', order('https://', '--sku', 'TRANS14'), /not an http or https URL/],
  [
    'a URL with a blank',
    order('https://example.com/a b.mp3', '--sku', 'TRANS14'),
    /not an http or https URL/,
  ],
  ['a URL with a line break', order(`${url}\nhttps://evil`, '--sku', 'TRANS14'), /not an http or https URL/],
  [
    'a URL with an impossible port',
    order('https://example.com:99999/', '--sku', 'TRANS14'),
    /not an http or https URL/,
  ],
  ['a URL given twice', order(url, url, '--sku', 'TRANS14'), /twice/],
  [
    'notes from two places',
    order(url, '--sku', 'TRANS14', '--notes', 'a', '--notes-file', 'b'),
    /can't be used together/,
  ],
  [
    'notes from a file that is not there',
    order(url, '--sku', 'TRANS14', '--notes-file', 'none'),
    /can't read the notes/,
  ],
  ['a parameter without =', order(url, '--sku', 'TRANS14', '--param', 'title'), /not key=value/],
  ['the key as a parameter', order(url, '--sku', 'TRANS14', '--param', 'api_key=x'), /api_key/, /--api-key/],
  ['an upgrade without a SKU', ['upgrade', '5'], /--sku/],
  [
    'an order SKU in an upgrade',
    ['upgrade', '5', '--sku', 'TRANS2'],
    /TRANS2 is for new orders, not for upgrades/,
    /upgrade a file to it with: UPGRD2 from TRANS14/,
  ],
  [
    'two upgrades of the speed',
    ['upgrade', '5', '--sku', 'UPGRD1,UPGRD3'],
    /UPGRD1 and UPGRD3 can't be used together: each changes the speed/,
    /--sku UPGRD1$/m,
  ],
  [
    'two upgrades of the speed with an unknown SKU',
    ['upgrade', '5', '--sku', 'NEW1,UPGRD2', '--sku', 'UPGRD3', '--any-sku'],
    /UPGRD2 and UPGRD3 can't be used together/,
  ],
  ['a mistyped upgrade SKU', ['upgrade', '5', '--sku', 'UPGRADE1'], /unknown SKU/, /did you mean UPGRD1\?/],
  [
    'a test upgrade of a real file',
    ['upgrade', '5', '--sku', 'TSTMP1', '--test'],
    /only with audiofiles 100 and 101/,
  ],
  ['a test refund of a real file', ['refund', '5', '--test', '--yes'], /only with audiofiles 100 and 101/],
  ['a refund that nobody confirms', ['refund', '5'], /--yes/, /steno refund 5 --yes/],
  ['an id for the balance', ['balance', '5'], /balance takes no arguments/],
  [
    'an unknown format',
    ['transcript', '5', '--format', 'dox'],
    /unknown format 'dox'/,
    /did you mean docx?\?/,
  ],
  [
    'a format that is none',
    ['transcript', '5', '--format', 'pdf'],
    /unknown format 'pdf'/,
    /hint: choose from: txt/,
  ],
  ['two transcripts on stdout', ['transcript', '5', '6', '-o', '-'], /one transcript/],
  ['two formats on stdout', ['transcript', '5', '--format', 'txt,srt', '-o', '-'], /one transcript/],
  [
    'both ways to treat an existing file',
    ['transcript', '5', '--force', '--skip-existing'],
    /can't be used together/,
  ],
  ['a template that leads out', ['transcript', '5', '--name-as', '../{id}'], /not a name below/],
  ['an absolute template', ['transcript', '5', '--name-as', '/tmp/{id}'], /not a name below/],
  [
    'a template with an unknown word',
    ['transcript', '5', '--name-as', '{name}.txt'],
    /\{name\}/,
    /\{title\}/,
  ],
  ['a file for a folder', ['listen', '--download', process.execPath], /is not a folder/],
  ['no jobs', ['transcript', '5', '--jobs', '0'], /--jobs/],
  ['too many jobs', ['transcript', '5', '--jobs', '9999'], /from 1 to 64/],
  ['an amount in words', ['balance', '--min', 'ten'], /not an amount/],
  ['an empty amount', ['balance', '--min', ''], /not an amount/],
  [
    'an unknown event',
    ['webhook', 'test', 'TRANSCRIPT_COMPLET'],
    /can't send a test of/,
    /did you mean TRANSCRIPT_COMPLETE\?/,
  ],
  ['an event that has no test', ['webhook', 'test', 'DUPLICATE_FILE'], /send a test of DUPLICATE_FILE/],
  ['a webhook that is no URL', ['webhook', 'set', 'example.com'], /not an http or https URL/],
  [
    'a webhook as it is shown, without its password',
    ['webhook', 'set', 'https://***@example.com/hook'],
    /masked/,
    /steno webhook get --json/,
  ],
  ['a webhook without a verb', ['webhook'], /requires one of: get, set, test/],
  ['a mistyped verb', ['webhook', 'gte'], /unknown command/, /did you mean get\?/],
  ['an odd method', ['api', 'FETCH', '/x'], /not a method/],
  ['a raw path that leads out', ['api', 'GET', '/../x'], /not a path/],
  ['a raw path that leads out in disguise', ['api', 'GET', '/a/%2E%2e/x'], /not a path/],
  ['a raw path with a query', ['api', 'GET', '/x?y=1'], /not a path/, /key=value/],
  ['another address as a raw path', ['api', 'GET', 'https://evil.example/x'], /not a path/],
  ['another host as a raw path', ['api', 'GET', '//evil.example/x'], /not a path/],
  ['a raw pair without =', ['api', 'GET', '/x', 'y'], /not key=value/],
  ['the key as a raw pair', ['api', 'POST', '/x', 'api_key=y'], /added automatically/],
  ['a duration in words', ['balance', '--timeout', 'soon'], /not a duration/, /500ms/],
  ['no time at all', ['balance', '--timeout', '0'], /longer than zero/],
  ['a negative time', ['balance', '--timeout', '-5s'], /not a duration|requires a value/],
  ['a negative interval', ['file', '5', '--watch', '--interval', '0s'], /longer than zero/],
  ['an unknown command', ['blance'], /unknown command/, /did you mean balance\?/],
  ['an unknown flag', ['balance', '--jsno'], /unknown option/, /did you mean --json\?/],
  ['a flag without its value', ['order', url, '--sku'], /--sku requires a value: --sku <SKU…>/],
  ['an unknown profile', ['balance', '--profile', 'nope'], /no profile 'nope'/, /steno login --profile nope/],
  ['a profile name with a slash', ['balance', '--profile', '../x'], /not a profile name/],
  ['an unknown setting', ['config', 'get', 'bas-url'], /no setting/, /did you mean base-url\?/],
  ['an unknown setting to keep', ['config', 'set', 'colour', 'red'], /no setting/],
  ['a setting with no time', ['config', 'set', 'timeout', '0'], /longer than zero/],
  ['a setting with an odd address', ['config', 'set', 'base-url', 'http://example.com/API4'], /plain http/],
  [
    'no value where there is no terminal',
    ['config', 'set', 'api-key'],
    /requires a value/,
    /config set api-key - </,
  ],
  ['a key with a blank', ['config', 'set', 'api-key', 'a b'], /contains spaces/],
  ['an empty name to check', ['check', ''], /an argument is empty/, /name a transcript/],
  ['an empty name to convert', ['convert', 'a.vtt', '', '--to', 'srt'], /an argument is empty/],
  ['stdin to check', ['check', '-'], /not read from stdin/],
  ['stdin to convert', ['convert', '-', '--to', 'srt'], /not read from stdin/],
  ['an empty key', ['balance', '--api-key', ''], /the key/],
];

describe('refuses', () => {
  const named = cases.map(([what, args, says, hint]) => ({ what, args, says, hint }));

  it.each(named)('$what', async ({ args, says, hint }) => {
    const { service, user } = await account();
    const { code, stdout, stderr } = await user.run(args);
    expect(code, stderr).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^steno: [^\n]+\n(hint: [^\n]+\n)?$/);
    expect(stderr).toMatch(says);
    if (hint) expect(stderr.split('\n')[1]).toMatch(hint);
    expect(service.got).toEqual([]);
  });

  it.each(ids)('%j as an id', async (id) => {
    const { service, user } = await account();
    const lines = [
      ['file', '--', id],
      ['invoice', '--', '7', id],
      ['transcript', '--', id],
      ['upgrade', '--sku', 'TSTMP1', '--', id],
      ['refund', '--yes', '--', id],
    ];
    for (const line of lines) {
      const { code, stderr } = await user.run(line);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^steno: '[^\n]*' is not an id\n(hint: [^\n]+\n)?$/),
      ]);
    }
    expect(service.got).toEqual([]);
  });

  it('as a JSON object on stderr where --json is asked for, also before the line can be read', async () => {
    const { user } = await account();
    const lines = [
      ['balance', '--json', '--nope'],
      ['--json', 'nope'],
      ['order', url, '--sku', 'NOPE', '--json'],
      ['--json', 'webhook'],
      ['balance', '--json', '--timeout', 'x'],
      ['balance', '--json', '--csv'],
      ['--csv', 'balance', '--json'],
    ];
    for (const line of lines) {
      const { code, stdout, stderr } = await user.run(line);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(jsonError(stderr)).toMatchObject({
        code: 'usage',
        message: expect.any(String),
        hint: expect.any(String),
      });
    }
  });
});
