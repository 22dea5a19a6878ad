import { fileStates } from '../catalog/states.ts';
import { command } from '../cli/command-spec.ts';
import { count, flag, list, text } from '../cli/options.ts';

export const files = command({
  name: 'files',
  alias: 'ls',
  summary: 'List what the ledger knows of your orders and files',
  about:
    'Lists your files, newest first, as the ledger knows them: what was ordered from here, and what the service ' +
    'last said of it. With --refresh it asks the service again about files that may have changed. On a terminal it ' +
    'shows a page; elsewhere, and with --json or --csv, everything.',
  options: {
    state: list('--state <state…>', 'only files in these states', {
      values: fileStates.map((each) => each.name),
    }),
    order: text('--order <id>', 'only files of this order', { values: 'order' }),
    since: text('--since <time>', 'only files ordered since then: 2026-11-01, or 3d for three days ago'),
    limit: count('--limit <n>', 'show at most this many (default: 50 on a terminal, all elsewhere)'),
    refresh: flag('--refresh', 'ask the service about every open file first'),
  },
  examples: [
    ['steno files', 'the latest'],
    ['steno files --state Delivered --since 7d', 'what was delivered lately'],
    ['steno files --refresh --json | jq -r ".[].audiofile"', 'for a script'],
    ['steno ls --csv > files.csv', 'all that is known'],
  ],
  load: async () => (await import('./files.run.ts')).run,
});
