import { fileStates, meaningOfStateName } from '../catalog/states.ts';
import { LIST_ROWS } from '../lib/defaults.ts';
import { command } from '../spec/command.ts';
import { count, flag, list, text } from '../spec/options.ts';

export const files = command({
  name: 'files',
  alias: 'ls',
  summary: 'List what the ledger knows of your orders and files',
  about:
    'Lists your files, newest first, as the ledger knows them: what was ordered from here, and what the service ' +
    'last said of it. With --refresh it asks again about files that may have changed.',
  options: {
    state: list('--state <state…>', 'only files in these states', {
      values: fileStates.map((each) => each.name),
      meaning: meaningOfStateName,
    }),
    since: text('--since <time>', 'only files ordered since then: 2026-11-01, or 3d ago'),
    order: text('--order <id>', 'only files of this order', { values: 'order' }),
    key: text('--key <text>', 'only the file of this key'),
    tag: text('--tag <text>', 'only files with this tag'),
    feed: text('--feed <title|url>', 'only episodes of this feed'),
    refresh: flag('--refresh', 'ask the service about every open file first'),
    limit: count('--limit <n>', 'show at most this many', {
      defaultNote: `all; ${LIST_ROWS} on a terminal without a pager`,
    }),
  },
  examples: [
    ['steno files', 'the latest'],
    ['steno files --state Delivered --since 7d', 'what was delivered lately'],
    ['steno files --refresh --json | jq -r ".[].audiofile"', 'for a script'],
    ['steno files --feed https://example.com/feed.xml', 'the episodes of a podcast'],
    ['steno files --key "show 41" --json | jq -r ".[].state"', 'where one of yours is'],
    ['steno ls --csv > files.csv', 'all that is known'],
  ],
  load: async () => (await import('./files.run.ts')).run,
});
