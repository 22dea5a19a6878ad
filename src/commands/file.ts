import { command, duration, flag } from '../options.ts';

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
    const [{ getFile }, { doEach, documents, raiseFailures, values }, { filesView }] = await Promise.all([
      import('../api/files.ts'),
      import('../flows/bulk.ts'),
      import('../views/file.ts'),
    ]);
    const { out } = context;
    const transport = await context.transport();
    if (options.watch) {
      const { watchFiles } = await import('../flows/watch.ts');
      const changes = watchFiles(transport, [...new Set(ids)], options.interval ?? 5000, context.signal);
      for await (const change of changes) await out.showNext(filesView([change], change.json, false));
      return;
    }
    const { whileSpinning } = await import('../ui/spinner.ts');
    const outcomes = await whileSpinning(out, 'Asking', () =>
      doEach(ids, 8, String, (id) => getFile(transport, id)),
    );
    const found = values(outcomes);
    if (found.length || ids.length > 1)
      await out.show(
        filesView(
          found,
          documents(outcomes, (each) => each.json),
          out.onTerminal,
        ),
      );
    raiseFailures(outcomes);
  },
});
