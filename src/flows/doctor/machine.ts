/** What is on this machine: settings, the state folder and its disk, and the ledger, also one that a team shares. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { otherServiceHint } from '../../ledger/accounts.ts';
import {
  factsOf,
  isUsable,
  type LedgerFacts,
  type LedgerView,
  mayWork,
  viewFile,
} from '../../ledger/inspect.ts';
import { movedHint, movedText } from '../../ledger/moved.ts';
import { type SharedLedgerOptions, viewShared } from '../../ledger/shared.ts';
import { lossOf, restoreHint } from '../../ledger/stores/backups.ts';
import { Waiting, waitingPath } from '../../ledger/waiting.ts';
import { systemReason } from '../../lib/errors.ts';
import { littleRoom } from '../../lib/fs.ts';
import { bytesText, plural, shellWord } from '../../lib/text.ts';
import { durationText, monotonicMs } from '../../lib/time.ts';
import { configPath } from '../../settings/config-file.ts';
import { canBeNarrowed, folderRefusal, ledgerPath, stateFolder } from '../../settings/paths.ts';
import { type Finding, fail, ok, once, type Setup, skipped, warn, within } from './check.ts';

const OTHER_FOLDER = 'or name another folder with STENO_STATE_DIR';
const STICKY = 0o1000;

/** A warning where other users can open a file or folder, or it is theirs. Windows has no such modes. */
function accessTrouble(path: string, mode: 0o600 | 0o700): Finding | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  const us = process.getuid?.();
  if (!stats || us === undefined) return undefined;
  if (stats.uid !== us && us !== 0)
    return warn(`${path} belongs to another user`, `if it is yours: sudo chown ${us} ${shellWord(path)}`);
  // Of a shared folder, such as /tmp, the mode is not ours to change.
  if ((stats.mode & 0o077) === 0 || stats.mode & STICKY) return undefined;
  const shown = (stats.mode & 0o777).toString(8).padStart(4, '0');
  return warn(
    `other users can open ${path} (mode ${shown})`,
    `run: chmod ${mode.toString(8)} ${shellWord(path)}`,
  );
}

/** The config file, the profile, and whether each setting is valid. */
export function checkSettings({ env, settings, settingsError }: Setup): Finding {
  if (settingsError) throw settingsError;
  for (const name of settings.names) settings.get(name);
  const path = configPath(env);
  const used = `profile ${settings.profileName} (${settings.profileSource})`;
  if (!existsSync(path)) return ok(`${used}; ${path} does not exist yet, steno login creates it`);
  return accessTrouble(path, 0o600) ?? accessTrouble(dirname(path), 0o700) ?? ok(`${used}; ${path}`);
}

/** The state folder can be used, and there is room. */
export function checkDisk({ env }: Setup): Finding {
  const folder = stateFolder(env);
  const found = nearestExisting(folder);
  const stats = statSync(found);
  if (!stats.isDirectory()) return fail(`${found} is not a folder`, `move it away, ${OTHER_FOLDER}`);
  try {
    accessSync(found, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return fail(`${found} can't be written to: ${systemReason(error)}`, `make it writable, ${OTHER_FOLDER}`);
  }
  if (found === folder) {
    if (!canBeNarrowed(folder, stats)) throw folderRefusal(folder, 'STENO_STATE_DIR');
    const trouble = accessTrouble(folder, 0o700);
    if (trouble) return trouble;
  }
  const { bavail, blocks, bsize } = statfsSync(found);
  if (blocks === 0) return skipped(`the drive of ${folder} does not report its free space`);
  const room = `${bytesText(bavail * bsize)} free for ${folder}`;
  if (littleRoom(found) === undefined) return ok(room);
  return warn(
    `the disk is nearly full: ${room}`,
    'free some space, or remove old events: steno ledger prune --before 90d',
  );
}

const nearestExisting = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));

export class LedgerCheck {
  readonly #setup: Setup;
  readonly #path: string;
  readonly #open: LedgerView[] = [];
  #isClosed = false;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#path = ledgerPath(stateFolder(setup.env));
  }

  readonly #options = once(async () => (this.#setup.inSandbox ? undefined : this.#setup.sharedLedger()));

  /** The ledger that commands use, opened for looking; undefined where there is none yet. */
  readonly #view = once(async (): Promise<LedgerView | undefined> => {
    const { limitMs, signal, hide, offline, settings } = this.#setup;
    const options = await this.#options();
    if (!options) return this.#kept(await viewFile(this.#path, settings.profileName, hide));
    if (offline) return undefined;
    return within(limitMs, signal, async () => this.#kept(await viewShared(options, hide)));
  });

  /** One that comes after the end, because it took too long, is closed at once. */
  #kept<View extends LedgerView | undefined>(view: View): View {
    if (view && this.#isClosed) void view.close().catch(() => {});
    else if (view) this.#open.push(view);
    return view;
  }

  /** Undefined where it can't be read, which its own check says. */
  async facts(): Promise<LedgerFacts | undefined> {
    try {
      const view = await this.#view();
      return view && isUsable(view.status) ? await factsOf(view.context) : undefined;
    } catch {
      return undefined;
    }
  }

  async check(): Promise<Finding> {
    const options = await this.#options();
    const found = options ? await this.#checkShared(options) : await this.#checkFile();
    if (found.status !== 'ok') return found;
    const account = options?.account.name ?? this.#setup.settings.profileName;
    const waiting = await new Waiting(waitingPath(dirname(this.#path)), account).count('outcome');
    if (waiting)
      return warn(
        `${plural(waiting, 'outcome')} on this machine not yet in the ledger`,
        'the next command that can write to the ledger records them: steno files',
      );
    const facts = await this.facts();
    if (facts?.moved && !options) return fail(movedText(facts.moved), movedHint(facts.moved));
    if (!facts?.unclear) return found;
    const orders = `${plural(facts.unclear, 'order')} without a known outcome`;
    return warn(`${found.message}; ${orders}`, 'see: steno attempts');
  }

  /** Opens, has all its tables, and is not damaged. */
  async #checkFile(): Promise<Finding> {
    const path = this.#path;
    const folder = dirname(path);
    if (existsSync(folder) && !statSync(folder).isDirectory()) return skipped(`${folder} is not a folder`);
    const view = await this.#view();
    const loss = lossOf(path);
    if (loss) return fail(loss.message, loss.hint);
    if (!view) return ok(`${path}: none yet; the first order creates it`);
    const damage = view.findDamage?.();
    if (damage !== undefined) return fail(`${path} is damaged: ${damage}`, restoreHint(path));
    const state = view.findDamage ? 'no damage found' : 'too large to check for damage here';
    const what = `${path}, ${bytesText(view.status.bytes)}, ${state}`;
    if (view.status.missing.length) return ok(`${what}; the next command upgrades it`);
    return accessTrouble(path, 0o600) ?? ok(what);
  }

  /** Connects, has all its tables, and belongs to the same service. */
  async #checkShared({ address, account }: SharedLedgerOptions): Promise<Finding> {
    const where = `${address.host}:${address.port}/${address.database}`;
    const startedAt = monotonicMs();
    const view = await this.#view();
    if (!view) return skipped(`${where} was not checked (--offline)`);
    const store = view.status;
    const took = durationText(monotonicMs() - startedAt);
    const tls = { off: 'without TLS', verified: 'TLS' }[address.tls as string] ?? 'TLS, unverified';
    const what = `${where}, PostgreSQL ${store.server}, opened in ${took}, ${tls}, account ${account.name}`;
    if (!mayWork(store)) return fail(`${what}: it was made by a newer steno`, 'update steno');
    const missing = store.made ? 'it was made by an older steno' : 'it has no tables yet';
    if (!store.made || store.missing.length) return warn(`${what}: ${missing}`, 'run: steno ledger migrate');
    const { baseUrl } = account;
    const known = store.accounts.find(({ name }) => name === account.name)?.baseUrl;
    if (known === undefined || baseUrl === undefined || bare(known) === bare(baseUrl)) return ok(what);
    const hint = otherServiceHint(account.name, baseUrl, address.schema);
    return fail(`${what}: the account belongs to ${known}, but the base URL is ${baseUrl}`, hint);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#open.map((view) => view.close().catch(() => {})));
  }
}

const bare = (url: string): string => url.replace(/\/+$/, '');
