/** Which ledger a test runs with: the local one, or a shared one that each user has to themselves. */
import { execFileSync } from 'node:child_process';
import { inject } from 'vitest';

export const isShared = process.env.STENO_TEST_STORE === 'postgres';

/** Why a test is left out with a shared ledger. */
type Reason =
  | 'it is about the file of the local ledger'
  | 'only a heartbeat tells there whether a process is gone'
  | 'an account belongs to one base URL there'
  | 'each account of a base URL must be chosen there';

/** For `it.skipIf`: whether a test that holds only for the local ledger is to be left out. */
export const notShared = (_reason: Reason): boolean => isShared;

/** Flags that order without the ledger: where others share it, that needs --again. */
export const WITHOUT_LEDGER: readonly string[] = isShared ? ['--no-ledger', '--again'] : ['--no-ledger'];

let users = 0;

/** The setting of a new user; empty with the local ledger. */
export function ledgerSetting(): { STENO_LEDGER?: string } {
  if (!isShared) return {};
  users += 1;
  return { STENO_LEDGER: `${inject('postgres')}?schema=t${process.pid}_${users}_${Date.now() % 100_000}` };
}

/** Runs SQL on the tables of a shared ledger, as SQLite's tests have it. */
export function querySchema<Row>(url: string, sql: string, values: readonly (string | number)[]): Row[] {
  const { searchParams } = new URL(url);
  const schema = searchParams.get('schema') ?? 'steno';
  const plain = url.replace(/\?.*$/, '');
  let at = 0;
  const filled = sql.replace(/\?/g, () => literal(values[at++] ?? ''));
  const isQuery = /^\s*(SELECT|WITH)\b/i.test(filled);
  const statement = isQuery ? `SELECT coalesce(json_agg(t), '[]') FROM (${filled}) AS t` : filled;
  const printed = execFileSync('psql', ['-XAtq', '-d', plain, '-c', statement], {
    encoding: 'utf8',
    env: { ...process.env, PGOPTIONS: `-c search_path=${schema}` },
  });
  return isQuery ? (JSON.parse(printed) as Row[]) : [];
}

const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
