import { stat } from 'node:fs/promises';
import { getFile } from '../api/files.ts';
import type { Transport } from '../api/http/transport.ts';
import { checkFormats } from '../catalog/check.ts';
import { findFormat, formatOfName } from '../catalog/formats.ts';
import { type MayHaveFailed, outcomeOf, raiseFailures, values } from '../flows/bulk.ts';
import { withFileHints } from '../flows/files/ids.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import {
  outputTarget,
  saveTranscripts,
  streamTranscript,
  type TranscriptSelection,
} from '../flows/transcripts/fetch.ts';
import { checkTemplate } from '../flows/transcripts/name.ts';
import type { IfExists, Saved } from '../flows/transcripts/save.ts';
import { usage } from '../lib/errors.ts';
import { goOnHint, type Summary, untilInterrupted } from '../lib/interruption.ts';
import type { Report } from '../lib/progress.ts';
import { shellWord } from '../lib/text.ts';
import { command, type Input, SEVERAL_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import {
  count,
  flag,
  formatOption,
  idsFrom,
  nameTemplate,
  type OptionValues,
  text,
} from '../spec/options.ts';
import { whileWorking } from '../ui/progress.ts';
import { documents, printed } from '../views/record.ts';
import {
  draftWarnings,
  savedJson,
  savedLine,
  savedList,
  savedRecord,
  savedView,
  unidentifiedWarnings,
} from '../views/transcripts.ts';

const options = {
  format: formatOption('formats to download'),
  output: text('-o, --output <file|dir|->', 'write to this file or folder, or to stdout with -', {
    values: 'file',
  }),
  nameAs: nameTemplate('template for file names', { excludes: ['--output -'] }),
  from: idsFrom(),
  jobs: count('--jobs <n>', 'number of downloads at once', {
    default: '8',
    max: 64,
    excludes: ['--output -'],
  }),
  force: flag('--force', 'replace existing files', { excludes: ['--skip-existing', '--output -'] }),
  skipExisting: flag('--skip-existing', 'skip existing files', {
    excludes: ['--output -'],
  }),
  test: flag('--test', 'request a fake transcript'),
  deprecatedPath: flag('--deprecated-path', 'use the deprecated path of the API'),
};

type TranscriptOptions = OptionValues<typeof options>;

export const transcript = command({
  name: 'transcript',
  summary: 'Download transcripts',
  about:
    'Downloads transcripts to {id}.{ext} in the current folder, unless you choose another name. A file appears ' +
    'under its name once complete; existing files are kept unless you add --force.',
  details: [
    'Without --format, the file extension in -o or --name-as sets the format: -o talk.srt downloads subtitles.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options,
  examples: [
    ['steno transcript 12345', 'to 12345.txt'],
    ['steno transcript 12345 -o -', 'to stdout'],
    ['steno transcript 12345 12346 --format docx,srt -o transcripts/', 'two files, two formats'],
    [
      'steno ls --state Delivered --quiet | steno transcript --from - --skip-existing',
      'everything delivered so far',
    ],
    ['steno transcript 12345 --name-as "{title}-{id}.{ext}" --skip-existing', 'with your own file names'],
  ],
  conflicts: [
    ['--output -', '--json'],
    ['--output -', '--csv'],
  ],
  effect: 'local',
  effectsOf: ({ options }) => [options.output === '-' ? 'read' : 'local'],
  exits: SEVERAL_EXITS,
  output: () => printed(savedList(), savedRecord.columnHelp),
  async run(context, { args, options, line }) {
    refusePath(args, options.output);
    const ids = await givenIds('transcript', args, options.from, context.stdin);
    const formats = checkFormats(options.format, options.nameAs ?? (await namedFile(options.output)));
    checkTemplate(options.nameAs, formats);
    if (options.output === '') throw usage('the name after --output is empty', 'name a file or a folder');
    if (ids.length === 0) return context.out.show(savedView([]));
    const selection = { ids, formats, test: options.test, deprecatedPath: options.deprecatedPath };
    if (options.output === '-') return print(context, selection);
    return save(context, selection, { ...options, line });
  },
});

/** A folder or a file name behind the ids: its -o was forgotten. */
function refusePath(args: readonly string[], output: string | undefined): void {
  const last = args.at(-1) ?? '';
  if (args.length < 2 || output !== undefined || !(/[/\\]$/.test(last) || formatOfName(last))) return;
  throw usage(`'${last}' is a path, not an id`, `to write to it: -o ${shellWord(last)}`);
}

/** What is given with -o, unless that is a folder. */
async function namedFile(output = ''): Promise<string> {
  const existing = await stat(output).catch(() => undefined);
  return existing?.isDirectory() ? '' : output;
}

async function print(context: Context, selection: TranscriptSelection): Promise<void> {
  const { out } = context;
  const {
    ids: [id = ''],
    formats: [ext = ''],
  } = selection;
  if (selection.ids.length * selection.formats.length > 1)
    throw usage('only one transcript can go to stdout', 'name a folder: -o transcripts/');
  if (out.stdout.isTerminal && findFormat(ext)?.content === 'binary')
    throw usage(`a ${ext} file would garble the terminal`, `write it to a file: -o ${id}.${ext}`);
  const transport = await context.connect();
  const write = (chunk: Uint8Array): Promise<void> => out.stdout.writeDocument(chunk);
  const stream = (report?: Report): Promise<void> =>
    streamTranscript(transport, { ...selection, id, ext }, write, report);
  // On a terminal the text itself shows how far it is, and a line among its lines would tear it.
  const outcome = await outcomeOf(id, () =>
    out.stdout.isTerminal ? stream() : whileWorking(out, 'Downloading', stream),
  );
  await raiseWithHints(context, [outcome], transport, selection.ids);
}

async function save(
  context: Context,
  selection: TranscriptSelection,
  options: TranscriptOptions & Pick<Input, 'line'>,
): Promise<void> {
  const { out } = context;
  const documentCount = selection.ids.length * selection.formats.length;
  const several = documentCount > 1;
  const target = await outputTarget(options.output, options.nameAs, several, ifExists(options));
  const transport = await context.connect({ connections: options.jobs });
  const ledger = await context.ledgers.ifAny();
  const done: Saved[] = [];
  const onDone = (saved: Saved | undefined): void => {
    if (saved) done.push(saved);
  };
  const { jobs } = options;
  const download = () =>
    whileWorking(out, 'Downloading', (report) =>
      context.ledgers.whileNoting(ledger, (notes) =>
        saveTranscripts(selection, target, { transport, ledger, notes, jobs, onDone, report }),
      ),
    );
  const summary = () => summaryOf(done, documentCount, options);
  const outcomes = await (several ? untilInterrupted(context.signal, summary, download) : download()).catch(
    async (error) => {
      if (context.signal.aborted && done.length) await out.show(savedView(done));
      throw error;
    },
  );
  out.addDone(...savedLine(values(outcomes)));
  const { ids, formats } = selection;
  const name = (at: number) => ({
    audiofile: ids[Math.floor(at / formats.length)] ?? '',
    format: formats[at % formats.length] ?? '',
  });
  await out.show(savedView(values(outcomes), () => documents(outcomes, savedJson, name)));
  // A name with the id in it tells what it is.
  if (target.file !== undefined || !target.template.includes('{id}'))
    for (const each of unidentifiedWarnings(values(outcomes))) await out.warn(...each);
  for (const each of draftWarnings(values(outcomes))) await out.warn(...each);
  await raiseWithHints(context, outcomes, transport, selection.ids);
}

/** Of one file, the service is asked what keeps it. */
async function raiseWithHints(
  { ledgers }: Context,
  outcomes: readonly MayHaveFailed[],
  transport: Transport,
  ids: readonly string[],
): Promise<void> {
  if (!outcomes.some(({ error }) => error)) return;
  const stateOf = async (id: string): Promise<string> => (await getFile(transport, id)).state;
  raiseFailures(await withFileHints(outcomes, await ledgers.ifAny(), ids.length > 1 ? undefined : stateOf));
}

/** With --force all of them are fetched again: --skip-existing would keep older ones. */
function summaryOf(
  done: readonly Saved[],
  all: number,
  { force, line }: TranscriptOptions & Pick<Input, 'line'>,
): Summary {
  const skipped = done.filter((each) => each.skipped).length;
  const before = skipped ? `, ${skipped} already existed` : '';
  return {
    done: `${done.length - skipped} of ${all} transcripts downloaded${before}`,
    hint: force ? goOnHint('start over with', line) : goOnHint('resume with', line, '--skip-existing'),
  };
}

function ifExists({ force, skipExisting }: TranscriptOptions): IfExists {
  if (force) return 'replace';
  return skipExisting ? 'skip' : 'refuse';
}
