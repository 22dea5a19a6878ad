/** `npm run proof:table`: writes the README's table from the figures that are kept. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readProofs } from './record.ts';
import { withTable } from './table.ts';

writeFileSync('README.md', withTable(readFileSync('README.md', 'utf8'), readProofs()));
