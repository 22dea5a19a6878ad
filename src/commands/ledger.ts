import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { getWebhook } from '../api/account.ts';
import { checkIsFree, countPrunable, pruneLedger, prunings, writeExport } from '../flows/ledger.ts';
import { ReplacedWebhooks } from '../flows/webhook.ts';
import { prepareForOrders } from '../ledger/accounts.ts';
import { bringBack, countRows, moveTo } from '../ledger/dump/copy.ts';
import { exportedLines } from '../ledger/dump/export.ts';
import { importLines, type TableCounts } from '../ledger/dump/import.ts';
import { mayWork, statusOfFile } from '../ledger/inspect.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { leaveFor, type Moved, readMoved, unmarkMoved, useIt } from '../ledger/moved.ts';
import { migrateShared, statusOfShared } from '../ledger/shared.ts';
import { lossOf } from '../ledger/stores/backups.ts';
import { errorCode, StenoError, systemReason, usage } from '../lib/errors.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { accountName } from '../lib/names.ts';
import { passwordOf, shownPostgresUrl } from '../lib/postgres-url.ts';
import { LatestProgress, type Report } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { nowMs, parseSince, timeAgo } from '../lib/time.ts';
import { moveLeftInto } from '../listen/waiting-events.ts';
import { checkAccount } from '../settings/settings.ts';
import { command, family, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { profileFlag } from '../spec/ledgers.ts';
import { flag, type OptionValues, text } from '../spec/options.ts';
import { whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import {
  factRecord,
  importedRecord,
  importedView,
  migratedView,
  migrationRecord,
  prunedRecord,
  statusRecord,
  statusView,
} from '../views/ledger.ts';
import { printed, writtenFile } from '../views/record.ts';
import * as schema from '../views/schema.ts';

const exportCommand = command({
  name: 'export',
  summary: 'Export the ledger as JSON lines',
  about:
    'Writes everything that the ledger knows about the selected profile to stdout or to a file, one row per line. ' +
    'To load it into another ledger, use steno ledger import.',
  details: [
    'The export contains orders, files, attempts, downloads and events, but no key, and nothing of listeners. An existing ' +
      'file is not replaced unless you add --force.',
  ],
  options: {
    output: text('-o, --output <file>', 'write to this file, which only you can read', {
      values: 'file',
      effect: 'local',
    }),
    force: flag('--force', 'with --output, replace an existing file', {
      needs: ['--output'],
      excludes: ['--output -'],
    }),
    allProfiles: flag('--all-profiles', 'include all profiles'),
  },
  examples: [
    ['steno ledger export -o ledger.jsonl', 'a backup'],
    ['steno ledger export --all-profiles | gzip > ledger.gz', 'all profiles, compressed'],
  ],
  refuses: { '--csv': 'an export is JSON lines' },
  effect: 'read',
  exits: LEDGER_EXITS,
  output: () => printed(schema.described('with -o; without -o, the lines of the export', writtenFile)),
  async run(context, { options }) {
    const { out } = context;
    const { output, allProfiles, force } = options;
    const file = output === '-' ? undefined : output;
    if (file !== undefined && !force) checkIsFree(file);
    const lines = exportedLines(await openWhole(context, 'ledger export reads the ledger'), allProfiles);
    if (file === undefined) {
      for await (const some of lines) if (!(await out.stdout.writePart(some))) break;
    } else {
      await whileWorking(out, 'Exporting', (report) => writeExport(file, lines, force, report));
      out.done(`written to ${file}`, { path: file }, file);
    }
  },
});

const importCommand = command({
  name: 'import',
  summary: 'Import rows that another ledger exported',
  about:
    'Imports what another ledger exported: all of it, or nothing if a line is invalid. You can repeat an import ' +
    'safely, and merge two ledgers this way.',
  details: [
    'Existing rows stay as they are, unless the export has newer data. Rows keep their profile (in a shared ' +
      'ledger, the account of that name) unless you name another with --as.',
  ],
  args: [{ name: '<file|->', help: 'exported file, or - for stdin', values: 'file' }],
  options: {
    as: text('--as <name>', 'import the rows into this profile or account', { values: 'account' }),
  },
  examples: [
    ['steno ledger import ledger.jsonl', 'on another machine'],
    ['steno ledger import ledger.jsonl --as acme', 'into the account acme'],
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
    'Removes events received before a certain time, along with their actions and the listener sessions that ' +
    'handled them. Asks first on a terminal; elsewhere it requires --yes.',
  details: [
    'Orders, files, attempts and downloads are never removed, nor are events with unfinished actions. Pruning ' +
      'frees the disk space. listen --keep prunes continuously.',
  ],
  options: {
    before: text('--before <time>', 'remove events from before this time: 2026-11-01, yesterday or 90d'),
    allProfiles: flag('--all-profiles', 'include all profiles'),
    dryRun: flag('--dry-run', 'show what would be removed; remove nothing'),
    yes: flag('-y, --yes', 'do not ask for confirmation'),
  },
  examples: [
    ['steno ledger prune --before 90d --dry-run', 'preview it'],
    ['steno ledger prune --before 90d --yes', 'from cron'],
  ],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => prunedRecord.printed,
  async run(context, { options, line }) {
    const { out, signal } = context;
    const { before, allProfiles, dryRun, yes } = options;
    if (before === undefined) throw usage('ledger prune requires --before', 'for example: --before 90d');
    const time = parseSince(before, nowMs(), '--before');
    if (!yes && !dryRun) checkIsTerminal(context, 'ledger prune', `prune --before ${before} --yes`);
    const ledger = await openWhole(context, 'ledger prune works on the ledger');
    const all = await prunings(ledger, allProfiles);
    if (dryRun) return out.show(prunedRecord.page(await countPrunable(all, time)));
    if (!yes) {
      const { events } = await countPrunable(all, time);
      await confirm(context, `Remove ${events} events from before ${time} for good?`, 'removed');
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
  summary: 'Show the location and condition of the ledger',
  about:
    'Shows where the ledger is, its size, version and account, whether this version of steno can use it, and what ' +
    'is unresolved. Changes nothing.',
  details: [
    'Unresolved means orders of unknown outcome (see steno attempts), and outcomes and events on this machine ' +
      'that have not reached the ledger yet. If the ledger was copied to a shared one, status shows where. The ' +
      'password of a shared ledger is not shown. If a shared ledger cannot be reached, steno exits with 7.',
  ],
  examples: [
    ['steno ledger status', 'one fact per line'],
    ['steno ledger status --json', 'for a script'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: () => printed(statusRecord.schema, factRecord.columnHelp),
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
        outcomes: await (await context.ledgers.waiting(account)).count('outcome'),
        events: await (await context.ledgers.waiting()).count('event'),
      }),
    );
    const loss = url === undefined ? lossOf(path) : undefined;
    if (loss) await out.warn(loss.message, loss.hint);
    if (!mayWork(status))
      await out.warn("it was made by a newer steno, and this version can't use it", 'update steno');
    else if (status.made && status.missing.length)
      await out.warn('it was made by an older steno', 'upgrade it with: steno ledger migrate');
  },
});

const migrate = command({
  name: 'migrate',
  summary: 'Update the shared ledger for this version of steno',
  about:
    'Updates a shared ledger to what this version of steno needs, and lists the changes. Others can keep working ' +
    'meanwhile.',
  details: [
    'Older versions of steno can still use the ledger as long as steno ledger status says so. A local ledger is ' +
      'updated whenever it is opened.',
  ],
  examples: [['steno ledger migrate', 'after updating steno']],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () =>
    printed(schema.object({ migrations: schema.arrayOf(schema.text) }), migrationRecord.columnHelp),
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
  to: text('--to <url|local>', 'postgres:// URL of the shared ledger, without its password; or local', {
    values: 'copy-target',
  }),
  leaveLocal: flag(
    '--leave-local',
    'with --to <url>, copy nothing: the local orders are not of its account',
    {
      needs: ['--to'],
      excludes: ['--to local', '--dry-run', '--without-shared'],
    },
  ),
  dryRun: flag('--dry-run', 'show what would be copied; write nothing'),
  withoutShared: flag('--without-shared', 'with --to local, copy nothing: the shared ledger is gone', {
    needs: ['--to'],
  }),
  yes: flag('-y, --yes', 'with --without-shared, do not ask', { needs: ['--without-shared'] }),
};

type CopyOptions = OptionValues<typeof copyOptions>;

const copy = command({
  name: 'copy',
  summary: 'Copy the ledger to a shared one, or back',
  about:
    'Copies everything that the local ledger knows about the selected profile into a shared ledger, or back with ' +
    '--to local. A copy can be repeated safely: no row is added twice.',
  details: [
    'In the shared ledger, the rows belong to an account: the setting account, or the name of the profile. The ' +
      'local ledger is then marked as moved: it can still be read, but steno no longer orders with it. --to local ' +
      'copies from the shared ledger (the setting ledger) into the local one, and removes the mark.',
    'steno refuses to copy while an order is being sent, a listener of this profile is running or has left actions ' +
      "unfinished, or the account's webhook is still that of a listener here.",
    'Where a shared ledger is set, steno orders nothing while the local one has orders that were never copied. If they ' +
      'belong to another account, say so once with --leave-local.',
    'If the shared ledger is gone for good, --to local --without-shared only removes the mark: the local ledger ' +
      'will not know what was ordered with the shared one since the copy. Asks first on a terminal; elsewhere it ' +
      'requires --yes.',
  ],
  options: copyOptions,
  examples: [
    ['steno ledger copy --to postgres://steno@db.example.com/steno', 'share it with the team'],
    ['steno ledger copy --to postgres://db.example.com/steno --leave-local', 'the local orders stay behind'],
    ['steno ledger copy --to local', 'copy it back'],
    ['steno ledger copy --to local --dry-run', 'preview it'],
    ['steno ledger copy --to local --without-shared', 'the database is gone for good'],
  ],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => importedRecord.printedList,
  async run(context, { options, line }) {
    const { to, leaveLocal, dryRun, withoutShared, yes } = options;
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
    if (leaveLocal) return leaveLocalBehind(context, to);
    await (to === 'local' ? copyBack(context, { dryRun, line }) : copyOut(context, to, { dryRun, line }));
  },
});

export const ledger = family({
  name: 'ledger',
  summary: 'Back up, move, share or clean up the ledger',
  about:
    'The ledger is the only list of your orders: the service keeps none. Move it to another machine with export ' +
    'and import, or share it with a team with copy.',
  details: ['steno backs up the ledger once a day, and keeps the last three copies beside it.'],
  children: [status, exportCommand, importCommand, prune, copy, migrate],
  examples: [
    ['steno ledger status', 'its location and condition'],
    ['steno ledger export -o ledger.jsonl', 'a backup'],
    ['steno ledger import ledger.jsonl', 'on another machine'],
    ['steno ledger prune --before 90d', 'remove old events'],
  ],
});

function checkIsTerminal({ stdin }: Context, what: string, line: string): void {
  if (stdin.isTTY) return;
  throw usage(`${what} requires --yes when not run in a terminal`, `run: steno ledger ${line}`);
}

async function confirm(context: Context, question: string, done: string): Promise<void> {
  if (!(await askPerson(context, (questions) => questions.confirm(question))))
    throw new StenoError('failed', `Cancelled. Nothing was ${done}.`);
}

/** The ledger with the events that ended listeners left on their way: after a prune they would come back. */
async function openWhole(context: Context, use: string): Promise<Ledger> {
  const ledger = await context.ledgers.required(use);
  await takeWaitingIn(context, ledger);
  return ledger;
}

async function takeWaitingIn(context: Context, ledger: Ledger): Promise<void> {
  const { out, signal } = context;
  const waiting = await context.ledgers.waiting();
  await moveLeftInto(ledger, { waiting, signal, onWarning: (text) => void out.warn(text) });
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
  const local = await context.ledgers.openLocal({
    use: 'to copy',
    hint: 'there is nothing to copy: use the shared ledger as it is',
  });
  const [to, account] = [shownPostgresUrl(url), target.account.name];
  if (dryRun && !(await statusOfShared(target, mask.hide)).made) {
    await out.show(importedView(await countRows(local)));
    return out.note('nothing was written; the shared ledger has no tables yet');
  }
  const shared = await context.ledgers.openShared(target);
  await prepareForOrders(shared, dryRun);
  await refuseOurWebhook(context);
  const moved: Moved = { to, identity: shared.db.identity, account, at: new Date(nowMs()).toISOString() };
  if (!dryRun) await takeWaitingIn(context, local);
  const counts = await allOrNothing(context, line, COPYING, (report) =>
    moveTo(shared, local, moved, { signal, dryRun, report }),
  );
  await out.show(importedView(counts));
  if (dryRun) return out.note('nothing was written');
  out.note(`the local ledger is marked as moved; it takes no more orders`);
  if (context.ledgers.sharedUrl === undefined)
    out.note(`use the shared one from now on: ${useIt(to, account)}`);
}

/** Events would still arrive here. Skips the call if no listener on this machine replaced a webhook. */
async function refuseOurWebhook(context: Context): Promise<void> {
  const webhooks = new ReplacedWebhooks(context.env);
  if (webhooks.isEmpty || !webhooks.find((await getWebhook(await context.connect())).url)) return;
  throw new StenoError('failed', "the account's webhook is still that of a listener here", {
    hint: 'restore the previous one: steno webhook set <url>, or start and stop steno listen --register; nothing was copied',
  });
}

async function leaveLocalBehind(context: Context, url: string): Promise<void> {
  const { out, ledgers } = context;
  const local = await ledgers.openLocal({ use: 'to leave behind', hint: 'nothing is left behind' });
  const shared = await ledgers.openShared(await ledgers.sharedOptions(url));
  await leaveFor(local, shared);
  await out.show(importedView([]));
  out.note(
    `the orders in ${ledgers.localPath} stay behind; they no longer block orders of account ${shared.profile}`,
  );
}

async function copyBack(context: Context, { dryRun, line }: Copying): Promise<void> {
  const { out, signal } = context;
  const url = context.ledgers.sharedUrl;
  if (url === undefined)
    throw usage(
      'ledger copy --to local copies from the shared ledger, but none is set',
      'name it with STENO_LEDGER=postgres://… or: steno config set ledger postgres://user@host/database',
    );
  const shared = await context.ledgers.openShared(await context.ledgers.sharedOptions(url));
  if (!dryRun) await takeWaitingIn(context, shared);
  const local = await context.ledgers.openLocal();
  const counts = await allOrNothing(context, line, COPYING, (report) =>
    bringBack(local, shared, { signal, dryRun, report }),
  );
  await out.show(importedView(counts));
  if (dryRun) return out.note('nothing was written');
  out.note('the shared ledger is unchanged; this machine will not know what others order there later');
  out.note(unsetLedger(profileFlag(context)));
}

/** The way out where the shared ledger is gone for good: orders use the local one again, with what it knew. */
async function comeBackWithoutShared(
  context: Context,
  { dryRun, yes }: Pick<CopyOptions, 'dryRun' | 'yes'>,
): Promise<void> {
  const { out } = context;
  const { localPath: path } = context.ledgers;
  const flag = profileFlag(context);
  const local = await context.ledgers.openLocal({
    use: 'to move back to',
    hint: 'to start a new one, which knows no orders: steno config unset ledger   (and unset STENO_LEDGER)',
  });
  const moved = await readMoved(local);
  if (!moved) return out.note(`the ledger of this machine is not marked as moved: ${unsetLedger(flag)}`);
  await out.warn(
    `the ledger of this machine does not know what was ordered with ${moved.to} since the move ${timeAgo(moved.at)}, here or by others: it could be ordered twice`,
    'import a backup of the database (steno ledger import), or add file by file: steno track <id>',
  );
  const waiting = await context.ledgers.waiting(moved.account);
  const outcomes = await waiting.count('outcome');
  if (outcomes)
    await out.warn(
      `${plural(outcomes, 'outcome')} on this machine never reached the shared ledger; see ${waiting.path}`,
      'add the files: steno track <id>',
    );
  if (dryRun) return out.note('nothing was written');
  if (!yes) {
    checkIsTerminal(context, 'ledger copy --without-shared', `copy --to local --without-shared --yes${flag}`);
    const question = 'Use the ledger of this machine for orders again, without the orders of the shared one?';
    await confirm(context, question, 'changed');
  }
  await unmarkMoved(local);
  out.done('orders use the ledger of this machine again', { path });
  out.note(unsetLedger(flag));
}

const unsetLedger = (profileFlag: string): string =>
  `use the local one from now on: steno config unset ledger${profileFlag}   (and unset STENO_LEDGER)`;
