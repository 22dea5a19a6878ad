/**
 * Gets a file on disk a URL, by a command of the user's own: the setting `upload-command`. The path is never a part of the
 * command's text: it is $1 of a shell, and STENO_FILE in the environment, which is all that Windows has. A command that
 * names neither gets it as its last argument.
 */
import { basename, resolve } from 'node:path';
import { type GroupEnd, ProcessGroup, passLines } from '../../lib/child-processes.ts';
import type { Env } from '../../lib/env.ts';
import { errorMessage, StenoError, usage } from '../../lib/errors.ts';
import { childEnv } from '../../lib/processes.ts';
import { withoutSignature } from '../../lib/signatures.ts';
import { plural, shellWord } from '../../lib/text.ts';
import { formatDuration } from '../../lib/time.ts';
import { checkUrl } from '../../lib/url.ts';
import { uploadRecipes } from '../../settings/upload-recipes.ts';
import { doEach, type Outcome } from '../bulk.ts';

export interface UploadOptions {
  readonly command: string;
  readonly env: Env;
  /** How long one upload may take. */
  readonly timeoutMs: number;
  /** Ends the command with all that it started. */
  readonly signal: AbortSignal;
  /** Gets what the command prints on stderr, in whole lines, so that a secret in it can be masked. */
  readonly onMessage: (lines: string) => void;
}

export const UPLOAD_TIMEOUT_MS = 3_600_000;

/** A URL is short: whatever prints more is no upload command. */
const MAX_OUTPUT_BYTES = 65_536;

const hint = 'see the command: steno config get upload-command';
const noPathHint = 'the command does not use the path: write "$1" where it belongs, with the quotes';

/** Uploads one file, and gives the https URL that the command printed. */
export async function uploadFile(path: string, options: UploadOptions): Promise<string> {
  const name = basename(path);
  const { end, output, cause } = await run(resolve(path), options);
  if (options.signal.aborted) throw new StenoError('interrupted', 'interrupted');
  if (cause === 'timeout')
    throw new StenoError(
      'timeout',
      `the upload of ${name} took longer than ${formatDuration(options.timeoutMs)}`,
      {
        hint: 'run the upload command on its own to see what it waits for',
      },
    );
  if (cause === 'output')
    throw usage(`the upload command printed more than 64 KiB for ${name}, not one URL`, hint);
  const lacksPath = !namesPath(options.command) && !takesPath(options.command);
  if (end.code !== 0)
    throw new StenoError('failed', `the upload command failed for ${name} (${endText(end)})`, {
      hint: lacksPath ? noPathHint : hint,
    });
  return urlIn(output, name, lacksPath ? noPathHint : undefined);
}

const endText = ({ code, killedBy }: GroupEnd): string => (code === null ? `${killedBy}` : `exit ${code}`);

async function run(path: string, { command, env, timeoutMs, signal, onMessage }: UploadOptions) {
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
  const variables = { ...childEnv(env), STENO_FILE: path };
  const group = new ProcessGroup({
    command: withPath(command),
    args: [path],
    env: variables,
    hasInput: false,
  });
  /** Why it was ended before its time. */
  let cause: 'timeout' | 'output' | undefined;
  const stop = (reason: typeof cause): void => {
    cause ??= reason;
    group.end();
  };
  const chunks: Buffer[] = [];
  let size = 0;
  group.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else stop('output');
  });
  const flush = passLines(group.stderr, onMessage);
  const onAbort = (): void => group.end();
  // A timer can't be set for longer.
  const timer = setTimeout(() => stop('timeout'), Math.min(timeoutMs, 2 ** 31 - 1));
  signal.addEventListener('abort', onAbort);
  try {
    const end = await group.ended;
    return { end, output: Buffer.concat(chunks).toString('utf8'), cause };
  } catch (error) {
    throw new StenoError('failed', `can't run the upload command: ${errorMessage(error)}`, {
      hint,
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    flush();
  }
}

const namesPath = (command: string): boolean => /\$\{?[1@*]|STENO_FILE/.test(command);

/** What is appended is an argument of the command: not after a pipe, a line break, a comment, or ; or & at the end. */
const takesPath = (command: string): boolean => !/[|\n#]|[;&]\s*$/.test(command);

const withPath = (command: string): string =>
  namesPath(command) || !takesPath(command)
    ? command
    : `${command} ${process.platform === 'win32' ? '"%STENO_FILE%"' : '"$1"'}`;

/** The one URL that an upload command prints, alone on stdout. */
function urlIn(output: string, name: string, noUrlHint = 'it must print one https URL on stdout'): string {
  const lines = output
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  const [only = '', ...more] = lines;
  if (only === '') throw usage(`the upload command printed no URL for ${name}`, noUrlHint);
  if (more.length)
    throw usage(
      `the upload command printed ${plural(lines.length, 'line')} for ${name}, not one URL`,
      'print only the https URL on stdout, and anything for people on stderr',
    );
  if (/^http:\/\//i.test(only))
    throw usage(
      `the upload command printed an http URL for ${name}`,
      'it must be https: the audio may be private',
    );
  try {
    return checkUrl(/^https:\/\//i.test(only) ? only : '');
  } catch {
    throw usage(
      `the upload command printed no https URL for ${name}`,
      'it must print one, like https://host/talk.mp3',
    );
  }
}

/** Whether a URL may be kept for a later order: one with a signature ends, and is a secret. */
export const canBeKept = (url: string): boolean => {
  const { username, password, href } = new URL(url);
  return username === '' && password === '' && withoutSignature(href) === href;
};

interface UploadAllOptions extends UploadOptions {
  readonly jobs: number;
  /** The URL that a path got before, if it may be used again. */
  readonly known?: (at: number) => Promise<string | undefined>;
  /** Called at once for each that is uploaded, whatever becomes of the others. */
  readonly onUploaded?: (at: number, url: string) => Promise<void>;
  /** Called after each one, whatever became of it. */
  readonly onDone: (done: number, of: number, at: number) => void;
}

/** Uploads several files at once, and gives their URLs in the order of the paths. A failure stops no other. */
export function uploadAll(paths: readonly string[], options: UploadAllOptions): Promise<Outcome<string>[]> {
  const { known, onUploaded } = options;
  let done = 0;
  const urlOf = async (path: string, at: number): Promise<string> => {
    const before = await known?.(at);
    if (before !== undefined) return before;
    const url = await uploadFile(path, options);
    await onUploaded?.(at, url);
    return url;
  };
  return doEach(
    paths,
    options.jobs,
    (path) => path,
    (path, at) =>
      urlOf(path, at).finally(() => {
        done += 1;
        options.onDone(done, paths.length, at);
      }),
  );
}

const exampleOf = (program: string): string => {
  const recipe = uploadRecipes.find((each) => each.program === program);
  return `steno config set upload-command ${shellWord(recipe?.command ?? '')}`;
};

/** A file was to be ordered, and nothing says how it gets a URL. */
export const noUploadCommand = (path: string): StenoError =>
  usage(
    `${path} is on this machine, where the service can't reach it: set upload-command to a command that uploads files`,
    `for example: ${exampleOf('scp')}   or: ${exampleOf('rclone')}`,
  );
