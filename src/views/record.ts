/**
 * A record is one list of fields. Its JSON document, the header and the cells of CSV, the tab-separated columns, the
 * table, the JSON schema (draft 2020-12) and the list of columns in the help are all made from it.
 */
import type { Outcome } from '../flows/bulk.ts';
import { errorJson } from '../lib/error-json.ts';
import { exitCodes, type StenoError } from '../lib/errors.ts';
import { type Json, JsonNumber, type JsonObject } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';
import * as is from './schema.ts';

export interface Field<T> extends Column {
  /** What it holds, in a few words: for the schema and the help. */
  readonly help: string;
  readonly schema: is.Schema;
  /** Left out where the field is a column alone. What it gives is null where nothing is known. */
  readonly json?: (value: T) => Json;
  /** The cell; made from the JSON if it is not given. False: the field is no column. */
  readonly cell?: ((value: T) => string) | false;
  /** Between the texts of a list in a cell; a comma unless told. */
  readonly separator?: string;
  /** Null leaves it out of the document: for what few have. */
  readonly optional?: boolean;
}

export interface RecordColumn {
  readonly name: string;
  readonly help: string;
  readonly more?: boolean | undefined;
}

/** What a command prints: the schema of its --json, and the columns of its CSV and of its rows. */
export interface CommandOutput {
  readonly schema: is.Schema;
  /** It prints one such document a line, as they come. */
  readonly lines?: boolean;
  readonly columns: readonly RecordColumn[];
  /** What --columns takes. */
  readonly choosable: readonly RecordColumn[];
}

export const printed = (
  schema: is.Schema,
  shown: readonly RecordColumn[] = [],
  choosable = shown,
): CommandOutput => ({ schema, columns: shown, choosable });

/** How values are shown, where that is not the way of every record. */
interface Forms<T> extends Pick<View, 'asRecord' | 'asPairs' | 'asTasks'> {
  /** The line of --quiet for each value, or all of its lines; the first cell unless told. */
  readonly quiet?: ((value: T) => string) | readonly string[];
  /** The document, if it is not a list of the values. */
  readonly json?: () => Json;
  /** For people: these columns alone, or those that hold something in one of the rows. */
  readonly only?: readonly string[] | 'filled';
}

export class RecordType<T> {
  readonly fields: ReadonlyArray<Field<T>>;
  readonly #shown: ReadonlyArray<Field<T>>;

  /** `byImportance`: which columns a narrow terminal leaves out last, beside ids and states, that stay unless named. */
  constructor(fields: ReadonlyArray<Field<T>>, byImportance = '') {
    const names = byImportance.split(' ').reverse();
    const importanceOf = (name: string) => {
      const at = names.indexOf(name);
      return at < 0 ? {} : { importance: fields.length + at };
    };
    this.fields = fields.map((field) => ({ ...field, ...importanceOf(field.name) }));
    this.#shown = this.fields.filter(({ cell }) => cell !== false);
  }

  get columns(): ReadonlyArray<Field<T>> {
    return this.#shown;
  }

  readonly json = (value: T): JsonObject => {
    const document: JsonObject = new Map();
    for (const { name, json, optional } of this.fields) {
      const member = json?.(value);
      if (member !== undefined && !(optional && member === null)) document.set(name, member);
    }
    return document;
  };

  readonly cells = (value: T): string[] => cellsOf(this.#shown, value);

  get columnHelp(): RecordColumn[] {
    return this.#shown.map(({ name, help, more }) => ({ name, help, more }));
  }

  /** Every member is declared: a document with another one does not match. */
  get schema(): is.Schema {
    const members = this.fields.filter(({ json }) => json);
    const optional = members.filter(({ optional }) => optional).map(({ name }) => name);
    return is.object(
      Object.fromEntries(members.map(({ name, help, schema }) => [name, is.described(help, schema)])),
      optional,
    );
  }

  /** What a command says that prints one document of it. */
  get printed(): CommandOutput {
    return printed(this.schema, this.columnHelp);
  }

  get printedList(): CommandOutput {
    return printed(is.arrayOf(this.schema), this.columnHelp);
  }

  /** One id: an object. Several: an array, with an error in the place of each that failed. */
  printedOneOrSeveral(name: string): CommandOutput {
    const several = is.arrayOf(is.anyOf(this.schema, failed(name)));
    const one = is.described('for a single id', this.schema);
    return printed(
      is.anyOf(one, is.described('for several ids, in the order asked', several)),
      this.columnHelp,
    );
  }

  /** One value as one document. */
  page(value: T, forms: Forms<T> = {}): View {
    return this.view([value], { json: () => this.json(value), ...forms });
  }

  /** Each form is made only if it is asked for: there may be many values. */
  view(values: readonly T[], { quiet = firstCell(this.#shown), json, only, ...look }: Forms<T> = {}): View {
    const record = this;
    const shown = this.#chosen(values, only);
    return {
      ...look,
      columns: shown,
      get json() {
        return json ? json() : values.map(record.json);
      },
      get rows() {
        return values.map((value) => cellsOf(shown, value));
      },
      get quiet() {
        return typeof quiet === 'function' ? values.map(quiet) : quiet;
      },
    };
  }

  #chosen(values: readonly T[], only: Forms<T>['only']): ReadonlyArray<Field<T>> {
    if (only === 'filled') return this.#shown.filter((field) => values.some((value) => cellOf(field, value)));
    return only ? only.flatMap((each) => this.#shown.find(({ name }) => name === each) ?? []) : this.#shown;
  }
}

export function cellOf<T>({ cell, json }: Field<T>, value: T): string {
  return cell ? cell(value) : cellText(json?.(value) ?? null);
}

const cellsOf = <T>(fields: ReadonlyArray<Field<T>>, value: T): string[] =>
  fields.map((field) => cellOf(field, value));

const firstCell =
  <T>([first]: ReadonlyArray<Field<T>>) =>
  (value: T): string =>
    first ? cellOf(first, value) : '';

/** A record whose columns have an order of importance. */
export const ranked = <T>(byImportance: string, fields: ReadonlyArray<Field<T>>): RecordType<T> =>
  new RecordType<T>(fields, byImportance);

/** A plain value as a cell; a list is joined with commas. */
export function cellText(json: Json): string {
  if (json === null) return '';
  if (json instanceof JsonNumber) return json.text;
  if (Array.isArray(json)) return json.map(cellText).join(',');
  return typeof json === 'object' ? '' : String(json);
}

// The error of an element, and of `--json` on stderr.

const kinds = Object.keys(exitCodes).filter((kind) => kind !== 'ok');

export const errorMembers = {
  code: is.described('kind of failure; determines the exit code', is.oneOf(...kinds)),
  message: is.described('what happened', is.text),
  status: is.described('HTTP status, if the service answered with one', is.integer),
  hint: is.described('what to do about it', is.text),
  reason: is.described(
    'exit 9: the outcome of the earlier purchase, or other_skus if it has other SKUs',
    is.oneOf('ordered', 'unclear', 'in_progress', 'other_skus'),
  ),
  order: is.described('exit 9: order id of the earlier purchase, if known', is.maybeText),
  audiofiles: is.described('exit 9: audiofile ids of the earlier purchase, if known', is.arrayOf(is.text)),
  attempt: is.described('exit 9: number of the earlier attempt, for attempts settle', is.integer),
};

/** Those that not every error has. */
export const optionalErrorMembers = ['status', 'hint', 'reason', 'order', 'audiofiles', 'attempt'];

export const errorSchema = is.object(errorMembers, optionalErrorMembers);

export const failed = (...names: readonly string[]): is.Schema => {
  const subject = Object.fromEntries(names.map((name) => [name, is.text]));
  return is.described('in place of an item that failed', is.object({ ...subject, error: errorSchema }));
};

/** An item that failed, in the names of the document that it would have been. */
export const failureJson = (subject: Readonly<Record<string, Json>>, error: StenoError): Json =>
  new Map([...Object.entries(subject), ['error', errorJson(error)]]);

/** An array where the command line asks for several, else the one document. */
export const oneOrAll = (all: Json[], several: boolean): Json => (several ? all : (all[0] ?? null));

/** A document for each item, in the order asked; a failure takes the place of its item. A function names it by its place. */
export function documents<T>(
  outcomes: readonly Outcome<T>[],
  json: (value: T) => Json,
  name: string | ((at: number) => Readonly<Record<string, Json>>),
): Json[] {
  return outcomes.map(({ what, value, error }, at) => {
    if (!error) return json(value);
    return failureJson(typeof name === 'string' ? { [name]: what } : name(at), error);
  });
}

export const writtenFile = is.object({ path: is.described('path of the file', is.text) });

/** The views of a listing, page by page; a listing without rows is one empty page, so that it has its header line. */
export async function* viewPages<Page>(
  pages: AsyncIterable<Page>,
  view: (page: Page) => View,
  empty: Page,
): AsyncGenerator<View> {
  let isEmpty = true;
  for await (const page of pages) {
    isEmpty = false;
    yield view(page);
  }
  if (isEmpty) yield view(empty);
}
