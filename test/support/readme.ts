/** The README as its readers use it: its blocks, and a shell into which they are pasted. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { inShell } from './compiled-code.ts';
import { freshFolder } from './files.ts';
import { BIN } from './steno.ts';
import { until } from './until.ts';

export interface Block {
  /** The document that it stands in. */
  readonly path: string;
  /** What the comment before it says: `not run`, `job`, … */
  readonly mark: string;
  readonly details: string;
  readonly language: string;
  readonly text: string;
  /** The heading above it. */
  readonly heading: string;
  readonly line: number;
}

export const readme = readFileSync('README.md', 'utf8');

/** Topics with examples, in the order in which a reader pastes them: later ones use what earlier ones ordered. */
const pasted = [
  'orders',
  'downloads',
  'webhooks',
  'podcasts',
  'uploads',
  'captions',
  'money',
  'accounts',
  'output',
];
const all = readdirSync('src/help').map((file) => file.replace(/\.md$/, ''));
const topics = [...pasted, ...all.filter((name) => ![...pasted, 'testing'].includes(name)), 'testing'];

/** The README and the topics of help, without what is made from the program. */
const documents = ['README.md', ...topics.map((name) => `src/help/${name}.md`)].map((path) => ({
  path,
  text: readFileSync(path, 'utf8').replace(/<!-- generated: (\S+) -->[\s\S]*?<!-- end: \1 -->/g, ''),
}));

export const byHand = documents.map(({ text }) => text).join('\n');

/** Every fenced block, with the comment that stands right before it. */
export const blocks: readonly Block[] = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/(?:^<!-- ([\w ]+)(?:: ([^>]*))? -->\n)?^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: mark = '', 2: details = '', 3: language = '', 4: body = '' }) => {
      const before = text.slice(0, index);
      return {
        path,
        mark,
        details,
        language,
        text: body,
        heading: [...before.matchAll(/^#+ (.*)$/gm)].at(-1)?.[1] ?? '',
        line: before.split('\n').length,
      };
    },
  ),
);

export const blockOf = (mark: string, details = ''): string =>
  blocks.find((block) => block.mark === mark && block.details === details)?.text ?? '';

/** What a heredoc of the README writes into a file. */
export const heredocOf = (file: string): string =>
  new RegExp(`^cat > ${file} <<'END'\\n([\\s\\S]*?)^END$`, 'm').exec(readme)?.[1] ?? '';

/** `steno` is on the PATH as after the installation, which has nothing to install from here; `gh` does nothing. */
export function installedTools(steno = BIN): string {
  const folder = join(freshFolder(), 'bin');
  mkdirSync(folder);
  symlinkSync(steno, join(folder, 'steno'));
  for (const name of ['npm', 'gh']) writeFileSync(join(folder, name), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  return [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
}

/** The home and the working folder of a reader; each terminal has a shell of its own in it. */
export class Reader {
  readonly folder = freshFolder();
  readonly env: Record<string, string | undefined>;

  /** Without an environment, `steno` is the build of this folder. */
  constructor(env: Record<string, string | undefined> = { PATH: installedTools(), ...inShell }) {
    for (const name of ['home', 'runner']) mkdirSync(join(this.folder, name));
    const HOME = join(this.folder, 'home');
    // What a clone has, in the folder where the examples are pasted.
    mkdirSync(join(HOME, 'bin'));
    writeFileSync(join(HOME, 'bin', 'steno.js'), '#!/bin/sh\nexec steno "$@"\n', { mode: 0o755 });
    this.env = { HOME, TERM: 'xterm-256color', TZ: 'UTC', ...env };
  }

  get work(): string {
    return join(this.folder, 'home');
  }

  terminal(): Shell {
    return new Shell(this);
  }
}

export interface Pasted {
  /** Commands that failed, with their exit codes; not those whose failure the line itself expects. */
  readonly failures: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
}

let started = 0;

/** One shell: what a block sets, the next block finds. */
export class Shell {
  readonly #bash: ChildProcessWithoutNullStreams;
  readonly #folder: string;
  #said = '';

  constructor(reader: Reader) {
    this.#folder = join(reader.folder, 'runner');
    this.#bash = spawn('bash', ['--norc', '--noprofile'], { cwd: reader.work, env: reader.env });
    this.#bash.stdout.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString();
    });
    this.#bash.stdin.on('error', () => {});
    this.#bash.stdin.write(`set -o pipefail; trap 'failures+=("$BASH_COMMAND: exit $?")' ERR\n`);
  }

  /** Begins a block; gives what became of it at its end, and what it has said so far. */
  start(text: string): { readonly ended: Promise<Pasted>; stderr(): string } {
    started += 1;
    const file = join(this.#folder, String(started));
    for (const [end, content] of [
      ['sh', text],
      ['out', ''],
      ['err', ''],
    ] as const)
      writeFileSync(`${file}.${end}`, content);
    const done = `block ${started} is done`;
    this.#bash.stdin.write(
      `failures=(); . ${file}.sh > ${file}.out 2> ${file}.err < /dev/null; printf '%s\\n' "\${failures[@]}" '${done}'\n`,
    );
    const read = (end: string): string => readFileSync(`${file}.${end}`, 'utf8');
    const result = async (): Promise<Pasted> => {
      const what = (): string => `the end of:\n${text}\n${read('out')}${read('err')}`;
      await until(() => this.#said.includes(done), what, 100_000);
      const [said = ''] = this.#said.split(`${done}\n`);
      this.#said = '';
      return {
        failures: said.split('\n').filter(Boolean),
        stdout: read('out'),
        stderr: read('err'),
      };
    };
    return { ended: result(), stderr: () => read('err') };
  }

  paste(text: string): Promise<Pasted> {
    return this.start(text).ended;
  }

  close(): void {
    this.#bash.stdin.end();
    this.#bash.kill('SIGHUP');
  }
}
