import { pollNote } from '../lib/duration.ts';
import { command } from '../spec/command.ts';
import { duration, flag } from '../spec/options.ts';

export const file = command({
  name: 'file',
  summary: 'Show the details and the state of files',
  about:
    'Shows the details and the state of files, as the service has them now. With --watch it prints a file whenever its ' +
    'state changes, until none can change any more.',
  args: [{ name: '<id…>', help: 'audiofile ids', values: 'audiofile' }],
  options: {
    watch: flag('--watch', 'go on and print each change of state'),
    interval: duration('--interval <duration>', 'with --watch, how often to ask', {
      defaultNote: pollNote,
      needs: ['--watch'],
    }),
  },
  examples: [
    ['steno file 12345', 'one file, in full'],
    ['steno file 12345 12346 --csv', 'several, for a spreadsheet'],
    ['steno file 12345 --quiet', 'the bare state, for a script'],
    ['steno file 12345 --watch --json', 'an object a line, as the state changes'],
  ],
  load: async () => (await import('./file.run.ts')).run,
});
