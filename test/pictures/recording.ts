/** A session on a pseudo-terminal of which frames are kept: lines of a shell are run, and the clock is moved. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { BIN, finished } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { type StoppedClock, stoppedClock } from './clock.ts';
import { type Screen, ScreenReader, textOf } from './screen.ts';

export interface RecordingOptions {
  readonly folder: string;
  readonly columns: number;
  readonly rows?: number;
  readonly time: string;
  /** Replaces what differs from one recording to the next. */
  readonly steady?: ReadonlyArray<readonly [pattern: RegExp, text: string]>;
}

const PROMPT = '\\e[32m$\\e[0m';

export class Recording {
  readonly frames: Screen[] = [];
  readonly clock: StoppedClock;
  readonly env: Record<string, string | undefined>;
  readonly #options: RecordingOptions;
  readonly #reader: ScreenReader;
  #shown: Screen = [];
  #child: ChildProcessWithoutNullStreams | undefined;

  constructor(options: RecordingOptions) {
    const { folder, columns, rows = 24, time } = options;
    this.#options = options;
    this.#reader = new ScreenReader(columns, rows);
    this.clock = stoppedClock(folder, time);
    this.env = { ...environmentIn(folder), ...this.clock.env };
  }

  /** Runs a line that a person types, with more flags where those of a test differ; `during` looks on while it runs. */
  async type(line: string, during: () => Promise<void> = async () => {}, more = ''): Promise<void> {
    const { folder, columns, rows = 24 } = this.#options;
    const shown = line.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll("'", "'\\''");
    const script = `stty cols ${columns} rows ${rows}; printf '${PROMPT} ${shown}\\n'; exec ${line} ${more}`;
    const child = spawn('script', ['-qec', script, '/dev/null'], {
      cwd: join(folder, 'work'),
      env: this.env,
    });
    this.#child = child;
    child.stdin.on('error', () => {});
    let written: Promise<void> = Promise.resolve();
    child.stdout.on('data', (chunk: Buffer) => {
      written = written.then(() => this.#show(chunk));
    });
    const ended = new Promise<void>((done) => child.on('close', () => done()));
    await during();
    await ended;
    await written;
  }

  /** Runs a line that the picture does not show, such as one of another terminal. */
  async prepare(line: string): Promise<void> {
    const child = spawn('bash', ['-c', line], { cwd: join(this.#options.folder, 'work'), env: this.env });
    child.stdin.end();
    const { code, stderr } = await finished(child);
    if (code !== 0) throw new Error(`'${line}' exited with ${code}: ${stderr}`);
  }

  /** Presses keys in the line that is running. */
  press(keys: string): void {
    this.#child?.stdin.write(keys);
  }

  /** Ends what still runs, after a failure. */
  close(): void {
    this.#child?.kill('SIGHUP');
  }

  /** Waits for a text on the screen. */
  async sees(pattern: RegExp): Promise<void> {
    await until(
      () => pattern.test(textOf(this.#shown)),
      () => `${pattern} on the screen:\n${textOf(this.#shown)}`,
    );
  }

  /** Keeps the screen as it is, from the moment at which it shows this; `seconds` is the time that it says has passed. */
  async keep(pattern?: RegExp, seconds = 0): Promise<void> {
    if (pattern) await this.sees(pattern);
    const passed = [/\b00:\d\d$/, `00:${String(seconds).padStart(2, '0')}`] as const;
    this.frames.push(steadied(this.#shown, [...(this.#options.steady ?? []), passed]));
  }

  async #show(chunk: Buffer): Promise<void> {
    await this.#reader.write(chunk);
    this.#shown = this.#reader.read();
  }
}

type Replacements = NonNullable<RecordingOptions['steady']>;

/** With what follows a longer or shorter text moved along. */
function steadied(screen: Screen, steady: Replacements): Screen {
  return screen.map((row) => {
    let moved = 0;
    return row.map((run) => {
      const text = steady.reduce((changed, [pattern, next]) => changed.replace(pattern, next), run.text);
      const more = text.length - run.text.length;
      const column = run.column + moved;
      moved += more;
      return { ...run, column, columns: run.columns + more, text };
    });
  });
}

/** `steno` on the PATH, a home with nothing in it, and a folder to work in. */
function environmentIn(folder: string): Record<string, string | undefined> {
  const [tools, home] = [join(folder, 'bin'), join(folder, 'home')];
  for (const each of [tools, home, join(folder, 'work')]) mkdirSync(each);
  symlinkSync(BIN, join(tools, 'steno'));
  return {
    PATH: [tools, dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    STENO_PROFILE: 'sandbox',
  };
}
