/** argv in, exit code out. The only place that catches, and the only one that hears signals. */
import type { CommandNode } from '../completion/model.ts';
import { StenoError } from '../lib/errors.ts';
import { commandTree } from './command-tree.ts';
import { Context, type Edges } from './context.ts';
import { type GlobalValues, globalOptions } from './global-options.ts';
import { commands, parse } from './program.ts';

const tree = (): CommandNode => commandTree(commands);

export async function main(argv: readonly string[], edges: Edges): Promise<number> {
  let context: Context | undefined;
  try {
    const parsed = parse(argv);
    if ('text' in parsed) {
      edges.stdout.write(parsed.text);
      return 0;
    }
    context = new Context(parsed.globals, edges, tree);
    await context.open();
    const run = await parsed.command.load?.();
    await run?.(context, parsed.input);
    return 0;
  } catch (error) {
    const failure = asStenoError(error, edges.signal);
    const { out } = context ?? new Context(roughGlobals(argv), edges, tree);
    await out.fail(failure);
    return failure.exitCode;
  } finally {
    await context?.dispose();
  }
}

function asStenoError(error: unknown, signal: AbortSignal): StenoError {
  // Whatever broke because the user interrupted is an interruption, unless money is at stake.
  const known = error instanceof StenoError;
  if (known && (!signal.aborted || error.kind === 'interrupted' || error.kind === 'uncertain')) return error;
  if (signal.aborted) return new StenoError('interrupted', 'interrupted', { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new StenoError('failed', message, { cause: error, hint: 'more with: --debug' });
}

/** The output flags of a command line that could not be parsed, so that its error comes in the form asked for. */
function roughGlobals(argv: readonly string[]): GlobalValues {
  const flags = new Set(argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined));
  const after = argv.indexOf('--api-key') + 1;
  const attached = argv.find((each) => each.startsWith('--api-key='))?.slice('--api-key='.length);
  const initial = Object.fromEntries(
    Object.entries(globalOptions).map(([key, option]) => [key, option.initial]),
  );
  return {
    ...(initial as GlobalValues),
    json: flags.has('--json'),
    color: !flags.has('--no-color'),
    debug: flags.has('--debug'),
    apiKey: attached ?? (after ? argv[after] : undefined),
  };
}
