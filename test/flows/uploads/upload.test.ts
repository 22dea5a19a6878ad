/** The upload command: what it is given, what it may print, and how it ends. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canBeKept, type UploadOptions, uploadAll, uploadFile } from '../../../src/flows/uploads/upload.ts';
import { StenoError } from '../../../src/lib/errors.ts';
import { freshFolder } from '../../support/files.ts';
import { isGone } from '../../support/listener.ts';
import { until } from '../../support/until.ts';

const folder = freshFolder();
const path = join(folder, 'talk.mp3');
writeFileSync(path, 'ID3\u0000');

interface Told extends UploadOptions {
  readonly told: () => string;
}

/** For a command that is complete: it names the path, so that none is appended. */
function options(command: string, more: Partial<UploadOptions> = {}): Told {
  let told = '';
  return {
    command: `: "$1"; ${command}`,
    env: { PATH: process.env.PATH, STENO_API_KEY: 'secret-key', FOLDER: folder },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onMessage: (lines) => {
      told += lines;
    },
    told: () => told,
    ...more,
  };
}

/** The exit code and the message of what fails. */
async function failure(command: string, more: Partial<UploadOptions> = {}): Promise<string> {
  const error = await uploadFile(path, options(command, more)).catch((caught: unknown) => caught);
  return error instanceof StenoError ? `${error.exitCode}: ${error.message}` : `no error: ${String(error)}`;
}

describe('an upload command', () => {
  it('gets the path as $1 and as STENO_FILE, and its URL is what it prints', async () => {
    const command = `[ "$1" = "$STENO_FILE" ] && [ -f "$1" ] && echo "https://example.com/$(basename "$1")?v=1#a"`;
    expect(await uploadFile(path, options(command))).toBe('https://example.com/talk.mp3?v=1#a');
  });

  it.each(['cat | tail -1', 'false # up', ': ;'])(
    'that has no place for the path is told how to name it: %s',
    async (command) => {
      const error = await uploadFile(path, { ...options(''), command }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ hint: expect.stringContaining('write "$1" where it belongs') });
    },
  );

  it.each([
    ['', '<talk.mp3>'],
    [' --bucket "my audio"', '<--bucket><my audio><talk.mp3>'],
    [' "$1" last', '<talk.mp3><last>'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    [' "${1}"', '<talk.mp3>'],
    [' "$@"', '<talk.mp3>'],
    [' "$STENO_FILE"', '<talk.mp3>'],
    [' | cat', ''],
    [';', ''],
    [' # for steno', ''],
  ])('gets the path as its last argument where it does not name it: upload.sh%s', async (end, args) => {
    const script = join(folder, 'upload.sh');
    writeFileSync(
      script,
      '#!/bin/sh\nfor each; do printf "<%s>" "$(basename -- "$each")"; done >&2; echo >&2; echo https://example.com/a.mp3\n',
      { mode: 0o755 },
    );
    const told = options('');
    expect(await uploadFile(path, { ...told, command: `${script}${end}` })).toBe('https://example.com/a.mp3');
    expect(told.told()).toBe(`${args}\n`);
  });

  it('gets an absolute path, which is no option of a program', async () => {
    const command = 'case "$1" in /*/-rf.mp3) echo "https://example.com/$#/$0" ;; esac';
    expect(await uploadFile('-rf.mp3', options(command))).toBe('https://example.com/1/steno');
  });

  it('may print blank lines and the end of line of Windows around its URL', async () => {
    expect(await uploadFile(path, options(`printf '\\n  https://example.com/a.mp3 \\r\\n\\n'`))).toBe(
      'https://example.com/a.mp3',
    );
  });

  it('never has a name run as a command, whatever that is', async () => {
    const shell = fc.constantFrom(
      '$(touch x)',
      '`touch x`',
      '; touch x;',
      '" ; touch x "',
      "' ; touch x '",
      '| touch x',
      '\n',
      '*',
      '~',
    );
    const names = fc
      .array(fc.oneof(shell, fc.stringMatching(/^[^\0/]*$/)), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(''));
    const own = freshFolder();
    await fc.assert(
      fc.asyncProperty(
        names.filter(
          (name) =>
            Buffer.from(name).toString() === name && Buffer.byteLength(name) < 200 && !/^\.{0,2}$/.test(name),
        ),
        async (name) => {
          const command = `cd "$FOLDER" || exit; printf %s "$1" > one; printf %s "$STENO_FILE" > two; echo https://example.com/`;
          const env = { PATH: process.env.PATH, FOLDER: own };
          await uploadFile(join(own, name), options(command, { env }));
          expect(readFileSync(join(own, 'one'), 'utf8')).toBe(join(own, name));
          expect(readFileSync(join(own, 'two'), 'utf8')).toBe(join(own, name));
          expect(existsSync(join(own, 'x'))).toBe(false);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('has no input to wait for', async () => {
    expect(await uploadFile(path, options('cat; echo https://example.com/'))).toBe('https://example.com/');
  });

  it('is not shown beyond a limit, nor a line that has no end', async () => {
    const given = options('head -c 3000000 /dev/zero | tr "\\0" x >&2; echo https://example.com/');
    await uploadFile(path, given);
    expect(given.told()).toBe(
      'steno: a line longer than 64 KiB is not shown\nsteno: the command printed more than 1 MiB; the rest is not shown\n',
    );
    const many = options('yes | head -n 1000000 >&2; echo https://example.com/');
    await uploadFile(path, many);
    expect(many.told().length).toBeLessThan(1.1 * 1024 * 1024);
    expect(many.told()).toMatch(/y\nsteno: the command printed more than 1 MiB; the rest is not shown\n$/);
    const after = options(
      `(head -c 300000 /dev/zero | tr '\\0' x; echo; echo next) >&2; echo https://example.com/`,
    );
    await uploadFile(path, after);
    expect(after.told()).toBe('steno: a line longer than 64 KiB is not shown\nnext\n');
  });
});

describe('fails', () => {
  it.each([
    ['exit 3', '1: the upload command failed for talk.mp3 (exit 3)'],
    ['echo https://example.com/; exit 1', '1: the upload command failed for talk.mp3 (exit 1)'],
    ['no-such-program-here', '1: the upload command failed for talk.mp3 (exit 127)'],
    ['kill -9 $$', '1: the upload command failed for talk.mp3 (exit 137)'],
    ['true', '2: the upload command printed no URL for talk.mp3'],
    ['printf "  \\n\\n"', '2: the upload command printed no URL for talk.mp3'],
    [
      'echo https://a.example/; echo https://b.example/',
      '2: the upload command printed 2 lines for talk.mp3, not one URL',
    ],
    ['echo done; echo https://a.example/', '2: the upload command printed 2 lines for talk.mp3, not one URL'],
    ['echo http://a.example/', '2: the upload command printed an http URL for talk.mp3'],
    ['echo uploaded', '2: the upload command printed no https URL for talk.mp3'],
    ['echo s3://bucket/talk.mp3', '2: the upload command printed no https URL for talk.mp3'],
    ['echo https://', '2: the upload command printed no https URL for talk.mp3'],
    ['echo https://a.example/ https://b.example/', '2: the upload command printed no https URL for talk.mp3'],
    ['printf "https://a.example/\\001"', '2: the upload command printed no https URL for talk.mp3'],
    ['yes', '2: the upload command printed more than 64 KiB for talk.mp3, not one URL'],
    ['sleep 300', '6: the upload of talk.mp3 took longer than 300ms'],
  ])('%s', async (command, expected) => {
    expect(await failure(command, command.startsWith('sleep') ? { timeoutMs: 300 } : {})).toBe(expected);
  });

  it('and shows no secret of a URL that it refuses', async () => {
    expect(await failure('echo "http://a.example/?Signature=secret"')).not.toContain('secret');
    expect(await failure('echo "ftp://a.example/?Signature=secret"')).not.toContain('secret');
  });
});

describe('ends', () => {
  const pids = (): string[] =>
    existsSync(join(folder, 'pids')) ? readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n') : [];
  const command = 'sleep 300 & echo $! >> "$FOLDER/pids"; echo $$ >> "$FOLDER/pids"; wait';

  it('with all that it started at Ctrl-C, and once it was interrupted starts no more', async () => {
    const controller = new AbortController();
    const running = failure(command, { signal: controller.signal });
    await until(() => pids().length === 2, 'it runs');
    controller.abort();
    expect(await running).toBe('130: interrupted');
    await until(() => pids().every((pid) => isGone(Number(pid))), 'they ended');
    expect(await failure('echo started > "$FOLDER/started"', { signal: controller.signal })).toBe(
      '130: interrupted',
    );
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  it('at its time limit though a part of it does not let itself be ended', async () => {
    const stubborn = `sh -c 'trap "" TERM; echo $$ >> "$FOLDER/stubborn"; while :; do sleep 1; done' & wait`;
    expect(await failure(stubborn, { timeoutMs: 400 })).toMatch(
      /^6: the upload of talk.mp3 took longer than 400ms/,
    );
    const pid = Number(readFileSync(join(folder, 'stubborn'), 'utf8'));
    await until(() => isGone(pid), 'it ended');
  });
});

describe('several uploads', () => {
  it('run at the same time, as many as jobs, and keep their order', async () => {
    const paths = ['a', 'b', 'c', 'd', 'e'].map((name) => join(folder, `${name}.mp3`));
    const done: number[] = [];
    // Each counts those that run beside it; the first ones take the longest.
    const command = `n="$FOLDER/run.$$"; : > "$n"; ls "$FOLDER" | grep -c '^run' >> "$FOLDER/counts"; sleep 0.3; rm "$n"
      echo "https://example.com/$(basename "$1")"`;
    const outcomes = await uploadAll(paths, {
      ...options(command),
      jobs: 2,
      onDone: (count) => done.push(count),
    });
    expect(outcomes.map((outcome) => outcome.value)).toEqual(
      paths.map((each) => `https://example.com/${basename(each)}`),
    );
    expect(done).toEqual([1, 2, 3, 4, 5]);
    const counts = readFileSync(join(folder, 'counts'), 'utf8').trim().split('\n').map(Number);
    expect(Math.max(...counts)).toBe(2);
  });
});

it.each([
  ['https://example.com/talk.mp3', true],
  ['https://example.com/talk.mp3?version=2', true],
  ['https://b.s3.amazonaws.com/a.mp3?AWSAccessKeyId=A&Expires=1&Signature=s', false],
  ['https://user:word@example.com/talk.mp3', false],
])('%s may be kept for a later order: %s', (url, expected) => {
  expect(canBeKept(url)).toBe(expected);
});
