/**
 * Prints ids for a shell to offer: `__complete <kind> [prefix]`. A program of its own, because a person waits for it
 * at every press of Tab. It never fails loudly.
 */
import { existsSync } from 'node:fs';
import { Ledger } from './ledger/ledger.ts';
import { ledgerPath, stateFolder } from './settings/paths.ts';
import { forRow } from './ui/text.ts';

const [kind = '', prefix = ''] = process.argv.slice(3);

async function complete(): Promise<string> {
  const path = ledgerPath(stateFolder(process.env));
  if (!existsSync(path)) return '';
  const ledger = await Ledger.open(path, process.env.STENO_PROFILE || 'default', String);
  const words = ledger.words.find(kind, prefix);
  ledger.close();
  return words.map(({ id, about }) => `${forRow(id)}\t${forRow(about)}\n`).join('');
}

complete().then(
  (text) => process.stdout.write(text),
  () => {},
);
