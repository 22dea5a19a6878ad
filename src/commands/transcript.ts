import { formats, meaningOfFormat } from '../catalog/formats.ts';
import { command } from '../spec/command.ts';
import { count, flag, idsFrom, list, nameTemplate, text } from '../spec/options.ts';

export const transcript = command({
  name: 'transcript',
  summary: 'Download transcripts',
  about:
    'Downloads transcripts, to {id}.{ext} in this folder unless told otherwise. A file appears under its ' +
    'name only when it is whole, and an existing file is not replaced unless --force.',
  details: [
    'Without --format, the ending of the name in -o or --name-as says which: -o talk.srt fetches subtitles.',
  ],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    format: list('--format <ext…>', 'document types', {
      default: 'txt',
      values: formats.map((each) => each.ext),
      meaning: meaningOfFormat,
    }),
    output: text('-o, --output <file|dir|->', 'where to: a file, a folder, or - for stdout', {
      values: 'file',
    }),
    nameAs: nameTemplate('name of each file', { excludes: ['--output -'] }),
    from: idsFrom(),
    jobs: count('--jobs <n>', 'how many at once', { default: '8', max: 64, excludes: ['--output -'] }),
    force: flag('--force', 'replace existing files', { excludes: ['--skip-existing', '--output -'] }),
    skipExisting: flag('--skip-existing', 'leave existing files as they are and go on', {
      excludes: ['--output -'],
    }),
    test: flag('--test', 'ask for a fake transcript'),
    deprecatedPath: flag('--deprecated-path', 'use the old path of the API'),
  },
  examples: [
    ['steno transcript 12345', 'to 12345.txt'],
    ['steno transcript 12345 -o -', 'to stdout'],
    ['steno transcript 12345 12346 --format docx,srt -o transcripts/', 'two files, two formats'],
    ['steno ls --state Delivered --quiet | steno transcript --from - --skip-existing', 'all'],
    ['steno transcript 12345 --name-as "{title}-{id}.{ext}" --skip-existing', 'with a name of your own'],
  ],
  conflicts: [
    ['--output -', '--json'],
    ['--output -', '--csv'],
  ],
  load: async () => (await import('./transcript.run.ts')).run,
});
