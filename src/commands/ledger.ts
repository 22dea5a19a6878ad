import { command } from '../spec/command.ts';
import { flag, text } from '../spec/options.ts';

const work = () => import('./ledger.run.ts');

const exportCommand = command({
  name: 'export',
  summary: 'Write the ledger as JSON lines',
  about:
    'Writes all that the ledger knows of the selected profile, one row a line, to stdout or to a file. Take it into ' +
    'another ledger with: steno ledger import.',
  details: [
    'It has orders, files, attempts, downloads, events and what was done about them, and no key. An existing file is ' +
      'not replaced unless --force. With --damaged it reads what can be read of a ledger that is damaged, and says what ' +
      'can not.',
  ],
  options: {
    output: text('-o, --output <file>', 'write it to this file, which only you can read', { values: 'file' }),
    force: flag('--force', 'with --output, replace an existing file', {
      needs: ['--output'],
      excludes: ['--output -'],
    }),
    allProfiles: flag('--all-profiles', 'of all profiles'),
    damaged: flag('--damaged', 'read a damaged ledger as far as that goes; all profiles'),
  },
  examples: [
    ['steno ledger export -o ledger.jsonl', 'a copy to keep'],
    ['steno ledger export --all-profiles | gzip > ledger.gz', 'everything, packed'],
    ['steno ledger export --damaged -o rescued.jsonl', 'what is left of a damaged ledger'],
  ],
  refuses: { '--csv': 'an export is JSON lines' },
  load: async () => (await work()).exportLedger,
});

const importCommand = command({
  name: 'import',
  summary: 'Take an export into the ledger',
  about:
    'Takes in what another ledger has exported: all of it, or nothing if a line is wrong. It may be repeated, and two ' +
    'ledgers can be made one.',
  details: [
    'What is there already is left as it is, unless the export knows something later. Rows keep the profile that they ' +
      'came from, in a shared ledger as the account of that name, unless --as names another.',
  ],
  args: [{ name: '<file|->', help: 'the export, or - for stdin', values: 'file' }],
  options: {
    as: text('--as <name>', 'take the rows in as those of this profile or account', { values: 'account' }),
  },
  examples: [
    ['steno ledger import ledger.jsonl', 'on another machine'],
    ['steno ledger import ledger.jsonl --as acme', 'as the rows of account acme'],
    ['gunzip -c ledger.gz | steno ledger import -', 'from a pipe'],
  ],
  load: async () => (await work()).importLedger,
});

const prune = command({
  name: 'prune',
  summary: 'Remove old events from the ledger',
  about:
    'Removes events that were received before a time, what was done about them, and the listeners that did it. It asks ' +
    'first on a terminal; elsewhere it requires --yes.',
  details: [
    'Orders, files, attempts and downloads stay for good, and so do events with something still to be done. The disk ' +
      'gets the room back. listen --keep does the same as it goes.',
  ],
  options: {
    before: text('--before <time>', 'older than this: 2026-11-01, or 90d ago'),
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

const status = command({
  name: 'status',
  summary: 'Say where the ledger is, and how it is',
  about:
    'Says where the ledger is, its version and whether this steno may work with it, how large it is, whose rows it has, ' +
    'and what is unclear. It changes nothing.',
  details: [
    'Unclear are orders without a known end (see: steno attempts), outcomes of orders and events of this machine that ' +
      'wait for the ledger, and whether it has moved. The password of a shared ledger is not shown. Where it can not be ' +
      'reached it ends with 7.',
  ],
  examples: [
    ['steno ledger status', 'line by line'],
    ['steno ledger status --json', 'for a program'],
  ],
  load: async () => (await work()).showStatus,
});

const migrate = command({
  name: 'migrate',
  summary: 'Bring the shared ledger up to date',
  about:
    'Adds to a shared ledger what this steno needs and it lacks, and says what that was. Others may go on working ' +
    'meanwhile.',
  details: [
    'Older versions of steno may be used afterwards, as far as status says so. The local ledger is brought up to date ' +
      'whenever it is opened.',
  ],
  examples: [['steno ledger migrate', 'after an update of steno']],
  load: async () => (await work()).migrateLedger,
});

const copy = command({
  name: 'copy',
  summary: 'Copy the ledger to a shared one, or back',
  about:
    'Copies all that the local ledger knows of the selected profile into a shared one, or back with --to local. It may ' +
    'be repeated: what is there already is not added again.',
  details: [
    'In the shared ledger the rows belong to the account: the setting account, or the name of the profile. The local ' +
      'ledger is then marked as moved: it can be read, but nothing is ordered with it. With --to local it copies from ' +
      'the shared ledger, which the setting ledger names, into the local one, and lifts the mark.',
    'It is refused while an order is being sent, or a listener of this profile runs.',
    'Where the shared ledger is gone for good, --to local --without-shared lifts the mark alone: what was ordered with ' +
      'the shared one since is not known then. It asks first on a terminal; elsewhere it requires --yes.',
  ],
  options: {
    to: text('--to <url|local>', 'postgres:// URL of the shared ledger, without its password; or: local', {
      values: 'copy-target',
    }),
    dryRun: flag('--dry-run', 'say what would be copied, and write nothing'),
    withoutShared: flag(
      '--without-shared',
      'with --to local: the shared ledger is gone, copy nothing from it',
      {
        needs: ['--to'],
      },
    ),
    yes: flag('-y, --yes', 'with --without-shared, do not ask', { needs: ['--without-shared'] }),
  },
  examples: [
    ['steno ledger copy --to postgres://steno@db.example.com/steno', 'to the team'],
    ['steno ledger copy --to local', 'and back'],
    ['steno ledger copy --to local --dry-run', 'how much that would be'],
    ['steno ledger copy --to local --without-shared', 'the database is gone for good'],
  ],
  load: async () => (await work()).copyLedger,
});

const account = command({
  name: 'account',
  summary: 'Record which service and orders belong to an account',
  about:
    'Says which service an account belongs to, and which orders are not its own. Each answer is kept in the ledger, so ' +
    'it is given once.',
  details: [
    'A shared ledger remembers the base URL that an account was first used with, and refuses another. Where the service ' +
      'itself has moved, --base-url changes it, for all who use the account.',
    'A ledger also recognizes a key, by a mark that does not reveal it. An order with the same service and key under ' +
      'another profile or account stops with 2: it could buy again what is on order. If they really are two accounts, ' +
      'confirm it with --separate-from.',
    'With a shared ledger, an order stops with 2 while the ledger of this machine has orders that were not copied to ' +
      'it. steno ledger copy takes them along; --leave-local says that they belong to another account.',
  ],
  options: {
    separateFrom: text('--separate-from <name>', 'an account or profile that is separate from this one', {
      values: 'account',
      excludes: ['--base-url', '--leave-local'],
    }),
    leaveLocal: flag('--leave-local', "the orders in this machine's own ledger belong to another account", {
      excludes: ['--base-url'],
    }),
  },
  examples: [
    ['steno ledger account --base-url https://api.example.com', 'the service has moved'],
    ['steno ledger account --separate-from acme', 'another account, though the key is the same'],
    ['steno ledger account --leave-local', 'the orders of this machine belong to another account'],
  ],
  load: async () => (await work()).changeAccount,
});

export const ledger = command({
  name: 'ledger',
  summary: 'Look after the ledger: back up, move, share, clean',
  about:
    'The ledger is the only list of your orders: the service keeps none. With export and import it moves to another ' +
    'machine, with copy to one that a team shares.',
  details: ['A copy of it is made by itself once a day, and the last three are kept beside it.'],
  children: [status, exportCommand, importCommand, prune, copy, migrate, account],
  examples: [
    ['steno ledger status', 'where it is, and how it is'],
    ['steno ledger export -o ledger.jsonl', 'a copy to keep'],
    ['steno ledger import ledger.jsonl', 'on another machine'],
    ['steno ledger prune --before 90d', 'remove old events'],
  ],
});
