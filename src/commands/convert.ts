import { doEach, raiseFailures, values } from '../flows/bulk.ts';
import { addTranscripts, feedFormats } from '../flows/convert/feed.ts';
import {
  type Conversion,
  type Converted,
  Converter,
  type Item,
  itemsOf,
  readRenames,
  type TargetOptions,
  Targets,
} from '../flows/convert/files.ts';
import { readList } from '../flows/orders/manifest.ts';
import { outputTarget } from '../flows/transcripts/fetch.ts';
import { transcriptsOf } from '../flows/transcripts/on-disk.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { didYouMean, plural } from '../lib/text.ts';
import { checkUrl } from '../lib/url.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { count, flag, list, type OptionValues, repeated, text } from '../spec/options.ts';
import { readableFormats } from '../transcripts/model.ts';
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
  lineLength: count('--line-length <n>', 'longest line of captions, in characters', {
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
  from: text('--from <file|->', 'read ids or paths from a file, one per line, or from stdin with -', {
    values: 'file',
    excludes: ['--feed'],
  }),
  force: flag('--force', 'overwrite existing files', { excludes: ['--output -'] }),
  feed: text('--feed <file>', 'with --base, add transcripts to this RSS feed', {
    values: 'file',
    needs: ['--base'],
  }),
  base: text('--base <url>', 'with --feed, the URL of the folder where the transcripts are published', {
    needs: ['--feed'],
  }),
};

type ConvertOptions = OptionValues<typeof options>;

export const convert = command({
  name: 'convert',
  summary: 'Write captions, show notes and feed entries from transcripts',
  about:
    'Converts transcripts on this disk: downloads by audiofile id, or files by path. Captions are fitted to two ' +
    'lines of --line-length characters. New files go beside their source unless you add -o. The source is never ' +
    'overwritten; other existing files only with --force.',
  details: [
    'How captions are fitted:',
    [
      [
        'split',
        'at the end of a sentence, else of a clause, else between words; times are shared by characters',
      ],
      ['merge', 'a cue shorter than 5/6 s with the next or previous one of the same speaker, if both fit'],
      ['lengthen', 'a cue shorter than 5/6 s, into the silence after it'],
      ['keep', 'the text, lines and times of every other cue; overlaps end where the next cue starts'],
      ['drop', 'cue ids and settings, italics and other markup, NOTE, STYLE and REGION blocks, header lines'],
    ],
    "In srt, the speaker's name counts toward the line length, unless that would need another cue. Chinese, " +
      'Japanese and Korean characters are two columns wide and count as two. Speakers are <v Name> in vtt and ' +
      '"Name: " in srt; an invisible U+2060 marks text that would otherwise be read as a name or a tag, and a space ' +
      'between Chinese or Japanese phrases at the end of a line.',
    'Captions and json need times: captions of any program, or text with times (tstxt, Otter, Rev, Zoom, Teams). ' +
      'Rolling captions, as on YouTube, are read once. Text has no end times: each turn ends where the next one ' +
      'starts, the last one with the audio. If that is more than 7 s and more than twice the time it takes to read ' +
      'the turn, or unknown, the turn ends after 15 characters per second, but not before 2 s if a pause follows. ' +
      'For an id with several downloads, the one with the most precise times that can be converted is used.',
    'With --feed, steno looks up the episodes of the feed in the ledger, and adds a <podcast:transcript> for each ' +
      'vtt, srt, json, html and txt file beside their downloads, or of the same name in the folders named as ' +
      'arguments. Its URL is --base with the name of the file, or with the path of the download below the folder. ' +
      'If --base has changed, the links that steno wrote are replaced. The rest of the feed stays the same, byte for byte.',
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
    ['find raw -name "*.vtt" | steno convert --from - --to srt -o public/', 'a list of transcripts'],
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
    if (args.length === 0 && options.from === undefined)
      throw usage('name a transcript: its audiofile id or its path');
    const link = options.link === undefined ? undefined : checkLink(options.link, formats);
    const renames = await readRenames(options.speaker);
    const { lineLength } = options;
    const listed = options.from === undefined ? [] : await readList(options.from, context.stdin);
    const given = [...args, ...listed.map(({ text }) => text)];
    if (given.length === 0) return context.out.show(convertedView([]));
    return convertFiles(context, given, formats, options, {
      lineLength,
      renames,
      link,
      signal: context.signal,
    });
  },
});

/** Without --to, what the name after -o ends in. */
function formatsOf({ to, output = '' }: ConvertOptions): ConvertedFormat[] {
  const given = to.length ? to : convertedFormats.filter((each) => each === formatNamed(output));
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
  return checkPublic('--link', template, 'https://host/talk?t={seconds}');
}

/** A URL that others will read. */
function checkPublic(flag: string, text: string, example: string): string {
  const url = text.replaceAll('{seconds}', '0');
  try {
    checkUrl(url, 'folder');
  } catch (error) {
    if (!(error instanceof StenoError) || !/\s/.test(url)) throw error;
    throw usage(`the URL after ${flag} contains a space`, `write %20 for it: ${example}`);
  }
  const { username, password } = new URL(url);
  if (username || password)
    throw usage(
      `the URL after ${flag} has a user name or password, which everyone could read`,
      'leave it out',
    );
  return text;
}

function checkBase(text: string): string {
  const example = 'https://host/transcripts/';
  checkPublic('--base', text, example);
  if (/[?#]/.test(text))
    throw usage(
      'the URL after --base has a query or a fragment, but it must be a folder',
      `write it like ${example}`,
    );
  return text;
}

/** The format that the name of a file says. */
function formatNamed(output: string): string | undefined {
  const [, ext = ''] = /\.(\w+)$/.exec(output.toLowerCase()) ?? [];
  return [...convertedFormats, ...readableFormats].find((each) => each === ext);
}

function checkName(output: string, format: string): void {
  const ext = formatNamed(output);
  if (ext !== undefined && ext !== format)
    throw usage(
      `'${output}' ends in .${ext}, but its content would be ${format}`,
      `name it like new.${format}`,
    );
}

/** Where -o leads: a file for one, or a folder. */
async function targetOf(
  output: string | undefined,
  items: readonly Item[],
): Promise<Pick<TargetOptions, 'folder' | 'file'>> {
  if (output === undefined || output === '-') return {};
  const { folder, file } = await outputTarget(output, undefined, items.length > 1, 'refuse');
  if (file !== undefined) checkName(file, items[0]?.format ?? '');
  return { folder, file };
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
    throw usage('only one file can go to stdout', 'name a folder: -o transcripts/');
  const isPrinted = output === '-';
  const converter = new Converter(conversion);
  const sources = items.flatMap(({ files }) => files?.[0]?.path ?? []);
  const targets = new Targets(sources, { ...(await targetOf(output, items)), force });
  const written: Converted[] = [];
  const work = async ({ files, error, format }: Item): Promise<Converted> => {
    if (!files) throw error;
    const { file, content } = await converter.convert(files, format);
    if (!isPrinted) {
      const one = await targets.write(file, format, content);
      written.push(one);
      return one;
    }
    await out.stdout.writeDocument(content);
    return { source: file.path, format, path: '-', bytes: content.length, unchanged: false };
  };
  const nameOf = ({ what, format }: Item): string => (formats.length > 1 ? `${what} to ${format}` : what);
  const outcomes = await whileWorking(out, 'Converting', (report) =>
    doEach(items, 1, nameOf, work, report),
  ).catch(async (error: unknown) => {
    if (!(error instanceof StenoError) || error.kind !== 'interrupted' || isPrinted) throw error;
    await out.show(convertedView(written));
    throw new StenoError('interrupted', `interrupted: ${written.length} of ${items.length} files written`);
  });
  if (!isPrinted) {
    const name = (at: number) => ({ source: items[at]?.what ?? '', format: items[at]?.format ?? '' });
    const json = documents(outcomes, convertedRecord.json, name);
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
  if (output !== '-') checkName(output, 'xml');
  const input = { feed, base: checkBase(base), formats: to.length ? to : known, folders };
  const ledger = await context.ledgers.required('convert --feed reads the ledger');
  const { content, episodes, found, added, replaced } = await addTranscripts(ledger, input, signal);
  if (output === '-') await out.stdout.writeDocument(content);
  else {
    const file = { path: feed };
    const targets = new Targets([feed], { file: output, force });
    await out.show(convertedView([await targets.write(file, 'xml', content)]));
  }
  const where = folders.length ? `in ${folders.join(', ')}` : 'on this disk';
  if (found === 0)
    await out.warn(
      `no transcript of these episodes is ${where}`,
      'download them: steno transcript <id> --format vtt',
    );
  const more = replaced ? `, ${replaced} replaced` : '';
  out.note(
    `${found} of ${plural(episodes, 'episode')} with transcripts, ${plural(added, 'link')} added${more}`,
  );
}
