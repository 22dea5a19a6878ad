import { JsonNumber, type JsonObject, toJson } from '../lib/json.ts';
import { money } from './prices.ts';
import { Refusal } from './refusal.ts';
import { currentStep } from './steps.ts';
import type { ServiceContext } from './store.ts';

export interface FileRow {
  readonly id: string;
  /** Null for the two sample files. */
  readonly order: string | null;
  readonly link: string;
  readonly title: string;
  /** Speakers, separated by pipes. */
  readonly names: string;
  readonly notes: string;
  readonly minutes: number;
  readonly stars: number;
  readonly sku: string;
  /** Add-ons and upgrades, separated by commas. */
  readonly extras: string;
  readonly test: number;
}

export function getFile({ db }: ServiceContext, id: string): FileRow {
  const file = db.get<FileRow>('SELECT * FROM files WHERE id = ?', id);
  if (!file) throw new Refusal(404, `There is no audiofile ${id}.`);
  return file;
}

export const stateOf = ({ db, now }: ServiceContext, id: string): string =>
  currentStep(db, `file/${id}`, now).state;

/** An upgraded file is delivered once more. */
export const countDeliveries = ({ db, now }: ServiceContext, id: string): number =>
  db.get<{ count: number }>(
    "SELECT count(*) AS count FROM steps WHERE subject = ? AND state = 'Delivered' AND at <= ?",
    `file/${id}`,
    now,
  )?.count ?? 0;

export function fileJson(context: ServiceContext, file: FileRow): JsonObject {
  const { invoices, cents } = billing(context, file.id);
  return toJson({
    id: new JsonNumber(file.id),
    statename: stateOf(context, file.id),
    names: file.names,
    notes: file.notes,
    originallink: file.link,
    title: file.title,
    duration: file.minutes,
    description: `${file.title}, ${file.minutes} min, ordered as ${[file.sku, file.extras].filter(Boolean).join(',')}`,
    quality_stars: file.stars,
    orders: file.order === null ? undefined : [file.order],
    invoices: invoices.length === 0 ? undefined : invoices.map((id) => new JsonNumber(id)),
    total: money(cents),
  }) as JsonObject;
}

function billing({ db, now }: ServiceContext, file: string): { invoices: string[]; cents: number } {
  const rows = db.all<{ invoice: string; cents: number }>(
    `SELECT invoice, sum(quantity * cents) AS cents FROM items WHERE file = ? AND at <= ?
     GROUP BY invoice ORDER BY min(rowid)`,
    file,
    now,
  );
  return {
    invoices: rows.map(({ invoice }) => invoice),
    cents: rows.reduce((sum, { cents }) => sum + cents, 0),
  };
}
