import { command } from '../cli/command-spec.ts';
import { flag, text } from '../cli/options.ts';

const work = () => import('./ledger.run.ts');

const exportCommand = command({
  name: 'export',
  summary: 'Write the ledger as JSON lines',
  about:
    'Writes all that the ledger knows of the selected profile, one row a line, to stdout or to a file: orders, files, ' +
    'attempts, downloads, events and what was done about them. It holds no key. Take it into another ledger with: ' +
    'steno ledger import. An existing file is not replaced unless --force. With --damaged it reads what can be read of ' +
    'a ledger that is damaged, and says what can not.',
  options: {
    output: text('-o, --output <file>', 'write it to this file, which only you can read', { values: 'file' }),
    force: flag('--force', 'replace an existing file'),
    allProfiles: flag('--all-profiles', 'of all profiles'),
    damaged: flag('--damaged', 'read a damaged ledger as far as that goes; all profiles'),
  },
  examples: [
    ['steno ledger export -o ledger.jsonl', 'a copy to keep'],
    ['steno ledger export --all-profiles | gzip > ledger.gz', 'everything, packed'],
    ['steno ledger export --damaged -o rescued.jsonl', 'what is left of a damaged ledger'],
  ],
  load: async () => (await work()).exportLedger,
});

const importCommand = command({
  name: 'import',
  summary: 'Take an export into the ledger',
  about:
    'Takes in what another ledger has exported: all of it, or nothing if a line is wrong. What is there already is left ' +
    'as it is, unless the export knows something later; so it may be repeated, and two ledgers can be made one. Rows ' +
    'keep the profile that they came from.',
  args: [{ name: '<file|->', help: 'the export, or - for stdin', values: 'file' }],
  examples: [
    ['steno ledger import ledger.jsonl', 'on another machine'],
    ['gunzip -c ledger.gz | steno ledger import -', 'from a pipe'],
  ],
  load: async () => (await work()).importLedger,
});

const prune = command({
  name: 'prune',
  summary: 'Remove old events from the ledger',
  about:
    'Removes events that were received before a time, what was done about them, and the listeners that did it. Orders, ' +
    'files, attempts and downloads stay for good, and so do events with something still to be done. It asks first on a ' +
    'terminal; elsewhere it requires --yes. The disk gets the room back. listen --keep does the same as it goes.',
  options: {
    before: text('--before <time>', 'older than this: 2026-11-01, or 90d for ninety days ago'),
    allProfiles: flag('--all-profiles', 'of all profiles'),
    dryRun: flag('--dry-run', 'say what would be removed, and remove nothing'),
    yes: flag('-y, --yes', 'do not ask'),
  },
  examples: [
    ['steno ledger prune --before 90d --dry-run', 'how much that would be'],
    ['steno ledger prune --before 90d --yes', 'from cron'],
  ],
  load: async () => (await work()).pruneLedger,
});

export const ledger = command({
  name: 'ledger',
  summary: 'Back up, move and clean the ledger',
  about:
    'The ledger is the only list of your orders: the service keeps none. Copies of it are made by themselves once a day ' +
    'and kept beside it; with export and import it moves to another machine.',
  children: [exportCommand, importCommand, prune],
  examples: [
    ['steno ledger export -o ledger.jsonl', 'a copy to keep'],
    ['steno ledger import ledger.jsonl', 'on another machine'],
    ['steno ledger prune --before 90d', 'remove old events'],
  ],
});
