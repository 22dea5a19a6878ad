import { checkFormats } from '../catalog/check.ts';
import { findFormat, formats } from '../catalog/formats.ts';
import { command } from '../cli/command-spec.ts';
import { count, flag, list, text } from '../cli/options.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import { usage } from '../lib/errors.ts';

export const transcript = command({
  name: 'transcript',
  summary: 'Download transcripts',
  about:
    'Downloads transcripts, to {id}.{ext} in this folder unless told otherwise. A file appears under its ' +
    'name only when it is whole, and one that is there is not replaced unless --force.',
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    format: list('--format <ext…>', 'document types', {
      default: 'txt',
      values: formats.map((each) => each.ext),
    }),
    output: text('-o, --output <file|dir|->', 'where to: a file, a folder, or - for stdout', {
      values: 'file',
    }),
    nameAs: text('--name-as <template>', 'name of each file, of {id}, {title}, {order} and {ext}'),
    from: text('--from <file|->', 'take ids from a file, one a line, or from stdin with -', {
      values: 'file',
    }),
    jobs: count('--jobs <n>', 'how many at once', { default: '8', max: 64 }),
    force: flag('--force', 'replace files that are there'),
    skipExisting: flag('--skip-existing', 'leave files that are there and go on'),
    test: flag('--test', 'ask for a fake transcript'),
    deprecatedPath: flag('--deprecated-path', 'use the old path of the API'),
  },
  examples: [
    ['steno transcript 12345', 'to 12345.txt'],
    ['steno transcript 12345 -o -', 'to stdout'],
    ['steno transcript 12345 12346 --format docx,srt -o transcripts/', 'two files, two formats'],
    [
      'steno files --state Delivered --quiet | steno transcript --from - -o transcripts/ --skip-existing',
      'all of them',
    ],
    ['steno transcript 12345 --name-as "{title}-{id}.{ext}" --skip-existing', 'with a name of your own'],
  ],
  async run(context, { args, options }) {
    const { checkId } = await import('../api/ids.ts');
    const ids = [
      ...new Set([...args, ...(await listed(options.from, context.stdin))].map((id) => checkId(id))),
    ];
    if (ids.length === 0) throw usage('transcript wants an id, or --from', 'see: steno transcript --help');
    const exts = checkFormats(options.format);
    const several = ids.length * exts.length > 1;
    if (options.force && options.skipExisting) throw usage('--force and --skip-existing exclude each other');
    const { checkTemplate } = await import('../flows/transcripts/name.ts');
    if (options.nameAs !== undefined) checkTemplate(options.nameAs, exts.length > 1);
    const wanted = { ids, formats: exts, test: options.test, deprecatedPath: options.deprecatedPath };
    const { saveTranscripts, streamTranscript, targetOf } = await import('../flows/transcripts/fetch.ts');
    const { out } = context;
    if (options.output === '-') {
      const [id = '', ext = ''] = [ids[0], exts[0]];
      if (several) throw usage('only one transcript can go to stdout', 'name a folder: -o transcripts/');
      if (out.onTerminal && findFormat(ext)?.content === 'binary') {
        throw usage(`a ${ext} file would garble the terminal`, `write it to a file: -o ${id}.${ext}`);
      }
      return streamTranscript(await context.transport(), { ...wanted, id, ext }, (chunk) =>
        out.writeDocument(chunk),
      );
    }
    const ifThere = options.force ? 'replace' : options.skipExisting ? 'skip' : 'refuse';
    const target = await targetOf(options.output, options.nameAs, several, ifThere);
    const transport = await context.transport();
    const ledger = await context.ledgerIfAny();
    const [{ raiseFailures, values }, { savedJson, savedView }, { documents }, { Pace, startProgress }] =
      await Promise.all([
        import('../flows/bulk.ts'),
        import('../views/saved.ts'),
        import('../views/documents.ts'),
        import('../ui/progress.ts'),
      ]);
    const progress = await startProgress(out, 'Downloading');
    const pace = new Pace('Downloading', ids.length * exts.length);
    const onDone = (saved: Saved | undefined): void => {
      if (saved && !options.test) ledger?.downloads.add(saved.id, saved.ext, saved.path, saved.bytes);
      pace.step(saved === undefined);
      progress.update(pace);
    };
    const outcomes = await saveTranscripts(transport, wanted, target, options.jobs ?? 8, onDone).finally(() =>
      progress.stop(),
    );
    if (several || !outcomes[0]?.error) {
      await out.show(savedView(values(outcomes), () => documents(outcomes, savedJson)));
    }
    raiseFailures(outcomes);
  },
});

async function listed(file: string | undefined, stdin: NodeJS.ReadStream): Promise<string[]> {
  if (file === undefined) return [];
  const { readWords } = await import('../flows/orders/manifest.ts');
  return readWords(file, stdin);
}
