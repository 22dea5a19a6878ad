/** The ledger: of this machine, and the one that a team shares. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
import { Outbox } from '../../ledger/outbox.ts';
import { type SharedLedgerOptions, viewShared } from '../../ledger/shared.ts';
import { Spool } from '../../ledger/spool.ts';
import { lossOf, restoreHint } from '../../ledger/stores/backups.ts';
import { bytesText, plural } from '../../lib/text.ts';
import { durationText, monotonicMs } from '../../lib/time.ts';
import { ledgerPath, spoolPath, stateFolder } from '../../settings/paths.ts';
import { type Finding, fail, ok, once, type Setup, skipped, warn, within } from './check.ts';
import { accessTrouble } from './machine.ts';

const NONE = 'none yet; the first order creates it';

export class LedgerChecks {
  readonly #setup: Setup;
  readonly #open: LedgerView[] = [];
  #isClosed = false;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  readonly #local = once(async (): Promise<LedgerView | undefined> => {
    const { hide } = this.#setup;
    return this.#kept(await viewFile(this.#path, this.#profile, hide));
  });

  /** The shared one, and how long it took to connect. */
  readonly #shared = once(async (): Promise<{ view: LedgerView; connectMs: number } | undefined> => {
    const { limitMs, signal, hide, offline } = this.#setup;
    const options = await this.#options();
    if (!options || offline) return undefined;
    const startedAt = monotonicMs();
    const view = await within(limitMs, signal, async () => this.#kept(await viewShared(options, hide)));
    return { view, connectMs: monotonicMs() - startedAt };
  });

  readonly #options = once(
    async (): Promise<SharedLedgerOptions | undefined> =>
      this.#setup.inSandbox ? undefined : this.#setup.sharedLedger(),
  );

  get #profile(): string {
    return this.#setup.settings().settings.profileName;
  }

  get #path(): string {
    return ledgerPath(stateFolder(this.#setup.env));
  }

  /** One that comes after the end, because it took too long, is closed at once. */
  #kept<View extends LedgerView | undefined>(view: View): View {
    if (view && this.#isClosed) void view.close().catch(() => {});
    else if (view) this.#open.push(view);
    return view;
  }

  /** The ledger that commands use, if it can be read and has all its tables. */
  async view(): Promise<LedgerView | undefined> {
    const isShared = (await this.#options()) !== undefined;
    const view = isShared ? (await this.#shared())?.view : await this.#local();
    return view && isUsable(view.status) ? view : undefined;
  }

  /** Undefined where it can't be read, which its own check says. */
  async facts(): Promise<LedgerFacts | undefined> {
    try {
      const view = await this.view();
      return await (view && factsOf(view.context));
    } catch {
      return undefined;
    }
  }

  /** Whether nothing was ever kept here. */
  async isNew(): Promise<boolean> {
    if (existsSync(this.#path) || lossOf(this.#path)) return false;
    return (await this.#options().catch(() => null)) === undefined;
  }

  /** Opens, has all its tables, and is not damaged. */
  async checkFile(): Promise<Finding> {
    const path = this.#path;
    const isUsed = (await this.#options().catch(() => undefined)) === undefined;
    const unused = isUsed ? '' : ' (not used: a shared one is set)';
    const folder = stateFolder(this.#setup.env);
    if (existsSync(folder) && !statSync(folder).isDirectory()) return skipped(`${folder} is not a folder`);
    const view = await this.#local();
    const loss = lossOf(path);
    if (loss && isUsed) return fail(loss.message, loss.hint);
    if (!view) return isUsed ? ok(`${path}: ${NONE}`) : ok('none on this machine: a shared one is set');
    const { migrations, missing, bytes } = view.status;
    const damage = view.findDamage?.();
    if (damage !== undefined) return fail(`${path} is damaged: ${damage}`, restoreHint(path));
    const what = `${path}, ${bytesText(bytes)}, version ${migrations.at(-1) ?? ''}`;
    const state = view.findDamage ? 'no damage found' : 'too large to check for damage here';
    if (missing.length) return ok(`${what}, ${state}; the next command upgrades it${unused}`);
    return accessTrouble(path, 0o600) ?? ok(`${what}, ${state}${unused}`);
  }

  /** Connects, has all its tables, and belongs to the same service. */
  async checkShared(): Promise<Finding> {
    const options = await this.#options();
    if (!options) return ok('none set: the ledger of this machine is used');
    const { address, account } = options;
    const where = `${address.host}:${address.port}/${address.database}`;
    if (this.#setup.offline) return skipped(`${where} was not checked (--offline)`);
    const { view, connectMs } = (await this.#shared()) ?? {};
    if (!view) return skipped(`${where} was not checked`);
    const store = view.status;
    const tls =
      { off: 'without TLS', verified: 'TLS with a verified certificate' }[address.tls as string] ??
      'TLS without a verified certificate';
    const what = `${where}, PostgreSQL ${store.server}, connected in ${durationText(connectMs ?? 0)}, ${tls}, account ${account.name}`;
    if (!mayWork(store))
      return fail(`${what}: it was made by a newer steno, which this one can't work with`, 'update steno');
    if (!store.made)
      return warn(
        `${what}: it has no tables yet`,
        'create them with: steno ledger migrate   (the first order does so too)',
      );
    if (store.missing.length)
      return warn(`${what}: it was made by an older steno`, 'upgrade it with: steno ledger migrate');
    const known = store.accounts.find(({ name }) => name === account.name);
    if (known && account.baseUrl !== undefined && !isSame(known.baseUrl, account.baseUrl))
      return fail(
        `${what}: the account belongs to ${known.baseUrl}, but the base URL is ${account.baseUrl}`,
        otherServiceHint(account.name, account.baseUrl, address.schema),
      );
    return ok(what);
  }

  /** What was sent and has no known end, what is not handed over, and whether all of it has moved. */
  async checkOrders(): Promise<Finding> {
    const options = await this.#options().catch(() => null);
    if (options === null) return skipped("the configured ledger can't be used");
    const account = options?.account.name ?? this.#profile;
    const waiting = Outbox.count(join(stateFolder(this.#setup.env), 'outcomes'), account);
    const facts = await this.facts();
    if (facts?.moved && !options) return fail(movedText(facts.moved), movedHint(facts.moved));
    if (waiting)
      return warn(
        `${plural(waiting, 'outcome')} on this machine not yet in the ledger`,
        'the next command that can write to the ledger records them: steno files',
      );
    if (await this.isNew()) return ok('none placed from here yet');
    if (!facts) return skipped('the ledger was not read');
    if (facts.unclear)
      return warn(`${plural(facts.unclear, 'order')} without a known outcome`, 'see: steno attempts');
    return ok('every order has a known outcome');
  }

  /** Deliveries in the spool that are on no way into the ledger. */
  async checkSpool(): Promise<Finding> {
    const troubles: string[] = [];
    const path = spoolPath(stateFolder(this.#setup.env));
    const spool = new Spool(path, this.#profile, (text) => troubles.push(text));
    const count = await spool.countAll();
    spool.close();
    if (troubles[0] !== undefined) return fail(troubles[0], 'make it readable and writable');
    if (count === 0) return ok('no events are waiting for the ledger');
    const listeners = (await this.facts())?.listeners ?? 0;
    const text = `${plural(count, 'event')} on the way to the ledger`;
    return listeners
      ? ok(`${text}, moved by the running listener`)
      : warn(text, 'the next steno listen moves them');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#open.map((view) => view.close().catch(() => {})));
  }
}

const isSame = (one: string, other: string): boolean => one.replace(/\/+$/, '') === other.replace(/\/+$/, '');
