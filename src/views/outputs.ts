/**
 * What commands print: the schema of their --json, and the columns of their CSV and of their rows. Each command says
 * its own in its spec, from these parts.
 */
import { savedRecord } from './download-record.ts';
import { errorMembers, errorSchema, optionalErrorMembers } from './error-schema.ts';
import { fileRecord } from './file-record.ts';
import type { RecordColumn } from './record.ts';
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

export const fileSchema = described('a file', fileRecord.schema);

/** Of commands that ask the service about files. */
export const askedFiles = printed(
  anyOf(
    described('for a single id', fileSchema),
    described('for several ids, or where the line does not say which', arrayOf(fileSchema)),
  ),
  fileRecord.columnHelp,
);

export const savedSchema = described('a transcript', savedRecord.schema);

export const writtenFile = object({ path: described('of the file', text) });

export const settingColumns = columns({
  setting: 'its name',
  value: 'empty where it is not set; a key is masked',
  source: 'where it came from',
});

const event = described('a delivery that could not be kept: all of it', { type: 'object' });

/** What stderr has under --json, a line each. */
export const messages: Readonly<Record<string, Schema>> = {
  error: object({
    error: object(
      {
        ...errorMembers,
        failures: described(
          'of a command for many: each that failed',
          arrayOf(object({ what: text, ...errorMembers }, optionalErrorMembers)),
        ),
      },
      [...optionalErrorMembers, 'failures'],
    ),
  }),
  warning: object({ warning: object({ message: text, hint: text, event }, ['hint', 'event']) }),
};

/** The schema of a command, of `error` or of `warning`; `outputs` has those of all commands. */
export function schemaOf(name: string, outputs: ReadonlyMap<string, CommandOutput>): Schema | undefined {
  const output = outputs.get(name);
  const schema = output?.schema ?? (Object.hasOwn(messages, name) ? messages[name] : undefined);
  if (!schema) return undefined;
  const title = output
    ? `steno ${name} --json${output.lines ? ', each line' : ''}`
    : `a line of stderr with --json`;
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema };
}
