import { createReadStream, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { checkIsFree, countPrunable, pruneLedger, prunings, writeExport } from '../flows/ledger.ts';
import { keepAccountsSeparate, prepareForOrders } from '../ledger/accounts.ts';
import { bringBack, countRows, moveTo } from '../ledger/dump/copy.ts';
import { exportedLines, type Salvaged, salvageFile } from '../ledger/dump/export.ts';
import { importLines, type TableCounts } from '../ledger/dump/import.ts';
import { mayWork, statusOfFile } from '../ledger/inspect.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { leaveFor, type Moved, readMoved, unmarkMoved, useIt } from '../ledger/moved.ts';
import { openLedger, openSharedLedger } from '../ledger/open.ts';
import { Outbox } from '../ledger/outbox.ts';
import { migrateShared, moveAccount, statusOfShared } from '../ledger/shared.ts';
import { lossOf } from '../ledger/stores/backups.ts';
import { errorCode, StenoError, systemReason, usage } from '../lib/errors.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { accountName } from '../lib/names.ts';
import { passwordOf, shownPostgresUrl } from '../lib/postgres-url.ts';
import { LatestProgress, type Report } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { nowMs, parseSince, timeAgo } from '../lib/time.ts';
import { moveLeftInto } from '../listen/spool-mover.ts';
import { checkAccount } from '../settings/settings.ts';
import { command, family, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { makeStateFolder, profileFlag } from '../spec/ledgers.ts';
import { flag, type OptionValues, text } from '../spec/options.ts';
import { whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import {
  accountRecord,
  accountView,
  importedRecord,
  importedView,
  migratedView,
  prunedRecord,
  statusSchema,
  statusView,
} from '../views/ledger.ts';
import { columns, printed, writtenFile } from '../views/record.ts';
import * as schema from '../views/schema.ts';

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
  effect: 'none',
  exits: LEDGER_EXITS,
  output: () => printed(schema.described('with -o; without it, the lines of the export', writtenFile)),
  async run(context, { options }) {
    const { out } = context;
    const { output, allProfiles, damaged, force } = options;
    const file = output === '-' ? undefined : output;
    if (file !== undefined && !force) checkIsFree(file);
    const salvaged: Salvaged[] = [];
    const lines = damaged
      ? salvageLedger(context, (table) => salvaged.push(table))
      : exportedLines(await openWhole(context, 'ledger export reads the ledger'), allProfiles);
    if (file === undefined) {
      for await (const some of lines) if (!(await out.stdout.writePart(some))) break;
    } else {
      await whileWorking(out, 'Exporting', (report) => writeExport(file, lines, force, report));
      out.done(`written to ${file}`, { path: file }, file);
    }
    const incomplete = salvaged.filter((table) => table.incomplete).map(({ table }) => table);
    if (incomplete.length) await out.warn(`some rows could not be read, in ${incomplete.join(', ')}`);
    else if (damaged) out.note('every row was readable');
  },
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
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => importedRecord.printedList,
  async run(context, { args, options, line }) {
    const [file = ''] = args;
    if (options.as !== undefined) checkAccount(options.as);
    const as = options.as && accountName(options.as);
    const { out, signal } = context;
    // What comes from a pipe may take for ever.
    const source = addAbortSignal(signal, file === '-' ? context.stdin : createReadStream(file));
    const ledger = await context.ledgers.required('ledger import writes to the ledger');
    // What is taken in must hold up orders of this account, also before its first one.
    await prepareForOrders(ledger, false);
    let profile: string | null = null;
    const onHeader = (header: { readonly profile: string | null }): void => {
      profile = as ?? header.profile;
    };
    const read = (report: Report): Promise<TableCounts[]> =>
      importLines(ledger, source, { signal, as, moves: as !== undefined, onHeader, report }).catch(
        (error) => {
          throw errorCode(error) ? usage(`can't read ${file}: ${systemReason(error)}`) : error;
        },
      );
    const counts = await allOrNothing(context, line, ['Importing', 'imported'], read);
    await out.show(importedView(counts));
    const orphaned = counts.reduce((sum, each) => sum + each.orphaned, 0);
    if (orphaned) await out.warn(`${orphaned} rows were left out: the rows they belong to were lost`);
    if (profile !== null && profile !== ledger.profile)
      await out.warn(
        `the rows belong to '${profile}', but this ledger is used as '${ledger.profile}': they do not count for its orders`,
        `if they are the same account: steno ledger import <file> --as ${ledger.profile}`,
      );
  },
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
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => prunedRecord.printed,
  async run(context, { options, line }) {
    const { out, signal } = context;
    const { before, allProfiles, dryRun, yes } = options;
    if (before === undefined) throw usage('ledger prune requires --before', 'for example: --before 90d');
    const time = parseSince(before, nowMs());
    if (!yes && !dryRun && !context.stdin.isTTY)
      throw usage(
        'ledger prune requires --yes when not run in a terminal',
        `run: steno ledger prune --before ${before} --yes`,
      );
    const ledger = await openWhole(context, 'ledger prune works on the ledger');
    const all = await prunings(ledger, allProfiles);
    if (dryRun) return out.show(prunedRecord.page(await countPrunable(all, time)));
    if (!yes) {
      const { events } = await countPrunable(all, time);
      const question = `Remove ${events} events from before ${time} for good?`;
      if (!(await askPerson(context, (questions) => questions.confirm(question))))
        throw new StenoError('failed', 'nothing was removed: you did not answer yes');
    }
    const latest = new LatestProgress();
    const summary = () => ({
      done: `${plural(latest.done, 'event')} removed so far, for good`,
      hint: goOnHint('resume with', line),
    });
    const pruned = await untilInterrupted(signal, summary, () =>
      whileWorking(out, 'Removing', (report) =>
        pruneLedger(ledger, all, time, { signal, report: latest.through(report) }),
      ),
    );
    await out.show(prunedRecord.page(pruned));
  },
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
  effect: 'none',
  exits: LEDGER_EXITS,
  output: () => printed(statusSchema, columns({ name: 'of the fact', value: 'as text' })),
  async run(context) {
    const { out, settings, mask, signal } = context;
    const { sharedUrl: url, localPath: path } = context.ledgers;
    const options = url === undefined ? undefined : await context.ledgers.sharedOptions(url);
    const status = await whileWorking(out, 'Asking', () =>
      options === undefined
        ? statusOfFile(path, settings.profileName, mask.hide, signal)
        : statusOfShared(options, mask.hide),
    );
    const account = options?.account.name ?? settings.profileName;
    await out.show(
      statusView({
        ...status,
        where: url === undefined ? path : shownPostgresUrl(url),
        source: url === undefined ? 'default' : settings.get('ledger').source,
        account,
        outcomes: Outbox.count(join(makeStateFolder(context.env), 'outcomes'), account),
        events: (await (await context.ledgers.spoolIfAny())?.countAll()) ?? 0,
      }),
    );
    const loss = url === undefined ? lossOf(path) : undefined;
    if (loss) await out.warn(loss.message, loss.hint);
    if (!mayWork(status))
      await out.warn("it was made by a newer steno, which this one can't work with", 'update steno');
    else if (status.made && status.missing.length)
      await out.warn('it was made by an older steno', 'upgrade it with: steno ledger migrate');
  },
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
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () =>
    printed(
      schema.object({ migrations: schema.arrayOf(schema.text) }),
      columns({ migrations: 'that were made' }),
    ),
  async run(context) {
    const { out } = context;
    const { sharedUrl: url } = context.ledgers;
    if (url === undefined) {
      await out.show(migratedView([]));
      return out.note('the local ledger is upgraded whenever it is opened');
    }
    const options = await context.ledgers.sharedOptions(url);
    const done = await whileWorking(out, 'Migrating', () => migrateShared(options));
    await out.show(migratedView(done));
    out.note(done.length ? 'the shared ledger is up to date now' : 'the shared ledger is already up to date');
  },
});

const copyOptions = {
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
};

type CopyOptions = OptionValues<typeof copyOptions>;

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
  options: copyOptions,
  examples: [
    ['steno ledger copy --to postgres://steno@db.example.com/steno', 'to the team'],
    ['steno ledger copy --to local', 'and back'],
    ['steno ledger copy --to local --dry-run', 'how much that would be'],
    ['steno ledger copy --to local --without-shared', 'the database is gone for good'],
  ],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => importedRecord.printedList,
  async run(context, { options, line }) {
    const { to, dryRun, withoutShared, yes } = options;
    if (to === undefined) throw usage('ledger copy requires --to', 'see: steno ledger copy --help');
    if (!context.globals.ledger)
      throw usage("ledger copy reads the ledger, so it can't be used with --no-ledger");
    if (context.sandbox)
      throw usage("the sandbox's ledger can't be shared", 'leave out --sandbox, or choose another profile');
    if (withoutShared && to !== 'local')
      throw usage(
        '--without-shared is only for a move back to the local ledger',
        'write: --to local --without-shared',
      );
    if (withoutShared) return comeBackWithoutShared(context, { dryRun, yes });
    await (to === 'local' ? copyBack(context, { dryRun, line }) : copyOut(context, to, { dryRun, line }));
  },
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
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => accountRecord.printed,
  async run(context, { options: { separateFrom, leaveLocal } }) {
    const { globals, sandbox } = context;
    if (globals.baseUrl === undefined && separateFrom === undefined && !leaveLocal)
      throw usage(
        'ledger account requires --base-url, --separate-from or --leave-local',
        'see: steno ledger account --help',
      );
    if (sandbox) throw usage('the sandbox has one account', 'leave out --sandbox, or choose another profile');
    if (separateFrom !== undefined) return keepSeparate(context, accountName(separateFrom));
    return leaveLocal ? leaveLocalBehind(context) : changeBaseUrl(context, globals.baseUrl ?? '');
  },
});

export const ledger = family({
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

/** What can be read of a damaged ledger, as the lines of an export. */
function salvageLedger(
  { mask, ledgers: { localPath: path } }: Context,
  onTable: (salvaged: Salvaged) => void,
): AsyncIterable<string> {
  if (!existsSync(path)) throw usage(`there is no ledger in ${dirname(path)}`);
  return salvageFile(path, mask.hide, onTable);
}

/** The ledger with the events that ended listeners left on their way: after a prune they would come back. */
async function openWhole(context: Context, use: string): Promise<Ledger> {
  const ledger = await context.ledgers.required(use);
  await takeSpoolIn(context, ledger);
  return ledger;
}

async function takeSpoolIn(context: Context, ledger: Ledger): Promise<void> {
  const { out, signal } = context;
  const spool = await context.ledgers.spoolIfAny();
  const onWarning = (text: string): void => void out.warn(text);
  if (spool) await moveLeftInto(ledger, { spool, signal, onWarning });
}

/** What takes in rows does so with the last of them, so that an interruption leaves nothing. */
function allOrNothing(
  { out, signal }: Context,
  line: readonly string[],
  [doing, done]: readonly [string, string],
  work: (report: Report) => Promise<TableCounts[]>,
): Promise<TableCounts[]> {
  const summary = () => ({ done: `nothing was ${done}`, hint: goOnHint('try again with', line) });
  return untilInterrupted(signal, summary, () => whileWorking(out, doing, work));
}

const COPYING = ['Copying', 'copied'] as const;

interface Copying {
  readonly dryRun: boolean;
  readonly line: readonly string[];
}

async function copyOut(context: Context, url: string, { dryRun, line }: Copying): Promise<void> {
  const { out, mask, signal } = context;
  if (passwordOf(url))
    await out.warn(
      'a password in --to is exposed: other users of this machine see it in the process list, and the shell history keeps it',
      'leave it out, and set PGPASSWORD or the setting ledger-password-command',
    );
  const target = await context.ledgers.sharedOptions(url);
  if (!existsSync(context.ledgers.localPath))
    throw usage(
      `there is no ledger to copy in ${dirname(context.ledgers.localPath)}`,
      'there is nothing to copy: use the shared ledger as it is',
    );
  const local = await openLocal(context);
  const [to, account] = [shownPostgresUrl(url), target.account.name];
  if (dryRun && !(await statusOfShared(target, mask.hide)).made) {
    await out.show(importedView(await countRows(local)));
    return out.note('nothing was written; the shared ledger has no tables yet');
  }
  const shared = await openSharedLedger(target, mask.hide);
  context.onExit(() => shared.close());
  await prepareForOrders(shared, dryRun, await context.ledgers.keyMark(shared, false));
  const moved: Moved = { to, identity: shared.db.identity, account, at: new Date(nowMs()).toISOString() };
  if (!dryRun) await takeSpoolIn(context, local);
  const counts = await allOrNothing(context, line, COPYING, (report) =>
    moveTo(shared, local, moved, { signal, dryRun, report }),
  );
  await out.show(importedView(counts));
  if (dryRun) return out.note('nothing was written');
  out.note(`the local ledger is marked as moved; it takes no more orders`);
  if (context.ledgers.sharedUrl === undefined)
    out.note(`use the shared one from now on: ${useIt(to, account)}`);
}

async function copyBack(context: Context, { dryRun, line }: Copying): Promise<void> {
  const { out, mask, signal } = context;
  const url = context.ledgers.sharedUrl;
  if (url === undefined)
    throw usage(
      'ledger copy --to local copies from the shared ledger, but none is set',
      'name it with STENO_LEDGER=postgres://… or: steno config set ledger postgres://user@host/database',
    );
  const shared = await openSharedLedger(await context.ledgers.sharedOptions(url), mask.hide);
  context.onExit(() => shared.close());
  if (!dryRun) await takeSpoolIn(context, shared);
  const local = await openLocal(context);
  const counts = await allOrNothing(context, line, COPYING, (report) =>
    bringBack(local, shared, { signal, dryRun, report }),
  );
  await out.show(importedView(counts));
  if (dryRun) return out.note('nothing was written');
  out.note('the shared ledger is unchanged; later orders of others in it are not known here');
  out.note(unsetLedger(profileFlag(context)));
}

/** The way out where the shared ledger is gone for good: orders use the local one again, with what it knew. */
async function comeBackWithoutShared(
  context: Context,
  { dryRun, yes }: Pick<CopyOptions, 'dryRun' | 'yes'>,
): Promise<void> {
  const { out, env } = context;
  const { localPath: path } = context.ledgers;
  const flag = profileFlag(context);
  if (!existsSync(path))
    throw usage(
      `there is no ledger in ${dirname(path)} to move back to`,
      'to start a new one, which knows no orders: steno config unset ledger   (and unset STENO_LEDGER)',
    );
  const local = await openLocal(context);
  const moved = await readMoved(local);
  if (!moved) return out.note(`the ledger of this machine is not marked as moved: ${unsetLedger(flag)}`);
  await out.warn(
    `the ledger of this machine does not know what was ordered with ${moved.to} since the move ${timeAgo(moved.at)}, here or by others: it could be ordered twice`,
    'import a backup of the database (steno ledger import), or add file by file: steno track <id>',
  );
  const outcomes = join(makeStateFolder(env), 'outcomes');
  const waiting = Outbox.count(outcomes, moved.account);
  if (waiting)
    await out.warn(
      `${plural(waiting, 'outcome')} on this machine never reached the shared ledger; see ${outcomes}`,
      'add the files: steno track <id>',
    );
  if (dryRun) return out.note('nothing was written');
  if (!yes && !context.stdin.isTTY)
    throw usage(
      'ledger copy --without-shared requires --yes when not run in a terminal',
      `run: steno ledger copy --to local --without-shared --yes${flag}`,
    );
  const question = 'Use the ledger of this machine for orders again, without the orders of the shared one?';
  if (!yes && !(await askPerson(context, (questions) => questions.confirm(question))))
    throw new StenoError('failed', 'nothing was changed: you did not answer yes');
  await unmarkMoved(local);
  out.done('orders use the ledger of this machine again', { path });
  out.note(unsetLedger(flag));
}

const unsetLedger = (profileFlag: string): string =>
  `use the local one from now on: steno config unset ledger${profileFlag}   (and unset STENO_LEDGER)`;

/** The ledger of this machine, also where a shared one is set. */
async function openLocal(context: Context): Promise<Ledger> {
  const { ledgers, settings, mask, signal, out } = context;
  const onTrouble = (text: string, hint?: string): Promise<void> => out.warn(text, hint);
  const ledger = await openLedger(ledgers.localPath, settings.profileName, mask.hide, signal, onTrouble);
  context.onExit(() => ledger.close());
  return ledger;
}

const noSharedLedger = (what: string): StenoError =>
  usage(what, 'set the shared ledger: steno config set ledger postgres://user@host/database');

async function changeBaseUrl(context: Context, given: string): Promise<void> {
  const { out, settings } = context;
  const { sharedUrl: url } = context.ledgers;
  const baseUrl = settings.get('base-url').value ?? given;
  if (url === undefined)
    throw noSharedLedger('the local ledger remembers no base URL: only a shared one does');
  const options = await context.ledgers.sharedOptions(url);
  const previous = await whileWorking(out, 'Writing', () => moveAccount(options, baseUrl));
  await out.show(accountView({ account: options.account.name, baseUrl, previous }));
}

async function keepSeparate(context: Context, other: string): Promise<void> {
  const { out, settings } = context;
  const ledger = await context.ledgers.required('ledger account works on the ledger');
  if (other === ledger.profile)
    throw usage(`'${other}' is the account itself`, 'choose another with --profile or STENO_ACCOUNT');
  await whileWorking(out, 'Writing', () => keepAccountsSeparate(ledger, other));
  const baseUrl = settings.get('base-url').value;
  await out.show(accountView({ account: ledger.profile, baseUrl, previous: undefined }));
  out.note(
    `${ledger.profile} and ${other} are two accounts from now on: each may order what the other has ordered`,
  );
}

async function leaveLocalBehind(context: Context): Promise<void> {
  const { out, settings } = context;
  const { sharedUrl: url, localPath: path } = context.ledgers;
  if (url === undefined) throw noSharedLedger('no shared ledger is set: the local one is used');
  if (!existsSync(path)) throw usage(`there is no ledger in ${dirname(path)}`, 'nothing is left behind');
  const shared = await context.ledgers.required('ledger account works on the ledger');
  const local = await openLocal(context);
  await leaveFor(local, shared);
  const baseUrl = settings.get('base-url').value;
  await out.show(accountView({ account: shared.profile, baseUrl, previous: undefined }));
  out.note(`from now on, the orders in ${path} no longer block orders of account ${shared.profile}`);
}
