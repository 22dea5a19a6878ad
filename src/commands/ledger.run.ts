import { createReadStream, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { checkIsFree, countPrunable, pruneLedger as prune, prunings, writeExport } from '../flows/ledger.ts';
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
import { accountName } from '../lib/account-name.ts';
import { nowMs } from '../lib/clock.ts';
import { errorCode, errorMessage, StenoError, usage } from '../lib/errors.ts';
import { goOnHint } from '../lib/go-on-line.ts';
import { untilInterrupted } from '../lib/interruption.ts';
import { passwordOf, shownPostgresUrl } from '../lib/postgres-url.ts';
import { LatestProgress, type Report } from '../lib/progress.ts';
import { parseSince } from '../lib/since.ts';
import { plural } from '../lib/text.ts';
import { moveLeftInto } from '../listen/spool-mover.ts';
import { checkAccount } from '../settings/settings.ts';
import { whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import { accountView, importedView, migratedView, prunedView, statusView } from '../views/ledger.ts';

interface ExportOptions {
  readonly output: string | undefined;
  readonly allProfiles: boolean;
  readonly damaged: boolean;
  readonly force: boolean;
}

export async function exportLedger(context: Context, { options }: Input<ExportOptions>): Promise<void> {
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
  if (incomplete.length) await out.warn(`some rows could not be read: of ${incomplete.join(', ')}`);
  else if (damaged) out.note('every row could be read');
}

/** What can be read of a damaged ledger, as the lines of an export. */
function salvageLedger(
  { mask, localLedgerPath: path }: Context,
  onTable: (salvaged: Salvaged) => void,
): AsyncIterable<string> {
  if (!existsSync(path)) throw usage(`there is no ledger in ${dirname(path)}`);
  return salvageFile(path, mask.hide, onTable);
}

/** The ledger with the events that ended listeners left on their way: after a prune they would come back. */
async function openWhole(context: Context, use: string): Promise<Ledger> {
  const ledger = await context.requireLedger(use);
  await takeSpoolIn(context, ledger);
  return ledger;
}

async function takeSpoolIn(context: Context, ledger: Ledger): Promise<void> {
  if (!context.hasSpool) return;
  const { out, signal } = context;
  const onWarning = (text: string): void => void out.warn(text);
  await moveLeftInto(ledger, { spool: await context.spool(), signal, onWarning });
}

interface ImportOptions {
  readonly as: string | undefined;
}

export async function importLedger(
  context: Context,
  { args, options, line }: Input<ImportOptions>,
): Promise<void> {
  const [file = ''] = args;
  if (options.as !== undefined) checkAccount(options.as);
  const as = options.as && accountName(options.as);
  const { out, signal } = context;
  // What comes from a pipe may take for ever.
  const source = addAbortSignal(signal, file === '-' ? context.stdin : createReadStream(file));
  const ledger = await context.requireLedger('ledger import writes to the ledger');
  // What is taken in must hold up orders of this account, also before its first one.
  await prepareForOrders(ledger, false);
  let profile: string | null = null;
  const onHeader = (header: { readonly profile: string | null }): void => {
    profile = as ?? header.profile;
  };
  const counts = await whileWorking(out, 'Importing', (report) =>
    importLines(ledger, source, { signal, as, moves: as !== undefined, onHeader, report }).catch((error) => {
      if (signal.aborted) throw nothingDone('imported', line);
      throw errorCode(error) ? usage(`can't read ${file}: ${errorMessage(error)}`) : error;
    }),
  );
  await out.show(importedView(counts));
  const orphaned = counts.reduce((sum, each) => sum + each.orphaned, 0);
  if (orphaned) await out.warn(`${orphaned} rows were left out: what they belong to was lost`);
  if (profile !== null && profile !== ledger.profile)
    await out.warn(
      `the rows are those of '${profile}', and this ledger is used as '${ledger.profile}': they hold up none of its orders`,
      `if they are the same account: steno ledger import <file> --as ${ledger.profile}`,
    );
}

interface PruneOptions {
  readonly before: string | undefined;
  readonly allProfiles: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

const nothingDone = (what: string, line: readonly string[]): StenoError =>
  new StenoError('interrupted', `interrupted: nothing was ${what}`, { hint: goOnHint('again with', line) });

export async function pruneLedger(context: Context, { options, line }: Input<PruneOptions>): Promise<void> {
  const { out, signal } = context;
  const { before, allProfiles, dryRun, yes } = options;
  if (before === undefined) throw usage('ledger prune requires --before', 'for example: --before 90d');
  const time = parseSince(before, nowMs());
  if (!yes && !dryRun && !context.stdin.isTTY)
    throw usage(
      'ledger prune requires --yes where there is no terminal to ask on',
      `run: steno ledger prune --before ${before} --yes`,
    );
  const ledger = await openWhole(context, 'ledger prune works on the ledger');
  const all = await prunings(ledger, allProfiles);
  if (dryRun) return out.show(prunedView(await countPrunable(all, time)));
  if (!yes) {
    const { events } = await countPrunable(all, time);
    const question = `Remove ${events} events from before ${time} for good?`;
    if (!(await askPerson(context, (questions) => questions.confirm(question))))
      throw new StenoError('failed', 'nothing was removed: the question was not answered with yes');
  }
  const latest = new LatestProgress();
  const summary = () => ({
    done: `${plural(latest.done, 'event')} removed so far, for good`,
    hint: goOnHint('the rest with', line),
  });
  const pruned = await untilInterrupted(signal, summary, () =>
    whileWorking(out, 'Removing', (report) =>
      prune(ledger, all, time, { signal, report: latest.through(report) }),
    ),
  );
  await out.show(prunedView(pruned));
}

interface CopyOptions {
  readonly to: string | undefined;
  readonly dryRun: boolean;
  readonly withoutShared: boolean;
  readonly yes: boolean;
}

export async function copyLedger(context: Context, { options, line }: Input<CopyOptions>): Promise<void> {
  const { to, dryRun, withoutShared, yes } = options;
  if (to === undefined) throw usage('ledger copy requires --to', 'see: steno ledger copy --help');
  if (!context.globals.ledger)
    throw usage("ledger copy reads the ledger, so it can't be used with --no-ledger");
  if (context.inSandbox)
    throw usage(
      'the ledger of the sandbox is never shared',
      'leave out --sandbox, or choose another profile',
    );
  if (withoutShared && to !== 'local')
    throw usage('--without-shared leads back to the local ledger', 'write: --to local --without-shared');
  if (withoutShared) return comeBackWithoutShared(context, { dryRun, yes });
  await (to === 'local' ? copyBack(context, { dryRun, line }) : copyOut(context, to, { dryRun, line }));
}

interface Copying {
  readonly dryRun: boolean;
  readonly line: readonly string[];
}

async function copyOut(context: Context, url: string, { dryRun, line }: Copying): Promise<void> {
  const { out, mask, signal } = context;
  if (passwordOf(url))
    await out.warn(
      'a password in --to shows to other users of this machine, in the list of processes, and to the history of the shell',
      'leave it out: PGPASSWORD or the setting ledger-password-command gives it',
    );
  const target = await context.sharedLedgerOptions(url);
  if (!existsSync(context.localLedgerPath))
    throw usage(
      `there is no ledger to copy in ${dirname(context.localLedgerPath)}`,
      'without one there is nothing to take along: use the shared one as it is',
    );
  const local = await openLocal(context);
  const [to, account] = [shownPostgresUrl(url), target.account.name];
  if (dryRun && !(await statusOfShared(target, mask.hide)).made) {
    await out.show(importedView(await countRows(local)));
    return out.note('nothing was written; the shared ledger has no tables yet');
  }
  const shared = await openSharedLedger(target, mask.hide);
  context.onExit(() => shared.close());
  await prepareForOrders(shared, dryRun, await context.keyMark(shared, false));
  const moved: Moved = { to, identity: shared.db.identity, account, at: new Date(nowMs()).toISOString() };
  if (!dryRun) await takeSpoolIn(context, local);
  const counts = await copying(context, line, (report) =>
    moveTo(shared, local, moved, { signal, dryRun, report }),
  );
  await out.show(importedView(counts));
  if (dryRun) return out.note('nothing was written');
  out.note(`the local ledger is marked as moved; nothing is ordered with it any more`);
  if (context.sharedLedger === undefined) out.note(`use the shared one from now on: ${useIt(to, account)}`);
}

async function copyBack(context: Context, { dryRun, line }: Copying): Promise<void> {
  const { out, mask, signal } = context;
  const url = context.sharedLedger;
  if (url === undefined)
    throw usage(
      'ledger copy --to local copies from the shared ledger, and none is set',
      'name it with STENO_LEDGER=postgres://… or: steno config set ledger postgres://user@host/database',
    );
  const shared = await openSharedLedger(await context.sharedLedgerOptions(url), mask.hide);
  context.onExit(() => shared.close());
  if (!dryRun) await takeSpoolIn(context, shared);
  const local = await openLocal(context);
  const counts = await copying(context, line, (report) =>
    bringBack(local, shared, { signal, dryRun, report }),
  );
  await out.show(importedView(counts));
  if (dryRun) return out.note('nothing was written');
  out.note('the shared ledger stays as it is: what others order with it from now on is not known here');
  out.note(unsetLedger(context.profileFlag));
}

/** The way out where the shared ledger is gone for good: orders use the local one again, with what it knew. */
async function comeBackWithoutShared(
  context: Context,
  { dryRun, yes }: Pick<CopyOptions, 'dryRun' | 'yes'>,
): Promise<void> {
  const { out, stateFolder, localLedgerPath: path, profileFlag } = context;
  if (!existsSync(path))
    throw usage(
      `there is no ledger in ${dirname(path)} to come back to`,
      'to begin a new one, which knows of no order: steno config unset ledger   (and unset STENO_LEDGER)',
    );
  const local = await openLocal(context);
  const moved = await readMoved(local);
  if (!moved)
    return out.note(`the ledger of this machine is not marked as moved: ${unsetLedger(profileFlag)}`);
  await out.warn(
    `what was ordered with ${moved.to} since ${moved.at}, here or by others, is not known to the ledger of this machine and could be bought again`,
    'take it in from a backup of the database (steno ledger import), or file by file: steno track <id>',
  );
  const waiting = Outbox.count(join(stateFolder, 'outcomes'), moved.account);
  if (waiting)
    await out.warn(
      `${plural(waiting, 'outcome')} on this machine never reached it: see ${join(stateFolder, 'outcomes')}`,
      'take the files in with: steno track <id>',
    );
  if (dryRun) return out.note('nothing was written');
  if (!yes && !context.stdin.isTTY)
    throw usage(
      'ledger copy --without-shared requires --yes where there is no terminal to ask on',
      `run: steno ledger copy --to local --without-shared --yes${profileFlag}`,
    );
  const question = 'Order with the ledger of this machine again, without what the shared one knows?';
  if (!yes && !(await askPerson(context, (questions) => questions.confirm(question))))
    throw new StenoError('failed', 'nothing was changed: the question was not answered with yes');
  await unmarkMoved(local);
  out.done('orders use the ledger of this machine again', { path });
  out.note(unsetLedger(profileFlag));
}

const unsetLedger = (profileFlag: string): string =>
  `use the local one from now on: steno config unset ledger${profileFlag}   (and unset STENO_LEDGER)`;

async function copying(
  { out, signal }: Context,
  line: readonly string[],
  work: (report: Report) => Promise<TableCounts[]>,
): Promise<TableCounts[]> {
  try {
    return await whileWorking(out, 'Copying', work);
  } catch (error) {
    if (signal.aborted) throw nothingDone('copied', line);
    throw error;
  }
}

/** The ledger of this machine, also where a shared one is set. */
async function openLocal(context: Context): Promise<Ledger> {
  const { localLedgerPath, settings, mask, signal, out } = context;
  const onTrouble = (text: string, hint?: string): Promise<void> => out.warn(text, hint);
  const ledger = await openLedger(localLedgerPath, settings.profileName, mask.hide, signal, onTrouble);
  context.onExit(() => ledger.close());
  return ledger;
}

export async function showStatus(context: Context): Promise<void> {
  const { out, settings, mask, signal, sharedLedger: url, localLedgerPath: path } = context;
  const options = url === undefined ? undefined : await context.sharedLedgerOptions(url);
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
      outcomes: Outbox.count(join(context.stateFolder, 'outcomes'), account),
      events: context.hasSpool ? await (await context.spool()).countAll() : 0,
    }),
  );
  const loss = url === undefined ? lossOf(path) : undefined;
  if (loss) await out.warn(loss.message, loss.hint);
  if (!mayWork(status))
    await out.warn('it is of a newer steno, which this one can not follow', 'update steno');
  else if (status.made && status.missing.length)
    await out.warn('it is of an older steno', 'bring it up to date with: steno ledger migrate');
}

export async function migrateLedger(context: Context): Promise<void> {
  const { out, sharedLedger: url } = context;
  if (url === undefined) {
    await out.show(migratedView([]));
    return out.note('the local ledger is brought up to date whenever it is opened');
  }
  const options = await context.sharedLedgerOptions(url);
  const done = await whileWorking(out, 'Migrating', () => migrateShared(options));
  await out.show(migratedView(done));
  out.note(done.length ? 'the shared ledger is up to date now' : 'the shared ledger is up to date already');
}

interface AccountOptions {
  readonly separateFrom: string | undefined;
  readonly leaveLocal: boolean;
}

export async function changeAccount(
  context: Context,
  { options: { separateFrom, leaveLocal } }: Input<AccountOptions>,
): Promise<void> {
  const { globals, inSandbox } = context;
  if (globals.baseUrl === undefined && separateFrom === undefined && !leaveLocal)
    throw usage(
      'ledger account requires --base-url, --separate-from or --leave-local',
      'see: steno ledger account --help',
    );
  if (inSandbox) throw usage('the sandbox has one account', 'leave out --sandbox, or choose another profile');
  if (separateFrom !== undefined) return keepSeparate(context, accountName(separateFrom));
  return leaveLocal ? leaveLocalBehind(context) : changeBaseUrl(context, globals.baseUrl ?? '');
}

const noSharedLedger = (what: string): StenoError =>
  usage(what, 'set the shared one with: steno config set ledger postgres://user@host/database');

async function changeBaseUrl(context: Context, given: string): Promise<void> {
  const { out, settings, sharedLedger: url } = context;
  const baseUrl = settings.get('base-url').value ?? given;
  if (url === undefined)
    throw noSharedLedger('the local ledger remembers no base URL: only a shared one does');
  const options = await context.sharedLedgerOptions(url);
  const former = await whileWorking(out, 'Writing', () => moveAccount(options, baseUrl));
  await out.show(accountView({ account: options.account.name, baseUrl, former }));
}

async function keepSeparate(context: Context, other: string): Promise<void> {
  const { out, settings } = context;
  const ledger = await context.requireLedger('ledger account works on the ledger');
  if (other === ledger.profile)
    throw usage(`'${other}' is the account itself`, 'choose another with --profile or STENO_ACCOUNT');
  await whileWorking(out, 'Writing', () => keepAccountsSeparate(ledger, other));
  const baseUrl = settings.get('base-url').value;
  await out.show(accountView({ account: ledger.profile, baseUrl, former: undefined }));
  out.note(
    `${ledger.profile} and ${other} are two accounts from now on: each may order what the other has on order`,
  );
}

async function leaveLocalBehind(context: Context): Promise<void> {
  const { out, settings, sharedLedger: url, localLedgerPath: path } = context;
  if (url === undefined) throw noSharedLedger('no shared ledger is set: the local one is used');
  if (!existsSync(path)) throw usage(`there is no ledger in ${dirname(path)}`, 'nothing is left behind');
  const shared = await context.requireLedger('ledger account works on the ledger');
  const local = await openLocal(context);
  await leaveFor(local, shared);
  const baseUrl = settings.get('base-url').value;
  await out.show(accountView({ account: shared.profile, baseUrl, former: undefined }));
  out.note(`from now on, the orders in ${path} no longer block orders of account ${shared.profile}`);
}
