import { formats, meaningOfFormat } from '../catalog/formats.ts';
import { command } from '../cli/command-spec.ts';
import { count, list, nameTemplate, text } from '../cli/options.ts';

export const sync = command({
  name: 'sync',
  summary: 'Refresh every open file and download what is new',
  about:
    'Asks the service about every open file of the ledger, downloads each transcript that is new, and tells what ' +
    'changed. Safe to run from cron or CI as often as you like, also twice at once.',
  details: [
    'What is downloaded to a folder is not downloaded there again, even if you move it away, and what failed is tried ' +
      'again the next time.',
  ],
  options: {
    download: text('--download <dir>', 'where transcripts go', { default: '.', values: 'folder' }),
    format: list('--format <ext…>', 'document types', {
      default: 'txt',
      values: formats.map((each) => each.ext),
      meaning: meaningOfFormat,
    }),
    nameAs: nameTemplate('name of each file'),
    jobs: count('--jobs <n>', 'how many at once', { default: '8', max: 64 }),
  },
  examples: [
    ['steno sync', 'transcripts to this folder'],
    ['steno sync --download transcripts --format txt,docx', 'two formats, to a folder'],
    ['steno sync --quiet | xargs -r ls -l', 'the new files'],
  ],
  load: async () => (await import('./sync.run.ts')).run,
});
