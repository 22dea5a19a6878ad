import { formats, meaningOfFormat } from '../catalog/formats.ts';
import { pollNote } from '../lib/duration.ts';
import { command } from '../spec/command.ts';
import { duration, list, nameTemplate, text } from '../spec/options.ts';

export const wait = command({
  name: 'wait',
  summary: 'Wait until files are delivered',
  about:
    'Waits until every file is delivered; if one can no longer be, it exits with 8. Without ids it waits for every ' +
    'open file of the ledger. With --timeout it gives up after that long and exits with 6.',
  details: ['A file on hold moves only when it is released: if nothing else is under way, it exits with 5.'],
  args: [{ name: '[id…]', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    order: text('--order <id>', 'wait for the files of this order', { values: 'order' }),
    interval: duration('--interval <duration>', 'time between two polls', {
      defaultNote: pollNote,
    }),
    download: text('--download <dir>', 'download each transcript as it is delivered', { values: 'folder' }),
    format: list('--format <ext…>', 'with --download, the document types', {
      needs: ['--download'],
      default: 'txt',
      values: formats.map((each) => each.ext),
      meaning: meaningOfFormat,
    }),
    nameAs: nameTemplate('with --download, the name of each file', { needs: ['--download'] }),
  },
  examples: [
    ['steno wait 12345', 'one file'],
    ['steno wait --order 4nX --timeout 2h --download transcripts', 'an order, then fetch it'],
    ['steno wait', 'everything that is under way'],
  ],
  load: async () => (await import('./wait.run.ts')).run,
});
