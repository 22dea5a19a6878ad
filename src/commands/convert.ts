import { doEach, raiseFailures, values } from '../flows/bulk.ts';
import { addTranscripts, feedFormats } from '../flows/convert/feed.ts';
import {
  type Conversion,
  type Converted,
  Converter,
  type Item,
  itemsOf,
  readRenames,
  Targets,
} from '../flows/convert/files.ts';
import { outputTarget } from '../flows/transcripts/fetch.ts';
import { transcriptsOf } from '../flows/transcripts/on-disk.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean, plural } from '../lib/text.ts';
import { checkUrl } from '../lib/url.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { count, flag, list, type OptionValues, repeated, text } from '../spec/options.ts';
import { type ConvertedFormat, convertedFormats } from '../transcripts/write.ts';
import { whileWorking } from '../ui/progress.ts';
import { convertedRecord, convertedView } from '../views/convert.ts';
import { documents, failed, printed } from '../views/record.ts';
import { anyOf, arrayOf } from '../views/schema.ts';

const meanings: Readonly<Record<string, string>> = {
  vtt: 'WebVTT captions',
  srt: 'SubRip captions',
  json: 'JSON of Podcasting 2.0',
  md: 'Markdown, to read',
  txt: 'Plain text',
};

const options = {
  to: list('--to <format…>', 'formats to write: vtt, srt, json, md, txt; with --feed, formats to link', {
    values: convertedFormats,
    meaning: (format) => meanings[format] ?? '',
  }),
  output: text('-o, --output <file|dir|->', 'write to this file or folder, or to stdout with -', {
    values: 'file',
    defaultNote: 'beside the source; with --feed, stdout',
  }),
  lineLength: count('--line-length <n>', 'most characters in a line of captions', {
    default: '42',
    max: 1000,
  }),
  speaker: repeated('--speaker <old=new|file>', 'rename a speaker; or a file with one such pair per line', {
    values: 'file',
    excludes: ['--feed'],
  }),
  link: text('--link <template>', 'with md, link each time to this URL: https://host/talk?t={seconds}', {
    excludes: ['--feed'],
  }),
  force: flag('--force', 'replace existing files that differ', { excludes: ['--output -'] }),
  feed: text('--feed <file>', 'with --base, add transcripts to this RSS feed', {
    values: 'file',
    needs: ['--base'],
  }),
  base: text('--base <url>', 'with --feed, the URL of the folder that the transcripts are published in', {
    needs: ['--feed'],
  }),
};

type ConvertOptions = OptionValues<typeof options>;

export const convert = command({
  name: 'convert',
  summary: 'Write captions, show notes and feed entries from transcripts',
  about:
    'Converts transcripts on this disk: downloads by audiofile id, or files by path. Captions are fitted to two ' +
    'lines of --line-length characters. New files go beside their source unless you add -o; the source is never ' +
    'replaced, and other existing files that differ only with --force.',
  details: [
    'How captions are fitted:',
    [
      [
        'split',
        'at the end of a sentence, else of a clause, else between words; times are shared by characters',
      ],
      [
        'merge',
        'only a cue shorter than 5/6 s, with the next or previous one of the same speaker, if both fit',
      ],
      ['lengthen', 'a cue shorter than 5/6 s, into the silence after it'],
      ['keep', 'every other cue as it is; overlaps end where the next cue starts'],
    ],
    'In srt, lines have room for the name of the speaker where that needs no more cues. Captions and json need ' +
      'times: vtt, srt or tstxt. A tstxt has no end times: each turn ends where the next one starts, the last one with the audio, or ' +
      'after 15 characters per second if its length is unknown. For an id with several downloads, the one with the ' +
      'most precise times is used. Speakers are <v Name> in vtt and "Name: " in srt; an ' +
      'invisible U+2060 marks text that would otherwise be read as a name or a tag.',
    'With --feed, steno looks up the episodes of the feed in the ledger, and adds a <podcast:transcript> for each ' +
      'vtt, srt, json, html and txt file beside their downloads, or in the folders named as arguments. Its URL is ' +
      '--base with the name of the file. The rest of the feed stays the same, byte for byte.',
  ],
  args: [
    {
      name: '[id|path…]',
      help: 'audiofile ids, or paths; with --feed, folders',
      values: 'audiofile-or-path',
    },
  ],
  options,
  examples: [
    ['steno convert 12345 --to vtt,srt -o public/', 'captions of a download, in another folder'],
    ['steno convert talk.tstxt --to md --link "https://example.com/talk?t={seconds}"', 'show notes'],
    ['steno convert 12345 --to vtt --speaker "Man=Ada" --line-length 32 -o named/', 'with a real name'],
    [
      'steno convert --feed feed.xml --base https://example.com/t/ public/ > new.xml',
      'feed with transcripts',
    ],
  ],
  conflicts: [
    ['--output -', '--json'],
    ['--output -', '--csv'],
  ],
  effect: 'local',
  effectsOf: ({ options: { output, feed } }) => [(output ?? (feed && '-')) === '-' ? 'read' : 'local'],
  exits: [...LEDGER_EXITS, 'partial'],
  output: () =>
    printed(arrayOf(anyOf(convertedRecord.schema, failed('source', 'format'))), convertedRecord.columnHelp),
  async run(context, { args, options }) {
    if (options.output === '') throw usage('the name after --output is empty', 'name a file or a folder');
    if (options.feed !== undefined) return convertFeed(context, args, options, options.feed);
    const formats = formatsOf(options);
    if (args.length === 0) throw usage('name a transcript: its audiofile id or its path');
    const link = options.link === undefined ? undefined : checkLink(options.link, formats);
    const renames = await readRenames(options.speaker);
    const { lineLength } = options;
    return convertFiles(context, args, formats, options, {
      lineLength,
      renames,
      link,
      signal: context.signal,
    });
  },
});

/** Without --to, what the name after -o ends in. */
function formatsOf({ to, output = '' }: ConvertOptions): ConvertedFormat[] {
  const named = /\.(\w+)$/.exec(output)?.[1]?.toLowerCase() ?? '';
  const given = to.length ? to : convertedFormats.filter((each) => each === named);
  if (given.length === 0)
    throw usage('say what to convert to', `add --to, with ${convertedFormats.join(', ')}`);
  return [...new Set(given)].map((each) => {
    const format = convertedFormats.find((known) => known === each);
    if (format) return format;
    throw usage(
      `unknown format '${each}'`,
      didYouMean(each, convertedFormats, `steno convert writes ${convertedFormats.join(', ')}`),
    );
  });
}

function checkLink(template: string, formats: readonly ConvertedFormat[]): string {
  if (!formats.includes('md')) throw usage('--link is for Markdown', 'add --to md');
  if (!template.includes('{seconds}'))
    throw usage('the URL after --link has no {seconds}', 'write it like https://host/talk?t={seconds}');
  checkUrl(template.replaceAll('{seconds}', '0'), 'folder');
  return template;
}

async function convertFiles(
  context: Context,
  args: readonly string[],
  formats: readonly ConvertedFormat[],
  { output, force }: ConvertOptions,
  conversion: Conversion,
): Promise<void> {
  const { out } = context;
  const found = await transcriptsOf(await context.ledgers.ifAny(), args);
  const items = itemsOf(found, formats);
  if (output === '-' && items.length > 1)
    throw usage('only one transcript can go to stdout', 'name a folder: -o transcripts/');
  const isPrinted = output === '-';
  const target = isPrinted ? undefined : await outputTarget(output, undefined, items.length > 1, 'refuse');
  const converter = new Converter(conversion);
  const sources = items.flatMap(({ file }) => file?.path ?? []);
  const targets = new Targets(sources, output === undefined ? { force } : { ...target, force });
  const work = async ({ file, error, format }: Item): Promise<Converted> => {
    if (!file) throw error;
    const content = await converter.convert(file, format);
    if (!isPrinted) return targets.write(file, format, content);
    await out.stdout.writeDocument(content);
    return { source: file.path, format, path: '-', bytes: content.length, unchanged: false };
  };
  const nameOf = ({ what, format }: Item): string => (formats.length > 1 ? `${what} to ${format}` : what);
  const outcomes = await whileWorking(out, 'Converting', (report) => doEach(items, 1, nameOf, work, report));
  if (!isPrinted) {
    const name = (at: number) => ({ source: items[at]?.what ?? '', format: items[at]?.format ?? '' });
    const json = documents(outcomes, (each) => convertedRecord.json(each), { name, isList: true });
    await out.show({ ...convertedView(values(outcomes)), json });
  }
  for (const each of converter.warnings) await out.warn(...each);
  raiseFailures(outcomes);
}

async function convertFeed(
  context: Context,
  folders: readonly string[],
  { to, base = '', output = '-', force }: ConvertOptions,
  feed: string,
): Promise<void> {
  const { out, globals, signal } = context;
  const known = Object.keys(feedFormats);
  const unknown = to.find((each) => !known.includes(each));
  if (unknown !== undefined)
    throw usage(`a feed can't link to '${unknown}'`, `it links to ${known.join(', ')}`);
  if (output === '-' && (globals.json || globals.csv))
    throw usage('the feed goes to stdout', 'write it to a file: -o new.xml');
  const input = { feed, base: checkUrl(base, 'folder'), formats: to.length ? to : known, folders };
  const ledger = await context.ledgers.required('convert --feed reads the ledger');
  const { content, episodes, found, added } = await addTranscripts(ledger, input, signal);
  if (output === '-') await out.stdout.writeDocument(content);
  else {
    const file = { path: feed };
    const targets = new Targets([feed], { file: output, force });
    await out.show(convertedView([await targets.write(file, 'xml', content)]));
  }
  out.note(`${found} of ${plural(episodes, 'episode')} with transcripts, ${plural(added, 'link')} added`);
}
