/** A manifest in CSV: a header, then a row for each audio; commas, semicolons or tabs, as the header has them. */
import type { CsvError } from 'csv-parse/sync';
import { findOrderSku } from '../../catalog/skus.ts';
import { errorMessage, StenoError, usage } from '../../lib/errors.ts';
import {
  fieldName,
  HEADER,
  isField,
  type ManifestReading,
  type OnRow,
  type Place,
  placeText,
  type Row,
  rowAt,
  splitNames,
  splitSkus,
  splitTags,
  withPosition,
} from './manifest-row.ts';

const SEPARATOR = /[,;\t]/;

/** Whether the first line of a manifest names columns. */
export const isCsvHeader = (line: string): boolean =>
  !startsWithUrl(line) && (SEPARATOR.test(line) || isField(line.replaceAll('"', '')));

const startsWithUrl = (line: string): boolean => /^["']?https?:/i.test(line);

/** Whether lines that begin with a URL are rows of a CSV whose header is missing. */
export function lacksHeader(where: string, lines: Iterable<string>): boolean {
  let found = false;
  for (const line of lines) {
    if (/\.[ct]sv$/i.test(where)) return true;
    if (isQuotedUrl(line)) return false;
    if (line.startsWith('"')) return true;
    // A URL may hold commas and semicolons too: only if all do are they taken for separators.
    if (!isUrlAndMore(line)) return false;
    found = true;
  }
  return found;
}

const isSku = (text: string): boolean => findOrderSku(text.trim()) !== undefined;

/** A URL in quotes, and nothing else. */
export const isQuotedUrl = (line: string): boolean => /^"https?:[^"]*"$/i.test(line);

function isUrlAndMore(line: string): boolean {
  const [, separator, rest = ''] = /^https?:\/\/[^\s,;]+(,|;|\s*\t)(.*)$/i.exec(line) ?? [];
  if (separator === undefined) return false;
  // A comma in the query is part of the URL, unless a SKU or a text of several words follows.
  const before = line.slice(0, line.length - rest.length);
  if (separator === ',' && before.includes('?') && !/\s/.test(rest) && !rest.split(',').some(isSku))
    return false;
  // In a URL, what follows a semicolon is `name=value`.
  return separator !== ';' || rest.split(';').some((part) => !part.includes('='));
}

export const headerMissing = (at: string): StenoError =>
  usage(
    `${at}: this looks like CSV, but the header line is missing`,
    `begin it with a line that names its columns: ${HEADER} (a URL that holds commas goes in quotes)`,
  );

/** `bytes` begin with the header, which is at that line of the manifest. */
export async function fromCsv(
  bytes: Buffer,
  { where, line: firstLine }: Place,
  onRow: OnRow,
  reading: ManifestReading,
): Promise<void> {
  const { parse } = await import('csv-parse/sync');
  const lineBreak = bytes.indexOf('\n');
  const header = bytes.toString('utf8', 0, lineBreak < 0 ? bytes.length : lineBreak);
  const delimiter = SEPARATOR.exec(header)?.[0] ?? ',';
  let columns: string[] | undefined;
  let lastLine = 0;
  const addRecord = (record: string[], lines: number): null => {
    lastLine = lines;
    // The parser tells the line at which a record ends.
    const line = firstLine - 1 + lines - lineBreaksIn(record);
    if (columns) onRow(toRow(columns, record, { where, line }), line);
    else columns = toColumns(record, placeText(where, line), reading);
    return null;
  };
  try {
    parse(bytes, {
      skip_empty_lines: true,
      relax_column_count: true,
      delimiter,
      record_delimiter: '\n',
      trim: true,
      // Made into a row at once, so that the records of a large manifest never lie in memory together.
      on_record: (record: string[], { lines }) => addRecord(record, lines),
    });
  } catch (error) {
    if (error instanceof StenoError) throw error;
    const { code, lines = 1 } = error as Partial<CsvError> & { lines?: number };
    // The parser looks for the closing quote to the end of the text: what to correct is where the record begins.
    const line = code === 'CSV_QUOTE_NOT_CLOSED' ? nextRecord(bytes.toString(), lastLine) : lines;
    throw usage(
      `${placeText(where, firstLine - 1 + line)}: ${explanations[code ?? ''] ?? errorMessage(error)}`,
      QUOTES,
    );
  }
}

const lineBreaksIn = (record: readonly string[]): number =>
  record.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);

/** The first line after `line` that is not blank. */
function nextRecord(text: string, line: number): number {
  const after = text.split('\n').slice(line);
  return (
    line +
    1 +
    Math.max(
      0,
      after.findIndex((each) => each.trim() !== ''),
    )
  );
}

const QUOTES =
  'a cell with a separator, a quote or a line break goes in quotes, and quotes in it are doubled: "say ""hi"""';

const explanations: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'something follows the closing quote of a cell',
  INVALID_OPENING_QUOTE: 'there is a quote in a cell that does not begin with one',
};

function toColumns(header: readonly string[], at: string, reading: ManifestReading): string[] {
  if (header.some(startsWithUrl)) throw headerMissing(at);
  return withPosition(at, () => {
    const columns = header.map((name) => fieldName(name, reading));
    const twice = columns.find((column, index) => column && columns.indexOf(column) !== index);
    if (twice) throw usage(`the column ${twice} occurs twice`);
    if (!columns.includes('url') && !columns.includes('path'))
      throw usage('there is no column url', `a header looks like: ${HEADER}`);
    return columns;
  });
}

function toRow(columns: readonly string[], record: readonly string[], at: Place): Row {
  return rowAt(at, () => {
    if (record.length !== columns.length) {
      throw usage(
        `${count(record.length, 'cell')}, but the header has ${count(columns.length, 'column')}`,
        record.length > columns.length ? QUOTES : 'write a separator for each cell that is empty',
      );
    }
    const cell = (name: string): string | undefined => record[columns.indexOf(name)];
    return {
      url: cell('url') ?? '',
      skus: splitSkus(cell('sku')),
      notes: cell('notes'),
      names: splitNames(cell('names')),
      // An empty cell means none.
      key: cell('key') || undefined,
      minutes: cell('minutes'),
      path: cell('path'),
      tags: splitTags(cell('tags')),
    };
  });
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
