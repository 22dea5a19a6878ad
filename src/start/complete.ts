/**
 * Prints ids for a shell to offer: `__complete <kind> [prefix]`. A program of its own, because a person waits for it
 * at every press of Tab. It prints no errors: they would land in the command line.
 */
import { existsSync, writeSync } from 'node:fs';
import { IdSuggestions } from '../ledger/id-suggestions.ts';
import { migrations } from '../ledger/schema.ts';
import { openForReading } from '../lib/sqlite.ts';
import { forRow } from '../lib/text.ts';
import { ledgerPath, stateFolder } from '../settings/paths.ts';

const [kind = '', prefix = ''] = process.argv.slice(3);

async function complete(): Promise<void> {
  const path = ledgerPath(stateFolder(process.env));
  if (!existsSync(path)) return;
  const database = await openForReading(path, migrations);
  const profile = process.env.STENO_PROFILE || 'default';
  const suggestions = new IdSuggestions({ db: database, profile, hide: String }).suggest(kind, prefix);
  database.close();
  // Not process.stdout: making that stream takes 3 ms.
  writeSync(1, suggestions.map(({ id, about }) => `${forRow(id)}\t${forRow(about)}\n`).join(''));
}

void complete().catch(() => {});
