import { command } from '../cli/command-spec.ts';
import { duration, flag } from '../cli/options.ts';

export const file = command({
  name: 'file',
  summary: 'Show the details and the state of files',
  about:
    'Shows the details and the state of files, as the service has them now. ' +
    'With --watch it prints a file whenever its state changes, until none can change any more.',
  args: [{ name: '<id…>', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    watch: flag('--watch', 'go on and print each change of state'),
    interval: duration('--interval <duration>', 'with --watch, how often to ask', { default: '5s' }),
  },
  examples: [
    ['steno file 12345', 'one file, in full'],
    ['steno file 12345 12346 --csv', 'several, for a spreadsheet'],
    ['steno file 12345 --quiet', 'the bare state, for a script'],
    ['steno file 12345 --watch --json', 'an object a line, as the state changes'],
  ],
  async run(context, { args, options }) {
    const { checkId } = await import('../api/ids.ts');
    const ids = args.map((id) => checkId(id));
    const [{ followFiles }, { raiseFailures, values }, { filesView }, { documents }] = await Promise.all([
      import('../flows/files/refresh.ts'),
      import('../flows/bulk.ts'),
      import('../views/file.ts'),
      import('../views/documents.ts'),
    ]);
    const { out } = context;
    const transport = await context.transport(options.watch ? { ownTimeout: true, endsInTime: true } : {});
    const ledger = await context.ledgerIfAny();
    if (options.watch) {
      const { watchFiles } = await import('../flows/files/watch.ts');
      const changes = watchFiles(transport, ledger, [...new Set(ids)], {
        interval: options.interval ?? 5000,
        timeout: context.globals.timeout,
        signal: context.signal,
      });
      for await (const change of changes) await out.showNext(filesView([change], change.json, false));
      return;
    }
    const { whileSpinning } = await import('../ui/spinner.ts');
    const outcomes = await whileSpinning(out, 'Asking', () => followFiles(transport, ledger, ids));
    const found = values(outcomes).map(({ file }) => file);
    const json = documents(outcomes, ({ file }) => file.json);
    if (found.length || ids.length > 1) await out.show(filesView(found, json, out.onTerminal));
    raiseFailures(outcomes);
  },
});
