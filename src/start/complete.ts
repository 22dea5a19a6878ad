/**
 * Prints ids for a shell to offer: `__complete <kind> [prefix]`. A program of its own, because a person waits for it
 * at every press of Tab. It prints no errors: they would land in the command line.
 */
import { existsSync, writeSync } from 'node:fs';
import { migrations } from '../ledger/schema.ts';
import { Words } from '../ledger/words.ts';
import { openForReading } from '../lib/sqlite.ts';
import { forRow } from '../lib/text.ts';
import { ledgerPath, stateFolder } from '../settings/paths.ts';

const [kind = '', prefix = ''] = process.argv.slice(3);

async function complete(): Promise<void> {
  const path = ledgerPath(stateFolder(process.env));
  if (!existsSync(path)) return;
  const database = await openForReading(path, migrations);
  const words = new Words(database, process.env.STENO_PROFILE || 'default').find(kind, prefix);
  database.close();
  // Not process.stdout: making that stream takes longer than writing these few lines.
  writeSync(1, words.map(({ id, about }) => `${forRow(id)}\t${forRow(about)}\n`).join(''));
}

void complete().catch(() => {});
