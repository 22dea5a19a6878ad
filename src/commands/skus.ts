import { command } from '../spec/command.ts';

export const skus = command({
  name: 'skus',
  summary: 'List the SKUs that can be ordered and upgraded',
  about: 'Lists the SKUs that can be ordered and upgraded, for --sku. Nothing is sent.',
  examples: [
    ['steno skus', 'as a table'],
    ['steno skus --quiet', 'the bare names'],
  ],
  load: async () => (await import('./skus.run.ts')).run,
});
