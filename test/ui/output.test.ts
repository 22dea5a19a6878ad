/** What goes to stdout and stderr, in every form that can be asked for, on a terminal and off it. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { fileRecord } from '../../src/views/files.ts';
import { account, jsonError } from '../support/account.ts';
import { parseCsv } from '../support/csv.ts';
import { BIN, finished, User } from '../support/steno.ts';

const nasty = 'a\tb\nc\r\nd"e,f\u001b[31mred\u0007\u009b2J\u202eevil\u0000';
/** Whatever a terminal would obey; line breaks and our own colours aside. */
const steering =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f\u202e]|\u001b(?!\[\d*(;\d+)*m)/;

const file = (id: number, title: string, more: object = {}) => ({
  body: { audiofile: { id, title, statename: 'Delivered', ...more } },
});

describe('off a terminal', () => {
  it('a row has no stray tab, line break or control character', async () => {
    const { service, user } = await account();
    service.on('*', file(1, nasty));
    const { stdout } = await user.run(['file', '1']);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stdout.split('\t')).toHaveLength(fileRecord.columns.filter(({ more }) => !more).length);
    expect(stdout.split('\t')[2]).toBe('a b c d"e,f [31mred  2J\ufffdevil ');
  });

  it('CSV can be read back, with its header', async () => {
    const { service, user } = await account();
    const more = { notes: ' blanks ', names: 'Ada|Grace' };
    service.on('GET /audiofile/1', file(1, 'a "quoted", title\r\nof two lines', more));
    service.on('GET /audiofile/2', file(2, 'b'));
    const { stdout } = await user.run(['file', '1', '2', '--csv']);
    const [header, row, ...rest] = parseCsv(stdout);
    expect(header?.slice(0, 6)).toEqual(['audiofile', 'state', 'title', 'minutes', 'total', 'order']);
    expect(header).toEqual(fileRecord.columns.map(({ name }) => name));
    // A row is one line, whatever a value holds.
    expect(row?.slice(0, 3)).toEqual(['1', 'Delivered', 'a "quoted", title of two lines']);
    expect(row?.[header?.indexOf('notes') ?? 0]).toBe(' blanks ');
    expect(rest).toHaveLength(1);
  });

  it('JSON is one document that any parser reads, control characters escaped', async () => {
    const { service, user } = await account();
    service.on('*', file(1, nasty));
    const { stdout } = await user.run(['file', '1', '--json']);
    expect(JSON.parse(stdout).answer).toEqual(file(1, nasty).body);
    expect(stdout).not.toMatch(steering);
  });

  it('there is no colour, even if it is forced', async () => {
    const { service, user } = await account();
    service.on('*', file(1, 'x'));
    for (const args of [['file', '1'], ['skus'], ['file', '1', '--json'], ['--help']]) {
      const { stdout } = await user.run(args, { env: { FORCE_COLOR: '1', TERM: 'xterm-256color' } });
      expect(stdout).not.toContain('\u001b');
    }
  });

  it('an error has no colour unless it is forced', async () => {
    const user = new User();
    const plain = await user.run(['balance']);
    expect(plain.stderr).not.toContain('\u001b');
    const forced = await user.run(['balance'], { env: { FORCE_COLOR: '1' } });
    expect(forced.stderr).toContain('\u001b[31msteno:');
    const off = await user.run(['balance', '--no-color'], { env: { FORCE_COLOR: '1' } });
    expect(off.stderr).not.toContain('\u001b');
  });

  it.each([
    [['balance'], { balance: '1.00' }, 'balance', '1.00\n'],
    [['file', '1'], file(1, 'x').body, 'audiofile,state', 'Delivered\n'],
    [['invoice', '7'], { id: 7, total: '9.00' }, 'invoice,state', '9.00\n'],
    [['webhook', 'get'], { webhook: 'https://h/x' }, 'url', 'https://h/x\n'],
    [['webhook', 'set', 'https://h/x'], { webhook: 'https://h/x' }, 'url', 'https://h/x\n'],
    [['webhook', 'test', 'REFUND_ISSUED'], { webhook: 'https://h/x' }, 'url', 'https://h/x\n'],
    [['upgrade', '5', '--sku', 'TSTMP1', '--again'], { message: 'ok' }, 'audiofile,message', '5\n'],
    [['refund', '5', '--yes', '--again'], { message: 'ok' }, 'audiofile,message', '5\n'],
    [
      ['order', 'https://h/a.mp3', 'https://h/b.mp3', '--sku', 'TRANS14', '--no-ledger'],
      { order: 'x', audiofiles: [8, 9] },
      'audiofile,order',
      '8\n9\n',
    ],
    [
      ['order', 'https://h/a.mp3', '--sku', 'TRANS14', '--dry-run'],
      undefined,
      'batch,title',
      'https://h/a.mp3\n',
    ],
    [['skus'], undefined, 'sku,use', /^TRANS14\nTRANS2\n/],
    [['states'], undefined, 'state,of', /^ordered\nAudio Processing\n/],
    [['formats'], undefined, 'format,content', /^txt\ndoc\n/],
    [['config', 'list'], undefined, 'setting,value', /^base-url=/],
    [['whoami'], undefined, 'setting,value', /^profile=default\n/],
  ] as const)('steno %j knows --json, --csv and --quiet', async (args, body, header, quiet) => {
    const { service, user } = await account();
    if (body) service.on('*', { body });
    else service.never('*');
    const json = await user.run([...args, '--json']);
    const csv = await user.run([...args, '--csv']);
    const terse = await user.run([...args, '--quiet']);
    // Of a file, rows have the columns of the table alone.
    const rows = await user.run(args[0] === 'file' ? [...args, '--columns', 'all'] : args);
    expect([json.code, csv.code, terse.code, rows.code], json.stderr).toEqual([0, 0, 0, 0]);
    expect([json.stderr, terse.stderr]).toEqual(['', '']);
    JSON.parse(json.stdout);
    const table = parseCsv(csv.stdout);
    expect(table[0]?.join(',').startsWith(header)).toBe(true);
    expect(new Set(table.map((row) => row.length)).size).toBe(1);
    expect(terse.stdout).toEqual(typeof quiet === 'string' ? quiet : expect.stringMatching(quiet));
    const fields = rows.stdout
      .replace(/\n$/, '')
      .split('\n')
      .map((row) => row.split('\t').length);
    expect(new Set(fields)).toEqual(new Set([table[0]?.length]));
  });

  it('globals count before and after the command, in nested ones too', async () => {
    const { service, user } = await account();
    service.on('*', { body: { webhook: 'https://h/x' } });
    for (const line of ['--json webhook get', 'webhook --json get', 'webhook get --json']) {
      const { code, stdout } = await user.run(line.split(' '));
      expect([code, JSON.parse(stdout)]).toEqual([
        0,
        { url: 'https://h/x', answer: { webhook: 'https://h/x' } },
      ]);
    }
    const late = await user.run(['--timeout', '1ms', 'webhook', 'get', '--timeout', '20s']);
    expect(late.code).toBe(0);
  });

  it('a list takes commas and repetition, and leaves the next argument alone', async () => {
    const { service, user } = await account();
    service.on('*', { body: { order: 'x', audiofiles: [1] } });
    await user.run(['order', '--sku', 'TRANS14,TSTMP1', '--sku=VERBATIM1', 'https://h/a.mp3', '--no-ledger']);
    expect(service.got[0]?.body).toMatchObject({
      sku: ['TRANS14', 'TSTMP1', 'VERBATIM1'],
      url: ['https://h/a.mp3'],
    });
  });

  it('a reader that stops early makes no noise', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'line\n'.repeat(2_000_000) });
    for (const line of [
      'skus | head -1',
      'transcript 5 -o - | head -1',
      'states --json | head -1',
      '--help | head -1',
    ]) {
      const child = spawn('bash', ['-c', `set -o pipefail; ${process.execPath} ${BIN} ${line}`], {
        env: user.env,
        cwd: user.home,
      });
      const { stderr, stdout } = await finished(child);
      expect([line, stderr, stdout.split('\n').length]).toEqual([line, '', 2]);
    }
  });
});

describe('an error', () => {
  it.each([
    ['a message', '{"message":"No credit"}', 'No credit'],
    ['an error', '{"error":"No credit"}', 'No credit'],
    ['an error in an error', '{"error":{"message":"No credit","code":7}}', 'No credit'],
    ['a list of errors', '{"errors":[{"detail":"No credit"}]}', 'No credit'],
    ['a bare string', '"No credit"', 'No credit'],
    ['plain text', 'No credit\n', 'No credit'],
    [
      'a page',
      '<html><head><title>Oops</title><style>b{}</style></head><body><h1>No &amp; <b>credit</b></h1>',
      'No & credit',
    ],
    ['steering characters', '{"message":"No\\u001b[2J\\u0007 \\ncredit\\u202e"}', 'No [2J credit'],
  ])('is found in %s', async (_, body, message) => {
    const { service, user } = await account();
    service.on('*', { status: 402, body });
    const { code, stdout, stderr } = await user.run(['balance']);
    expect([code, stdout, stderr]).toEqual([1, '', `steno: the service refused (HTTP 402: ${message})\n`]);
  });

  it('says its status where the service says nothing, and is short where it says much', async () => {
    const { service, user } = await account();
    service.on('GET /a', { status: 402 });
    service.on('GET /b', { status: 402, body: { message: 'blah '.repeat(10_000) } });
    expect((await user.run(['api', 'GET', '/a'])).stderr).toBe('steno: the service refused (HTTP 402)\n');
    const long = await user.run(['api', 'GET', '/b']);
    expect(long.stderr.length).toBeLessThan(300);
    expect(long.stderr).toMatch(/^[^\n]+\n$/);
  });

  it('is an object on stderr with --json', async () => {
    const { service, user } = await account();
    service.on('*', { status: 401, body: { message: 'bad key' } });
    const { code, stdout, stderr } = await user.run(['balance', '--json']);
    expect([code, stdout]).toEqual([3, '']);
    expect(jsonError(stderr)).toEqual({
      code: 'auth',
      message: 'the service did not accept the key (HTTP 401: bad key)',
      status: 401,
      hint: expect.stringMatching(/^the key came from STENO_API_KEY, .*steno whoami$/),
    });
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('shows a stack trace with --debug only', async () => {
    const user = new User();
    expect((await user.run(['balance'])).stderr).not.toMatch(/\n\s+at /);
    expect((await user.run(['balance', '--debug'])).stderr).toMatch(/\n\s+at /);
  });
});

describe('on a terminal', () => {
  it('nothing from the service steers it', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', file(1, nasty, { notes: nasty }));
    service.on('GET /audiofile/2', { status: 400, body: { message: nasty } });
    service.on('POST /audiofile/3/transcript.txt', { body: `Tab\tand line\n${nasty}` });
    service.on('GET /webhook', { body: { webhook: `https://h/${nasty}` } });
    for (const line of [
      'steno file 1',
      'steno file 1 1',
      'steno file 2',
      'steno transcript 3 -o -',
      'steno webhook get',
      'steno file 1 --watch',
    ]) {
      const { stdout } = await user.onTerminal(line);
      expect(stdout.length).toBeGreaterThan(5);
      expect([line, steering.exec(stdout.replace(/\u001b\[\??\d*[GKhl]|\u001b\[1A/g, ''))?.[0]]).toEqual([
        line,
        undefined,
      ]);
      expect(stdout).not.toContain('\u001b[31mred');
    }
  });

  it('there is colour, unless NO_COLOR or --no-color says otherwise', async () => {
    const { service, user } = await account();
    service.on('*', file(1, 'x'));
    const [plain, env, flag, dumb] = await Promise.all([
      user.onTerminal('steno file 1'),
      user.onTerminal('steno file 1', { env: { NO_COLOR: '1' } }),
      user.onTerminal('steno --no-color file 1'),
      user.onTerminal('steno file 1', { env: { TERM: 'dumb' } }),
    ]);
    expect(plain?.stdout).toContain('\u001b[32mDelivered');
    for (const each of [env, flag, dumb]) expect(each?.stdout).not.toMatch(/\u001b\[\d+m/);
  });

  it('a spinner never reaches a file that stdout goes to', async () => {
    const { service, user } = await account();
    service.on('*', (_, response) => {
      setTimeout(() => response.end('{"balance":"1.00"}'), 1500);
    });
    const { stdout } = await user.onTerminal("sh -c 'steno balance > out.txt; cat -v out.txt | tail -n 9'");
    expect(stdout.endsWith('1.00\r\n')).toBe(true);
    expect(stdout).toContain('waiting for the service');
  });

  it('a binary document is not printed', async () => {
    const { service, user } = await account();
    const { code, stdout } = await user.onTerminal('steno transcript 5 --format docx -o -');
    expect([code, service.got.length]).toEqual([2, 0]);
    expect(stdout).toContain('would garble the terminal');
  });
});

describe('a long message', () => {
  it.each([50, 80])(
    'is broken at words on a terminal of %d columns, and is one line elsewhere',
    async (columns) => {
      const user = new User();
      const line = ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14', '--columns', 'nope'];
      const { stderr } = await user.run(line);
      const [message = '', hint = ''] = stderr.trimEnd().split('\n');
      expect(hint.length).toBeGreaterThan(160);
      const { stdout } = await user.onTerminal(`steno ${line.join(' ')}`, {
        columns,
        env: { NO_COLOR: '1' },
      });
      const shown = stdout.trimEnd().split(/\r?\n/);
      expect(shown.every((each) => each.length <= columns)).toBe(true);
      expect(shown.join(' ')).toBe(`${message} ${hint}`);
    },
  );
});
