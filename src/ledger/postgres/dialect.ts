/** The tables' SQL is written once, for SQLite; this makes it Postgres's. */

/** Everything of ours that a statement may name, longest names first. */
const names = [
  'purchase_items',
  'purchase_names',
  'kept_invoices',
  'invoice_lines',
  'ignored_audio',
  'settlements',
  'purchases',
  'budgets',
  'uploads',
  'webhook_loans',
  'properties',
  'strftime',
  'event_files',
  'json_each',
  'downloads',
  'accounts',
  'actions',
  'claims',
  'duties',
  'events',
  'files',
  'runs',
];

const NAME = new RegExp(`(?<![.\\w"'])(?:${names.join('|')})(?![\\w"'])`, 'g');

/**
 * No session has a search path, because a pooler hands sessions around: so each name is qualified. CROSS JOIN only keeps
 * SQLite from changing the order of the tables. By their bytes, texts are compared in the collation C.
 */
export function toPostgres(sql: string, schema: string): string {
  let n = 0;
  return sql
    .replace(/\bCROSS JOIN\b/g, 'JOIN')
    .replace(/\bCOLLATE BINARY\b/g, 'COLLATE "C"')
    .replace(/\bjson_group_array\b/g, 'json_agg')
    .replace(/\bjson_array\b/g, 'json_build_array')
    .replace(NAME, (name) => `${schema}.${name}`)
    .replace(/\?/g, () => `$${++n}`);
}
