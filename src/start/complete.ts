/**
 * Prints what a shell offers: `__complete <kind> [prefix]`. A program of its own, because a person waits for it
 * at every press of Tab. It prints no errors: they would land in the command line.
 */
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type IdSuggestion, IdSuggestions } from '../ledger/id-suggestions.ts';
import { migrations } from '../ledger/stores/schema.ts';
import { SqliteTransaction } from '../ledger/stores/sqlite.ts';
import { accountName } from '../lib/account-name.ts';
import { openForReading } from '../lib/sqlite.ts';
import { forRow } from '../lib/text.ts';
import { configFolder, ledgerPath, stateFolder } from '../settings/paths.ts';

const [asked = '', prefix = ''] = process.argv.slice(3);
const { env } = process;
/** These kinds are of the sandbox, whatever the profile: `sandbox-held-order`. */
const isOfSandbox = asked.startsWith('sandbox-');
const kind = isOfSandbox ? asked.slice('sandbox-'.length) : asked;
const profile = isOfSandbox ? 'sandbox' : accountName(env.STENO_PROFILE || 'default');

const kindsOfLedger = new Set(['audiofile', 'order', 'held-order', 'invoice', 'attempt', 'event']);

let usesShared = false;

async function complete(): Promise<void> {
  const suggestions = kindsOfLedger.has(kind) ? await fromLedger() : await fromSettings();
  // Not process.stdout: making that stream takes 3 ms.
  writeSync(1, suggestions.map(({ id, about }) => `${forRow(id)}\t${forRow(about)}\n`).join(''));
  // Speed: Node would free all its memory first. What was opened here is closed, but for a shared ledger.
  if (!usesShared) process.exit();
}

async function fromSettings(): Promise<IdSuggestion[]> {
  const { suggestFromSettings } = await import('./complete-settings.ts');
  return suggestFromSettings(kind, prefix, keptProfiles()) ?? [];
}

function fromLedger(): Promise<IdSuggestion[]> {
  if (profile === 'sandbox') return fromLocal();
  const kept = Object.entries(keptProfiles()).find(([name]) => accountName(name) === profile)?.[1];
  const ledger = env.STENO_LEDGER || kept?.ledger;
  return ledger ? fromShared(ledger, kept?.account ?? profile) : fromLocal();
}

async function fromLocal(): Promise<IdSuggestion[]> {
  const path = ledgerPath(stateFolder(env));
  if (!existsSync(path)) return [];
  const database = await openForReading(path, migrations);
  // Its statements need no transaction, and nothing else uses this connection.
  const db = new SqliteTransaction(database);
  const suggestions = await new IdSuggestions({ db, profile, hide: String }).suggest(kind, prefix);
  database.close();
  return suggestions;
}

async function fromShared(url: string, keptAccount: string): Promise<IdSuggestion[]> {
  usesShared = true;
  const { suggestFromShared } = await import('./complete-shared.ts');
  return suggestFromShared(url, env, {
    account: accountName(env.STENO_ACCOUNT || keptAccount),
    kind,
    prefix,
  });
}

/** Read by hand: loading the settings would take longer than all the rest. */
function keptProfiles(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  try {
    const { profiles } = JSON.parse(readFileSync(join(configFolder(env), 'config.json'), 'utf8'));
    return profiles;
  } catch {
    return {};
  }
}

void complete().catch(() => {});
