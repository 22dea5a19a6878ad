/** `order <file|folder>`: files get their URLs from a command of the user's own, and are known by their content. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type OrderingAccount, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';
import { signed } from '../../support/signed.ts';
import { BIN, finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

/** Says what it was given, and prints a URL that follows from the content. */
const UPLOAD =
  'printf "%s\\0" "$1" >> "$LOG"; echo "https://up.example/$(sha256sum < "$STENO_FILE" | cut -c1-8).mp3"';

interface Local extends OrderingAccount {
  /** Writes a file that is not new: nothing waits to see whether it grows. */
  file(name: string, content?: string): string;
  /** Sets the upload command. */
  uploadBy(command: string): void;
  /** The paths that the command was given, sorted. */
  uploads(): string[];
  /** What the service was sent. */
  bought(): string[][];
}

async function local(command: string | undefined = UPLOAD): Promise<Local> {
  const account = await orderingAccount();
  const { user, service } = account;
  user.env.LOG = join(user.home, 'log');
  const uploadBy = (text: string): void => setAll(user, { 'upload-command': text });
  if (command !== '') uploadBy(command);
  return {
    ...account,
    uploadBy,
    file: (name, content = name) => {
      const path = join(user.home, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `\0\xff${content}`);
      utimesSync(path, 1e9, 1e9);
      return path;
    },
    uploads: () => {
      const path = user.env.LOG ?? '';
      return existsSync(path) ? readFileSync(path, 'utf8').split('\0').slice(0, -1).sort() : [];
    },
    bought: () => service.calls('POST /order_url').map(({ body }) => body?.url as string[]),
  };
}

const NONE = '';

describe('a file of this machine', () => {
  it('is uploaded, and ordered under the URL that the command printed', async () => {
    const { file, order, uploads, bought, user } = await local();
    const path = file('talk.mp3');
    const { code, stdout, stderr } = await order('talk.mp3');
    expect(code, stderr).toBe(0);
    expect(uploads()).toEqual([path]);
    expect(bought()).toEqual([[expect.stringMatching(/^https:\/\/up\.example\/[0-9a-f]{8}\.mp3$/)]]);
    expect(stdout).toMatch(/^1\to1\tordered\thttps:\/\/up\.example\/[0-9a-f]{8}\.mp3\t\n$/);
    expect(queryLedger(user, 'SELECT title, source FROM purchase_items')).toEqual([
      { title: 'talk', source: path },
    ]);
  });

  it('without the setting is an error that names it and shows two examples that work', async () => {
    const { file, order, user, service } = await local(NONE);
    file('talk.mp3');
    const { code, stderr } = await order('talk.mp3');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^steno: talk\.mp3 .*upload-command/);
    expect(stderr.match(/^steno: /gm)).toHaveLength(1);
    const examples = stderr.split(/hint: for example: | {1,3}or: /).slice(1);
    expect(examples).toHaveLength(2);
    expect(service.got).toEqual([]);
    // Stand-ins for the programs that the examples use.
    const bin = join(user.home, 'bin');
    mkdirSync(bin);
    for (const program of ['scp', 'rclone'])
      writeFileSync(join(bin, program), '#!/bin/sh\n[ "$1" != link ] || echo https://link.example/a.mp3\n', {
        mode: 0o755,
      });
    writeFileSync(join(bin, 'steno'), `#!/bin/sh\nexec ${process.execPath} ${BIN} "$@"\n`, { mode: 0o755 });
    const env = { ...user.env, PATH: `${bin}:${user.env.PATH}` };
    for (const example of examples) {
      execFileSync('sh', ['-c', example], { env, cwd: user.home, stdio: 'ignore' });
      const ordered = await user.run(['order', 'talk.mp3', '--sku', 'TRANS14', '--again'], { env });
      expect(ordered.code, ordered.stderr).toBe(0);
    }
    expect(service.got).toHaveLength(2);
  });

  it('never becomes part of a shell string, whatever it is called', async () => {
    const { file, user, uploads, bought } = await local();
    const names = [
      `it's "quoted".mp3`,
      '$(touch pwned).mp3',
      '`touch pwned`; touch pwned.mp3',
      'two\nlines.mp3',
      ' spaces  and\ttabs .mp3',
      '-rf.mp3',
      '--again.mp3',
      'back\\slash%20.mp3',
    ];
    const paths = names.map((name) => file(join('in', name), name));
    const args = names.map((name) => (name.startsWith('-') ? `./${name}` : name));
    const line = ['order', '--sku', 'TRANS14', '--json', ...args];
    const { code, stdout, stderr } = await user.run(line, { cwd: join(user.home, 'in') });
    expect(code, stderr).toBe(0);
    expect(uploads()).toEqual(paths.sort());
    expect(bought().flat()).toHaveLength(names.length);
    const all = JSON.parse(stdout) as Array<{ order: string }>;
    expect(all.map(({ order: id }) => id)).toEqual(Array(8).fill('o1'));
    expect(existsSync(join(user.home, 'in', 'pwned')) || existsSync(join(user.home, 'pwned'))).toBe(false);
    const after = await user.run(['order', '--sku', 'TRANS14', '--', '-rf.mp3'], {
      cwd: join(user.home, 'in'),
    });
    expect(after.code).toBe(9);
    expect(after.stderr).toMatch(
      /^steno: -rf\.mp3 was ordered as order o1 (?:just now|\d+s ago) \(same content\)\n/,
    );
  });

  it('does not give the key to the command', async () => {
    const { file, order, bought } = await local(
      'echo "https://up.example/$(printenv STENO_API_KEY || echo none).mp3"',
    );
    file('talk.mp3');
    expect((await order('talk.mp3')).code).toBe(0);
    expect(bought()).toEqual([['https://up.example/none.mp3']]);
  });

  it('is not uploaded by --dry-run', async () => {
    const { file, order, uploads, service } = await local();
    file('talk.mp3');
    const { code, stdout } = await order('talk.mp3', '--dry-run', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).orders).toMatchObject([
      { skus: ['TRANS14'], audios: [{ url: null, path: 'talk.mp3', title: 'talk' }] },
    ]);
    expect([uploads(), service.got]).toEqual([[], []]);
    expect((await order('talk.mp3', '--dry-run')).stdout).toMatch(
      /^1\ttalk\t\t\ttalk\.mp3\tTRANS14\t\t\t\tsha256:[0-9a-f]{64}\n$/,
    );
  });

  it('that is not there is told as such', async () => {
    const { order, service } = await local();
    const { code, stderr } = await order('none.mp3');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^steno: 'none\.mp3' is not an http or https URL\nhint: there is no such file or folder either; .*upload-command\n$/,
    );
    expect(service.got).toEqual([]);
  });

  it.each([UPLOAD, NONE])('that is text is taken for a manifest, and the hint is --from', async (command) => {
    const { user, order, service, uploads } = await local(command);
    writeFileSync(join(user.home, 'my talks.txt'), 'https://e.org/a.mp3\n');
    const { code, stderr } = await order('my talks.txt');
    expect(code).toBe(2);
    expect(stderr).toBe(
      "steno: my talks.txt is a text file, not audio\nhint: if it lists URLs: steno order --from 'my talks.txt'\n",
    );
    expect([service.got, uploads()]).toEqual([[], []]);
  });

  it('has no --key', async () => {
    const { file, order, uploads } = await local();
    file('talk.mp3');
    const { code, stderr } = await order('talk.mp3', '--key', 'x');
    expect([code, uploads()]).toEqual([2, []]);
    expect(stderr).toContain('--key is for URLs: a file');
  });

  it('may stand beside a URL', async () => {
    const { file, order, bought } = await local();
    file('talk.mp3');
    expect((await order('https://e.org/a.mp3', 'talk.mp3')).code).toBe(0);
    expect(bought()).toEqual([['https://e.org/a.mp3', expect.stringContaining('up.example')]]);
  });
});

describe('a folder', () => {
  it('is ordered with the folders in it, and copies of a recording once', async () => {
    const { file, order, uploads, bought } = await local();
    const [a, b] = [file('rec/a.mp3'), file('rec/deep/b.WAV')];
    file('rec/deep/copy of a.mp3', 'rec/a.mp3');
    file('rec/notes.txt');
    file('rec/.hidden.mp3');
    for (const again of [[], ['--again']]) {
      const { code, stderr } = await order('rec', '--json', ...again);
      expect(code, stderr).toBe(0);
      const warnings = stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).warning.message);
      expect(warnings).toEqual([
        'Skipped 1: it is hidden (rec/.hidden.mp3)',
        'left out: rec/deep/copy of a.mp3: it has the same content as rec/a.mp3',
      ]);
    }
    expect(uploads()).toEqual([a, a, b, b]);
    expect(bought().map((urls) => urls.length)).toEqual([2, 2]);
  });

  it('says how many it leaves out, which and why; --hidden orders hidden ones and linked folders', async () => {
    const { file, order, uploads, user } = await local();
    const paths = [file('rec/a.mp3'), file('rec/.b.mp3'), file('rec/.old/c.mp3')];
    file('rec/cover.jpg');
    file('far/d.mp3');
    symlinkSync('../far', join(user.home, 'rec', 'link'));
    const some = await order('rec', '--json');
    expect(some.code, some.stderr).toBe(0);
    const warnings = some.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).warning);
    expect(warnings.map(({ message }) => message)).toEqual([
      'Skipped 2: it is hidden (rec/.b.mp3, rec/.old/c.mp3)',
      'Skipped 1: it is a link to a folder (rec/link)',
      'Skipped 1: it has no audio extension (rec/cover.jpg)',
    ]);
    expect(warnings[0].hint).toContain('--hidden');
    expect(JSON.parse(some.stdout)).toMatchObject([
      { order: 'o1' },
      { url: 'rec/.b.mp3', source: join(user.home, 'rec/.b.mp3'), left_out: 'hidden' },
      { url: 'rec/.old/c.mp3', left_out: 'hidden' },
      { url: 'rec/link', left_out: 'linked' },
    ]);
    const all = await order('rec', '--hidden', '--skip-ordered');
    expect(all.code, all.stderr).toBe(0);
    expect(uploads()).toEqual([...paths, join(user.home, 'rec', 'link', 'd.mp3')].sort());
    expect(all.stderr).not.toContain('hidden');
  });

  it('is needed for --hidden', async () => {
    const { order } = await local();
    const { code, stderr } = await order('https://e.org/a.mp3', '--hidden');
    expect([code, stderr]).toEqual([2, 'steno: --hidden requires a folder on this machine\n']);
  });

  it.runIf(process.platform === 'linux')('names a file whose name is not UTF-8', async () => {
    const { file, order, user } = await local();
    file('rec/a.mp3');
    const name = Buffer.from('rec/caf\u00e9.mp3', 'latin1');
    writeFileSync(Buffer.concat([Buffer.from(`${user.home}/`), name]), '\0\xff');
    const { code, stderr } = await order('rec');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      'warning: Skipped 1: its name is not UTF-8 (rec/caf\\xe9.mp3)\nhint: rename it\n',
    );
    const alone = await order(name.toString());
    expect([alone.code, alone.stderr]).toEqual([
      2,
      "steno: the name 'rec/caf\ufffd.mp3' is not UTF-8\nhint: rename the file or folder\n",
    ]);
  });

  it('without audio is an error', async () => {
    const { file, order, service } = await local();
    file('rec/notes.txt');
    const { code, stderr } = await order('rec');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^steno: there is no audio in rec\nhint: audio files end in mp3, /);
    expect(service.got).toEqual([]);
  });

  it('gives an array with --json, whatever is in it and whatever becomes of it', async () => {
    const { file, order, service } = await local();
    const json = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await order('rec', '--json', ...args)).stdout);
    file('rec/a.mp3');
    service.on(
      'POST /order_url',
      { status: 400, body: { message: 'no' } },
      {
        body: { order: 'x', audiofiles: [1], message: 'ok' },
      },
    );
    expect(await json('--dry-run')).toMatchObject({ orders: [{ skus: ['TRANS14'] }] });
    expect(await json()).toMatchObject([{ audiofile: null, error: { status: 400 } }]);
    expect(await json()).toMatchObject([{ order: 'x' }]);
    expect(await json('--skip-ordered')).toMatchObject([{ order: 'x', left_out: 'ordered' }]);
    expect(await json('--skip-ordered', '--dry-run')).toMatchObject({ orders: [] });
  });

  it('leaves out a file that is still growing, and orders it when it is complete', async () => {
    const { file, order, uploads, user } = await local();
    const done = file('rec/done.mp3');
    const growing = join(user.home, 'rec', 'growing.mp3');
    writeFileSync(growing, '\0\xff');
    const timer = setInterval(() => appendFileSync(growing, 'more'), 100);
    try {
      const { code, stderr } = await order('rec');
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('warning: left out: rec/growing.mp3: it is still being written\n');
      expect(uploads()).toEqual([done]);
      const alone = await order('rec/growing.mp3');
      expect([alone.code, alone.stdout]).toEqual([2, '']);
      expect(alone.stderr).toBe('steno: nothing to order: rec/growing.mp3: it is still being written\n');
    } finally {
      clearInterval(timer);
    }
    expect((await order('rec', '--skip-ordered')).code).toBe(0);
    expect(uploads()).toEqual([done, growing]);
  });
});

describe('the identity of a file', () => {
  it('is its content: a renamed, moved or copied one is neither uploaded nor bought again', async () => {
    const { file, order, uploads, bought, user } = await local();
    const path = file('talk.mp3');
    expect((await order('talk.mp3')).code).toBe(0);
    mkdirSync(join(user.home, 'new'));
    copyFileSync(path, join(user.home, 'copy.wav'));
    utimesSync(join(user.home, 'copy.wav'), 1e9, 1e9);
    renameSync(path, join(user.home, 'new', 'other.mp3'));
    for (const name of ['copy.wav', 'new/other.mp3', 'new']) {
      const second = await order(name);
      expect(second.code).toBe(9);
      expect(second.stderr).toMatch(/ was ordered as order o1 (?:just now|\d+s ago) \(same content\)\n/);
      expect((await order(name, '--skip-ordered')).code).toBe(0);
    }
    expect([uploads(), bought().length]).toEqual([[path], 1]);
  });

  it('is not its name: new content under the old name is another audio', async () => {
    const { file, order, bought } = await local();
    file('talk.mp3', 'first');
    expect((await order('talk.mp3')).code).toBe(0);
    file('talk.mp3', 'second');
    expect((await order('talk.mp3')).code).toBe(0);
    expect(bought()).toHaveLength(2);
  });
});

describe('one URL for two recordings', () => {
  const BY_NAME = 'echo "https://up.example/$(basename "$1")"';

  it('in one run is refused for both, and holds up no other; both are named', async () => {
    const { file, order, bought, user } = await local(BY_NAME);
    file('rec/a/talk.mp3');
    file('rec/b/talk.mp3');
    file('rec/other.mp3');
    const { code, stderr } = await order('rec');
    expect(code, stderr).toBe(10);
    expect(bought()).toEqual([['https://up.example/other.mp3']]);
    for (const [one, two] of [
      ['rec/a/talk.mp3', 'rec/b/talk.mp3'],
      ['rec/b/talk.mp3', 'rec/a/talk.mp3'],
    ])
      expect(stderr).toContain(
        `the upload command gave ${one} the URL of ${two}: https://up.example/talk.mp3\n`,
      );
    expect(stderr).toContain('give each recording a unique name');
    expect(queryLedger(user, 'SELECT url FROM uploads')).toEqual([]);
  });

  it('is refused in one run, though each is an order of its own', async () => {
    const { file, order, bought } = await local(BY_NAME);
    file('rec/a/talk.mp3');
    file('rec/b/talk.mp3');
    const { code, stderr } = await order('rec', '--per-order', '1');
    expect([code, bought()], stderr).toEqual([10, [['https://up.example/talk.mp3']]]);
  });

  it.each([
    ['plain', BY_NAME],
    ['signed', `: "$1"; echo '${signed('https://up.example/talk.mp3', 1)}'`],
  ])('is refused in a later run, with --again too: a %s one', async (_, command) => {
    const { file, order, bought, user } = await local(command);
    const first = file('a/talk.mp3');
    file('b/talk.mp3');
    expect((await order('a/talk.mp3')).code).toBe(0);
    for (const more of [[], ['--again'], ['--skip-ordered']]) {
      const { code, stderr } = await order('b/talk.mp3', ...more);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(`gave b/talk.mp3 the URL of ${first}: https://up.example/talk.mp3\n`);
    }
    expect([bought().length, statuses(user)]).toEqual([1, ['placed']]);
    expect((await order('a/talk.mp3', '--again')).code).toBe(0);
    expect(bought()).toHaveLength(2);
  });

  it.each([
    ['both orders were refused', []],
    ['both orders were tests', ['--test']],
    ['the other is of another profile', ['--test'], ['--profile', 'other']],
  ])('is of what was uploaded last, which alone is not uploaded again: %s', async (_, flags, more = []) => {
    const { file, order, service, uploadBy, user } = await local(NONE);
    const upload = 'printf "%s\\0" "$1" >> "$LOG"; cp "$1" "$HOME/up"; echo "https://up.example/talk.mp3"';
    uploadBy(upload);
    await user.run(['config', 'set', 'upload-command', upload, '--profile', 'other']);
    // Where accounts are not named, a shared ledger takes no second one for the same service.
    await user.run(['config', 'set', 'account', 'first']);
    await user.run(['config', 'set', 'account', 'other', '--profile', 'other']);
    const at = () => readFileSync(join(user.home, 'up'), 'utf8').slice(2);
    if (flags.length === 0) service.allow('POST /order_url', { status: 400, body: { message: 'no' } });
    const paths = [file('a/talk.mp3', 'A'), file('b/talk.mp3', 'B')];
    const seen: string[] = [];
    for (const [name, ...rest] of [['a'], ['b', ...more], ['b', ...more], ['a'], ['a']]) {
      await order(`${name}/talk.mp3`, ...flags, ...rest);
      seen.push(at());
    }
    expect(seen).toEqual(['A', 'B', 'B', 'A', 'A']);
    const uploaded = readFileSync(user.env.LOG ?? '', 'utf8')
      .split('\0')
      .slice(0, -1);
    expect(uploaded).toEqual([paths[0], paths[1], paths[0]]);
  });

  it('is refused to the first where the second was ordered', async () => {
    const { file, order, service, bought } = await local(BY_NAME);
    service.on(
      'POST /order_url',
      { status: 400, body: { message: 'no' } },
      { body: { order: 'x', audiofiles: [1] } },
    );
    file('a/talk.mp3');
    file('b/talk.mp3');
    expect((await order('a/talk.mp3')).code).toBe(1);
    expect((await order('b/talk.mp3')).code).toBe(0);
    const { code, stderr } = await order('a/talk.mp3', '--again');
    expect([code, bought().length]).toEqual([2, 2]);
    expect(stderr).toMatch(/gave a\/talk\.mp3 the URL of \S*b\/talk\.mp3/);
  });

  it('is free again where the first was refused by the service', async () => {
    const { file, order, service } = await local(BY_NAME);
    service.on(
      'POST /order_url',
      { status: 400, body: { message: 'no' } },
      { body: { order: 'x', audiofiles: [1] } },
    );
    file('a/talk.mp3');
    file('b/talk.mp3');
    expect((await order('a/talk.mp3')).code).toBe(1);
    expect((await order('b/talk.mp3')).code).toBe(0);
  });
});

describe('a link to the URL of a recording', () => {
  const BY_NAME = 'echo "https://up.example/$(basename "$1")"';
  const URL = 'https://up.example/z.mp3';

  it('is on order with the recording; --skip-ordered leaves it out, --again and --key order it', async () => {
    const { file, order, bought } = await local(BY_NAME);
    file('z.mp3');
    expect((await order('z.mp3')).code).toBe(0);
    for (const link of [URL, `${URL}?utm_source=x`]) {
      const second = await order(link, '--json');
      expect([second.code, second.stdout]).toEqual([9, '']);
      expect(JSON.parse(second.stderr).error).toMatchObject({
        reason: 'ordered',
        order: 'o1',
        audiofiles: ['1'],
      });
    }
    expect((await order(URL, '--skip-ordered')).code).toBe(0);
    expect(bought()).toHaveLength(1);
    expect((await order(URL, '--key', 'mine')).code).toBe(0);
    expect((await order(URL, '--again')).code).toBe(0);
    expect(bought()).toHaveLength(3);
    // It is the recording's still, whoever has ordered the link since.
    file('other/z.mp3');
    expect((await order('other/z.mp3', '--again')).code).toBe(2);
    expect((await order('z.mp3')).stderr).toContain('same content');
  });

  it('that is on order stops the recording, whose content nobody can compare; --again orders it', async () => {
    const { file, order, bought } = await local(BY_NAME);
    expect((await order(URL)).code).toBe(0);
    const path = file('q/z.mp3');
    file('q/y.mp3');
    const alone = await order('q/z.mp3');
    expect([alone.code, alone.stdout]).toEqual([9, '']);
    expect(alone.stderr).toContain(`${path}: its URL ${URL} was ordered as order o1 `);
    expect(alone.stderr).toContain(
      `hint: if it is another recording, add --again, or: steno order ${URL} --key <text>\n`,
    );
    const left = await order('q/z.mp3', '--skip-ordered');
    expect([left.code, left.stdout]).toEqual([0, '']);
    expect(left.stderr).toContain(`warning: left out: ${path}: its URL ${URL} was ordered as order o1`);
    const among = await order('q');
    expect([among.code, bought().slice(1)], among.stderr).toEqual([10, [['https://up.example/y.mp3']]]);
    expect((await order('q/z.mp3', '--again')).code).toBe(0);
    expect(bought()).toHaveLength(3);
  });

  it.each(['1', '9'])('is bought once where both are in one run, %s to an order', async (perOrder) => {
    const { file, order, bought } = await local(BY_NAME);
    file('z.mp3');
    const { code, stderr } = await order(URL, 'z.mp3', '--per-order', perOrder);
    expect([code, bought()], stderr).toEqual([10, [[URL]]]);
  });

  it('that had no clear answer is unclear for the recording too, and so the other way', async () => {
    const { file, order, service } = await local(BY_NAME);
    service.on('POST /order_url', { status: 500 });
    file('z.mp3');
    file('y.mp3');
    expect([(await order(URL)).code, (await order('y.mp3')).code]).toEqual([11, 11]);
    for (const next of ['z.mp3', 'https://up.example/y.mp3']) {
      const { code, stderr } = await order(next);
      expect([code, stderr]).toEqual([9, expect.stringContaining('had no clear answer')]);
    }
    expect(service.calls('POST /order_url')).toHaveLength(2);
  });
});

it('a recording that changes while it is uploaded is not ordered, and is bought once when it is complete', async () => {
  const { file, order, bought, uploadBy, user } = await local(`printf more >> "$1"; ${UPLOAD}`);
  file('rec/growing.mp3');
  const { code, stderr } = await order('rec');
  expect(code, stderr).toBe(1);
  expect(stderr).toContain('rec/growing.mp3 changed during the upload: it was not ordered');
  expect([bought(), queryLedger(user, 'SELECT url FROM uploads'), statuses(user)]).toEqual([[], [], []]);
  uploadBy(UPLOAD);
  expect((await order('rec')).code).toBe(0);
  expect((await order('rec', '--skip-ordered')).code).toBe(0);
  expect(bought()).toHaveLength(1);
});

describe('an upload that fails', () => {
  const failing = (how: string): string => `case "$1" in *bad*) ${how} ;; *) ${UPLOAD} ;; esac`;

  it.each([
    ['exits with a code', 'echo "no room" >&2; exit 7', 1, 'the upload command failed for bad.mp3 (exit 7)'],
    ['prints nothing', ':', 2, 'the upload command printed no URL for bad.mp3'],
    ['hangs', 'sleep 60', 6, 'the upload of bad.mp3 took longer than 2s'],
  ])('because the command %s names the file, and its order is not sent', async (_, how, exit, why) => {
    const { file, order, bought, uploads, user } = await local(failing(how));
    file('bad.mp3');
    const alone = await order('bad.mp3', '--timeout', '2s');
    expect([alone.code, alone.stdout], alone.stderr).toEqual([exit, '']);
    expect(alone.stderr).toContain(why);
    // Nothing was sent, so that nothing is unclear.
    expect(alone.stderr).not.toContain('--retry-unclear');
    expect([bought(), statuses(user)]).toEqual([[], []]);
    // It holds up no other file.
    file('rec/bad.mp3');
    const good = file('rec/good.mp3');
    const { code, stdout, stderr } = await order('rec', '--timeout', '2s');
    expect(code, stderr).toBe(10);
    expect(stdout).toMatch(/^1\to1\tordered\thttps:\/\/up\.example\/\w+\.mp3\t\n$/);
    expect(stderr).toContain(`steno: rec/bad.mp3: `);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('--retry-unclear');
    expect([uploads(), bought().map((urls) => urls.length)]).toEqual([[good], [1]]);
  });

  it('lets what it says on stderr through, without the key', async () => {
    const { file, order, user } = await local(`echo "key ${'$'}(cat key) told" >&2; exit 1`);
    writeFileSync(join(user.home, 'key'), user.env.STENO_API_KEY ?? '');
    file('talk.mp3');
    const { code, stderr } = await order('talk.mp3');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^key \S+ told\n/);
    expect(stderr).not.toContain(user.env.STENO_API_KEY);
  });

  it('is tried again by the next run, which uploads only what is missing', async () => {
    const { file, order, uploads, uploadBy, bought } = await local(failing('exit 1'));
    file('rec/bad.mp3');
    file('rec/good.mp3');
    expect((await order('rec')).code).toBe(10);
    uploadBy(UPLOAD);
    expect((await order('rec', '--skip-ordered')).code).toBe(0);
    expect(uploads().map((path) => path.replace(/.*\//, ''))).toEqual(['bad.mp3', 'good.mp3']);
    expect(bought().map((urls) => urls.length)).toEqual([1, 1]);
  });
});

describe('a recording that the service does not take', () => {
  const BY_NAME = 'echo "https://up.example/$(basename "$1")"';

  it.each([
    [
      'refused',
      { status: 400, body: { message: 'bad audio' } },
      1,
      'the service refused (HTTP 400: bad audio)',
    ],
    ['unclear', { status: 500 }, 11, 'the service answered HTTP 500'],
    ['without a file', { body: { order: 'x', audiofiles: [] } }, 11, 'order x was accepted, but '],
  ])('is named by its path where it is %s', async (_, answer, exit, message) => {
    const { file, order, service } = await local(BY_NAME);
    const path = file('rec/a.mp3');
    service.on('POST /order_url', answer);
    const { code, stdout, stderr } = await order('rec', '--json');
    expect(code, stderr).toBe(exit);
    const { error } = JSON.parse(stderr) as { error: { message: string } };
    expect(error.message).toMatch(/^(\/.*\/)?rec\/a\.mp3: /);
    expect(error.message).toContain(`rec/a.mp3: ${message}`);
    expect(JSON.parse(stdout)).toMatchObject([{ source: path }]);
    const again = await order('rec', '--again');
    expect(again.stderr).toContain(`rec/a.mp3: ${message}`);
    expect(again.stderr).not.toContain('up.example');
  });

  it('is named by its path among others, and in attempts', async () => {
    const { file, order, service, user } = await local(BY_NAME);
    const paths = [file('rec/a.mp3'), file('rec/b.mp3')];
    service.on('POST /order_url', { body: { order: 'x', audiofiles: [] } }, { status: 400 });
    const { code, stderr } = await order('rec', '--per-order', '1');
    expect(code, stderr).toBe(11);
    expect(stderr).toContain(`steno: ${paths[0]}: order x was accepted, but `);
    expect(stderr).toContain('steno: rec/b.mp3: the service refused');
    expect(stderr).not.toContain('up.example');
    const attempts = await user.run(['attempts', '--json']);
    expect(JSON.parse(attempts.stdout)).toMatchObject([{ sources: [paths[0]] }]);
  });
});

describe('after an order that failed', () => {
  const refused = { status: 400, body: { message: 'no' } };
  const placed = { body: { order: 'x', audiofiles: [1], message: 'ok' } };

  it('a file is not uploaded again', async () => {
    const { file, order, uploads, bought, service } = await local();
    service.on('POST /order_url', refused, placed);
    const path = file('talk.mp3');
    expect((await order('talk.mp3')).code).toBe(1);
    expect((await order('talk.mp3')).code).toBe(0);
    expect(uploads()).toEqual([path]);
    const [first, second] = bought();
    expect(second).toEqual(first);
  });

  it('a file is uploaded again by another command, which may mend what was wrong', async () => {
    const { file, order, bought, service, uploadBy } = await local(
      ': "$1"; echo https://wrong.example/a.mp3',
    );
    service.on('POST /order_url', refused, placed);
    file('talk.mp3');
    expect((await order('talk.mp3')).code).toBe(1);
    uploadBy(': "$1"; echo https://right.example/a.mp3');
    expect((await order('talk.mp3')).code).toBe(0);
    expect(bought()).toEqual([['https://wrong.example/a.mp3'], ['https://right.example/a.mp3']]);
  });

  it('a file whose URL is signed is uploaded again, and the signature is neither kept nor shown', async () => {
    const url = signed('https://up.example/talk.mp3', 1);
    const { file, order, uploads, bought, service, user } = await local(
      `${UPLOAD} >/dev/null; echo '${url}'`,
    );
    const secret = new URL(url).searchParams.get('X-Amz-Signature') ?? '';
    expect(secret).not.toBe('');
    service.on('POST /order_url', refused, placed);
    const path = file('talk.mp3');
    const results = [await order('talk.mp3'), await order('talk.mp3'), await user.run(['files', '--json'])];
    expect(results.map(({ code }) => code)).toEqual([1, 0, 0]);
    expect(uploads()).toEqual([path, path]);
    expect(bought()).toEqual([[url], [url]]);
    expect(results.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(secret);
    const tables = ['purchase_items', 'item_names', 'files', 'uploads'].map((table) =>
      JSON.stringify(queryLedger(user, `SELECT * FROM ${table}`)),
    );
    expect(tables.join()).not.toContain(secret);
    expect(queryLedger(user, 'SELECT url FROM uploads')).toEqual([]);
  });

  it('a URL is forgotten once it is ordered: what lies there may be cleaned up', async () => {
    const { file, order, uploads, user } = await local();
    const path = file('talk.mp3');
    expect((await order('talk.mp3')).code).toBe(0);
    expect(queryLedger(user, 'SELECT url FROM uploads')).toEqual([]);
    expect((await order('talk.mp3', '--again')).code).toBe(0);
    expect(uploads()).toEqual([path, path]);
  });
});

describe('uploads', () => {
  it('end with Ctrl-C: nothing is ordered, no command goes on, and what was uploaded is kept', async () => {
    const slow = `case "$1" in *slow*) echo $$ > pid; sleep 60 & wait ;; *) ${UPLOAD} ;; esac`;
    const { file, user, service, uploads, order } = await local(slow);
    const quick = file('rec/quick.mp3');
    file('rec/slow.mp3');
    const child = user.start(['order', 'rec', '--sku', 'TRANS14']);
    const end = finished(child);
    await until(() => uploads().length === 1 && existsSync(join(user.home, 'pid')), 'two uploads under way');
    await until(() => queryLedger(user, 'SELECT url FROM uploads').length === 1, 'one that is kept');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect([code, stdout], stderr).toEqual([130, '']);
    expect(stderr).toContain('interrupted: nothing was ordered');
    expect([service.got, statuses(user)]).toEqual([[], []]);
    const pid = readFileSync(join(user.home, 'pid'), 'utf8').trim();
    await until(() => !isRunning(Number(pid)), 'the end of the command');
    // Where `sleep` takes no time, the second command ends, without a URL.
    mkdirSync(join(user.home, 'fast'));
    writeFileSync(join(user.home, 'fast', 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
    user.env.PATH = `${user.home}/fast:${user.env.PATH}`;
    expect((await order('rec')).code).toBe(10);
    expect(uploads()).toEqual([quick]);
  });

  it('of one file by several processes end in one order', async () => {
    const { file, order, bought } = await local(`sleep 0.5; ${UPLOAD}`);
    file('talk.mp3');
    const ends = await Promise.all([1, 2, 3].map(() => order('talk.mp3', '--skip-ordered')));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(bought()).toHaveLength(1);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
