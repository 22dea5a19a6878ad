import { command } from '../spec/command.ts';
import { flag } from '../spec/options.ts';

export const ignore = command({
  name: 'ignore',
  summary: 'Leave audio out of lists, feeds and folders',
  about:
    'Leaves this audio out of every later order --from, --feed and folder, until ignore --remove. A URL that you order by ' +
    'itself is not affected.',
  details: [
    'A URL is known however it is written; a guid matches in any feed; a file of this machine is known by its content. ' +
      'Audio that has a key is named by its key. The list is kept in the ledger, for everyone who uses it. Without ' +
      '--remove, all that is ignored is printed.',
  ],
  args: [{ name: '[url|key|guid…]', help: 'what to ignore; or a file of this machine', values: 'file' }],
  options: {
    list: flag('--list', 'show what is ignored', { excludes: ['--remove'] }),
    remove: flag('--remove', 'stop ignoring it'),
  },
  examples: [
    ['steno ignore https://example.com/broken.mp3', 'never order it from a list again'],
    ['steno ignore --list', 'what is ignored'],
    ['steno ignore --remove https://example.com/broken.mp3', 'the link works again'],
  ],
  load: async () => (await import('./ignore.run.ts')).run,
});
