/** One run of the program: argv in, exit code out. Errors that reach the top are reported here. */
import { usesColour } from '../lib/colour.ts';
import { PAGE_WIDTH } from '../lib/defaults.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { boldTitles } from '../lib/text.ts';
import { checkAllowed } from '../spec/allow.ts';
import { Context, type ProcessIO } from '../spec/context.ts';
import { type GlobalValues, globalOptions } from '../spec/global-options.ts';
import { initialValues } from '../spec/options.ts';
import type { Output } from '../ui/output.ts';
import { type Help, NoSubcommand, type Printed, type Run, readLine, WrongLine } from './program.ts';
import { loaders, loadGroups } from './registry.ts';

export async function parse(argv: readonly string[]): Promise<Run | Printed | Help> {
  if (argv.some((word) => wrongDash.test(word)))
    (await import('./wrong-line.ts')).checkDashes(argv, await loadGroups());
  const run = await parseQuickly(argv);
  return run ?? (await import('./wrong-line.ts')).parseWholly(argv, await loadGroups());
}

/** A flag with another dash, or with one. */
const wrongDash = /^-?[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]|^-[a-z][a-z-]+/i;

/**
 * Speed: only the commands that the line names are loaded and built, which saves a tenth of the processor time of `steno
 * balance` and `steno files`. If that leads to no command, parseWholly decides. To take it out, call that alone.
 */
async function parseQuickly(argv: readonly string[]): Promise<Run | undefined> {
  const named = new Set(argv.flatMap((word) => loaders.get(word) ?? []));
  const specs = await Promise.all([...named].map((load) => load()));
  try {
    return readLine(argv, specs).run;
  } catch (error) {
    if (error instanceof WrongLine || error instanceof NoSubcommand) return undefined;
    throw error;
  }
}

export class Main {
  readonly #argv: readonly string[];
  readonly #io: ProcessIO;
  #context: Context | undefined;
  #crashed = false;

  constructor(argv: readonly string[], io: ProcessIO) {
    this.#argv = argv;
    this.#io = io;
  }

  async run(): Promise<number> {
    const failed = (error: unknown): Promise<number> => this.#fail(asStenoError(error, this.#io.signal));
    const code = await this.#runCommand().then(() => 0, failed);
    const disposed = await this.#dispose().then(() => 0, failed);
    return code || disposed;
  }

  /** Reports an error that nothing caught, and undoes what must be undone. */
  async crash(error: unknown): Promise<void> {
    this.#crashed = true;
    try {
      await this.out.fail(new StenoError('failed', messageOf(error), { cause: error }));
    } finally {
      await this.#dispose();
    }
  }

  async failToWrite(error: Error): Promise<void> {
    await this.out.failToWrite(
      new StenoError('failed', `can't write the output: ${errorMessage(error)}`, { cause: error }),
    );
  }

  async #runCommand(): Promise<void> {
    const parsed = await parse(this.#argv);
    if ('text' in parsed) {
      this.#io.stdout.write(parsed.text);
      return;
    }
    if ('help' in parsed) {
      await this.#help(parsed.help);
      return;
    }
    this.#context = new Context(parsed.globals, this.#io);
    checkAllowed(this.#context, parsed.command, parsed.path, parsed.input);
    await this.#context.open(parsed.command);
    await parsed.command.run?.(this.#context, parsed.input, loadGroups);
  }

  async #help(words: readonly string[]): Promise<void> {
    const { stdout, env, signal } = this.#io;
    const { helpText } = await import('./help.ts');
    const text = helpText(words, widthOf(stdout), await loadGroups());
    this.#context = new Context(roughGlobals(this.#argv), this.#io);
    const { out } = this.#context;
    const isBold = usesColour(stdout, { noColor: out.mode.noColor, env, isData: true });
    const show = async (): Promise<void> => void out.stdout.write(isBold ? boldTitles(text) : text);
    // A newcomer must not be left in a pager.
    if (words.length === 0) return show();
    const { withPager } = await import('../ui/pager.ts');
    await withPager({ out, env, signal }, show);
  }

  async #fail(error: StenoError): Promise<number> {
    // After a crash the command fails too, because its connections are closed: that says nothing new.
    if (!this.#crashed) await this.out.fail(error);
    return error.exitCode;
  }

  /** Until the line is read, for errors alone. */
  get out(): Output {
    const context = this.#context ?? new Context(roughGlobals(this.#argv), this.#io);
    return context.out;
  }

  async #dispose(): Promise<void> {
    await this.#context?.dispose();
  }
}

/** Where there is no terminal, that of the ready texts. */
const widthOf = ({ isTTY, columns }: NodeJS.WriteStream): number => (isTTY && columns) || PAGE_WIDTH;

function asStenoError(error: unknown, signal: AbortSignal): StenoError {
  // What broke off because the user interrupted is an interruption, unless money is at stake.
  const known = error instanceof StenoError;
  if (known && (!signal.aborted || error.kind === 'interrupted' || error.kind === 'uncertain')) return error;
  if (signal.aborted) {
    // The first interruption lets the answer to a call for money come: what it says must not be lost.
    const answer = known && error.status !== undefined ? `: ${error.message}` : '';
    return new StenoError('interrupted', `interrupted${answer}`, { cause: error });
  }
  return new StenoError('failed', messageOf(error), { cause: error, hint: 'see more with: --debug' });
}

/** Some errors, an AggregateError for one, have no message. */
const messageOf = (error: unknown): string => errorMessage(error) || String(error);

/** The output flags of a command line that could not be parsed, so that its error comes in the form asked for. */
function roughGlobals(argv: readonly string[]): GlobalValues {
  const flags = new Set(argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined));
  const after = argv.indexOf('--api-key') + 1;
  const attached = argv.find((each) => each.startsWith('--api-key='))?.slice('--api-key='.length);
  return {
    ...initialValues(globalOptions),
    json: flags.has('--json'),
    color: !flags.has('--no-color'),
    pager: !flags.has('--no-pager'),
    debug: flags.has('--debug'),
    apiKey: attached ?? (after ? argv[after] : undefined),
  };
}
