/**
 * Prints what a shell offers: `__complete <shell>` reads the command line from stdin, where no list of processes shows
 * a key in it; `__complete <kind> [prefix]` looks up ids or names of one kind. A program of its own, because a person
 * waits for it at every press of Tab. It prints no errors: they would land in the command line.
 */
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandNode, type Offer, shells } from '../completion/model.ts';
import { answer } from '../completion/shells.ts';
import { type IdSuggestion, IdSuggestions } from '../ledger/id-suggestions.ts';
import { migrations } from '../ledger/stores/schema.ts';
import { SqliteTransaction } from '../ledger/stores/sqlite.ts';
import type { Store } from '../ledger/stores/store.ts';
import { accountName } from '../lib/names.ts';
import { readPostgresUrl, shownPostgresUrl } from '../lib/postgres-url.ts';
import { openForReading } from '../lib/sqlite.ts';
import { forRow } from '../lib/text.ts';
import { isUrl } from '../lib/url.ts';
import { configFolder, ledgerPath, stateFolder } from '../settings/paths.ts';

const { env } = process;

/** To wait longer for a shared ledger, a person would rather type. */
const TIMEOUT_MS = 1_000;

let usesShared = false;

async function complete(): Promise<void> {
  const [asked = '', prefix = ''] = process.argv.slice(3);
  const shell = shells.find((each) => each === asked);
  const lines = shell
    ? await answer(shell, readFileSync(0, 'utf8').split('\0').slice(0, -1), { root: readTree(), lookUp })
    : (await lookUp(asked, prefix)).map((offer) => offer.join('\t'));
  // Not process.stdout: making that stream takes 3 ms.
  writeSync(1, lines.map((line) => `${line}\n`).join(''));
  // Speed: Node would free all its memory first. What was opened here is closed, but for a shared ledger.
  if (!usesShared) process.exit();
}

/** Written by the build, so that no command need be loaded. */
const readTree = (): CommandNode => JSON.parse(readFileSync(join(__dirname, 'completion.json'), 'utf8'));

const kindsOfLedger = new Set(['audiofile', 'order', 'held-order', 'invoice', 'attempt', 'event']);

async function lookUp(asked: string, prefix: string, selected = env.STENO_PROFILE): Promise<Offer[]> {
  // These kinds are of the sandbox, whatever the profile: `sandbox-held-order`.
  const kind = asked.replace(/^sandbox-|-or-path$/, '');
  const profile = asked.startsWith('sandbox-') ? 'sandbox' : accountName(selected || 'default');
  const found = kindsOfLedger.has(kind)
    ? await fromLedger(kind, prefix, profile)
    : fromSettings(kind, prefix);
  return found.map(({ id, about }) => [forRow(id), forRow(about)]);
}

async function fromLedger(kind: string, prefix: string, profile: string): Promise<IdSuggestion[]> {
  const [, kept] = Object.entries(keptProfiles()).find(([name]) => accountName(name) === profile) ?? [];
  const url = profile === 'sandbox' ? undefined : env.STENO_LEDGER || kept?.ledger;
  const account = accountName(env.STENO_ACCOUNT || String(kept?.account ?? profile));
  const ask = (db: Store, of: string): Promise<IdSuggestion[]> =>
    new IdSuggestions({ db, profile: of, hide: String }).suggest(kind, prefix);
  if (url) return fromShared(String(url), (db) => ask(db, account));
  const path = ledgerPath(stateFolder(env));
  if (!existsSync(path)) return [];
  const database = await openForReading(path, migrations);
  // Its statements need no transaction, and nothing else uses this connection.
  const suggestions = await ask(new SqliteTransaction(database), profile);
  database.close();
  return suggestions;
}

/** Without `ledger-password-command`, which may ask something on the terminal. Ends the program where it takes long. */
async function fromShared<Found>(url: string, ask: (db: Store) => Promise<Found>): Promise<Found> {
  usesShared = true;
  // A server may also accept the connection and then say nothing.
  const limit = setTimeout(() => process.exit(), TIMEOUT_MS);
  const { openForReading: open } = await import('../ledger/shared.ts');
  const address = readPostgresUrl(url, env);
  const password = async (): Promise<string> => address.password ?? '';
  const db = open(address, { timeoutMs: TIMEOUT_MS, queryTimeoutMs: TIMEOUT_MS, password });
  try {
    return await ask(db);
  } finally {
    clearTimeout(limit);
    void db.close();
  }
}

type Profiles = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Read by hand: loading the settings would take longer than all the rest. The file may have been edited by hand. */
function keptProfiles(): Profiles {
  try {
    const { profiles } = JSON.parse(readFileSync(join(configFolder(env), 'config.json'), 'utf8'));
    return Object.fromEntries(
      Object.entries(profiles).filter(([, profile]) => typeof profile === 'object' && profile !== null),
    ) as Profiles;
  } catch {
    return {};
  }
}

/** Names of profiles, and addresses that one of them uses. Never a key. */
function fromSettings(kind: string, prefix: string): IdSuggestion[] {
  const suggestions = (kindsOfSettings[kind]?.(keptProfiles()) ?? []).filter(({ id }) =>
    id.startsWith(prefix),
  );
  return suggestions.filter(({ id }, at) => suggestions.findIndex((each) => each.id === id) === at);
}

const kindsOfSettings: Readonly<Record<string, (profiles: Profiles) => IdSuggestion[]>> = {
  profile: (profiles) => [
    ...Object.entries(profiles).map(([id, profile]) => ({ id, about: hostOf(profile['base-url']) })),
    { id: 'default', about: 'used where none is named' },
    { id: 'sandbox', about: 'the service inside steno: no account, no cost' },
  ],
  account: (profiles) => [
    ...valuesOf(profiles, 'account'),
    ...Object.keys(profiles).map((id) => ({ id, about: 'the name of a profile' })),
  ],
  'base-url': (profiles) => valuesOf(profiles, 'base-url').filter(({ id }) => hostOf(id) !== ''),
  ledger: ledgersOf,
  'copy-target': (profiles) => [{ id: 'local', about: 'the ledger of this machine' }, ...ledgersOf(profiles)],
};

/** A setting's values, each with the profile that it is from; one that can't be read is not offered. */
function valuesOf(
  profiles: Profiles,
  setting: string,
  shown: (text: string) => string = String,
): IdSuggestion[] {
  return Object.entries(profiles).flatMap(([name, profile]) => {
    try {
      const id = shown(String(profile[setting] ?? ''));
      return id ? [{ id, about: `of the profile ${name}` }] : [];
    } catch {
      return [];
    }
  });
}

function ledgersOf(profiles: Profiles): IdSuggestion[] {
  return valuesOf(profiles, 'ledger', shownPostgresUrl);
}

/** Empty for what is no address, and for one that could hold a secret. */
function hostOf(address: unknown): string {
  if (typeof address !== 'string' || !isUrl(address)) return '';
  const { host, username, password, search, hash } = new URL(address);
  return username || password || search || hash ? '' : host;
}

void complete().catch(() => {});
