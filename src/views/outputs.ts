/** How a command says what it prints: the schema of its --json, and the columns of its CSV and of its rows. */
import { errorSchema, type RecordColumn } from './record.ts';
import { arrayOf, described, object, type Schema, text } from './schema.ts';

export interface CommandOutput {
  /** What --json prints. */
  readonly schema: Schema;
  /** It prints one such document a line, as they come. */
  readonly lines?: boolean;
  /** Of CSV and of rows. */
  readonly columns: readonly RecordColumn[];
}

/** What is printed of one record type. */
interface Printable {
  readonly schema: Schema;
  readonly columnHelp: readonly RecordColumn[];
}

export const printed = (schema: Schema, shown: readonly RecordColumn[] = []): CommandOutput => ({
  schema,
  columns: shown,
});

export const printedRecord = ({ schema, columnHelp }: Printable): CommandOutput =>
  printed(schema, columnHelp);

export const printedList = ({ schema, columnHelp }: Printable): CommandOutput =>
  printed(arrayOf(schema), columnHelp);

/** Of one id a document, of several a list with an error in the place of each that failed. */
export const printedOneOrSeveral = ({ schema, columnHelp }: Printable, name: string): CommandOutput =>
  printed(
    anyOf(
      described('for a single id', schema),
      described('for several ids, in the order asked', arrayOf(anyOf(schema, failed(name)))),
    ),
    columnHelp,
  );

export const columns = (all: Readonly<Record<string, string>>): RecordColumn[] =>
  Object.entries(all).map(([name, help]) => ({ name, help }));

export const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: [...schemas] });

export const failed = (...names: readonly string[]): Schema => {
  const subject = Object.fromEntries(names.map((name) => [name, text]));
  return described('in the place of one that failed', object({ ...subject, error: errorSchema }));
};

export const writtenFile = object({ path: described('of the file', text) });

export const settingColumns = columns({
  setting: 'its name',
  value: 'empty where it is not set; a key is masked',
  source: 'where it came from',
});
