import { command } from '../spec/command.ts';

export const formatsCommand = command({
  name: 'formats',
  summary: 'List the formats of transcripts',
  about: 'Lists the formats of transcripts, for --format. Nothing is sent.',
  examples: [
    ['steno formats', 'as a table'],
    ['steno formats --quiet', 'the bare names'],
  ],
  load: async () => (await import('./formats.run.ts')).run,
});
