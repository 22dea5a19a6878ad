/**
 * A record is one list of fields. Its JSON document, the header and the cells of CSV, the tab-separated columns, the
 * JSON schema (draft 2020-12) and the list of columns in the help are all made from it.
 */
import type { Outcome } from '../flows/bulk.ts';
import { errorJson } from '../lib/error-json.ts';
import { exitCodes, type StenoError } from '../lib/errors.ts';
import { type Json, JsonNumber, type JsonObject, type PlainJson, toJson } from '../lib/json.ts';
import type { Column, View } from '../lib/view.ts';
import * as is from './schema.ts';

/** Where a field takes its value from: a member of that name, or a function. */
type Take<T, V> = ((value: T) => V) | { [K in keyof T]-?: T[K] extends V ? K : never }[keyof T];

const takeOf = <T, V>(from: Take<T, V>): ((value: T) => V) =>
  typeof from === 'function' ? from : (value) => value[from] as V;

type Member<T> = readonly [schema: is.Schema, from: Take<T, PlainJson>, help?: string];

/** A document without columns: of each member the schema, what it is of a value, and what it holds. */
export function documentOf<T>(members: Readonly<Record<string, Member<T>>>) {
  const all = Object.entries(members);
  const properties: Record<string, is.Schema> = {};
  for (const [name, [schema, , help]] of all) properties[name] = help ? is.described(help, schema) : schema;
  const taken = all.map(([name, [, from]]) => [name, takeOf(from)] as const);
  const json = (value: T): JsonObject => new Map(taken.map(([name, take]) => [name, toJson(take(value))]));
  return { properties, schema: is.object(properties), json };
}

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
  /** Undefined leaves it out of the document: for what few have. */
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

export class RecordType<T> {
  readonly fields: ReadonlyArray<Field<T>>;
  readonly columns: readonly Column[];
  readonly #cells: ReadonlyArray<(value: T) => string>;

  constructor(fields: ReadonlyArray<Field<T>>) {
    this.fields = fields;
    const shown = fields.filter(({ cell }) => cell !== false);
    this.columns = shown;
    this.#cells = shown.map(({ cell, json }) => cell || ((value) => cellText(json?.(value) ?? null)));
  }

  json(value: T): JsonObject {
    const document: JsonObject = new Map();
    for (const { name, json, optional } of this.fields) {
      const member = json?.(value);
      if (member === undefined || (optional && member === null)) continue;
      document.set(name, member);
    }
    return document;
  }

  /** The cells, or the first of them. */
  cells(value: T, count = this.#cells.length): string[] {
    const row: string[] = [];
    for (let at = 0; at < count; at += 1) row.push(this.#cells[at]?.(value) ?? '');
    return row;
  }

  /** The places of columns, by name. */
  places(names: readonly string[]): number[] {
    return names.map((name) => this.columns.findIndex((column) => column.name === name));
  }

  /** Some of the columns, for people. */
  some(view: View, names: readonly string[]): View {
    const shown = this.places(names);
    const rows = view.rows.map((row) => shown.map((at) => row[at] ?? ''));
    return { json: null, quiet: [], columns: shown.map((at) => this.columns[at] as Column), rows };
  }

  /** The columns that hold something in one of the rows, for people. */
  filled(view: View): View {
    const isFilled = (_: unknown, at: number): boolean => view.rows.some((row) => row[at]);
    return this.some(
      view,
      this.columns.filter(isFilled).map(({ name }) => name),
    );
  }

  get columnHelp(): RecordColumn[] {
    return this.fields
      .filter(({ cell }) => cell !== false)
      .map(({ name, help, more }) => ({ name, help, more }));
  }

  /** Every member is declared: a document with another one does not match. */
  get schema(): is.Schema {
    const members = this.fields.filter(({ json }) => json);
    return {
      type: 'object',
      properties: Object.fromEntries(
        members.map(({ name, help, schema }) => [name, { ...schema, description: help }]),
      ),
      required: members.filter(({ optional }) => !optional).map(({ name }) => name),
      additionalProperties: false,
    };
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
    const { schema } = this;
    const several = is.arrayOf(is.anyOf(schema, failed(name)));
    return printed(
      is.anyOf(
        is.described('for a single id', schema),
        is.described('for several ids, in the order asked', several),
      ),
      this.columnHelp,
    );
  }

  /** One value as one document. */
  page(value: T): View {
    return { ...this.view([value]), json: this.json(value) };
  }

  /** Each form is made only if it is asked for: there may be many. --quiet has the first column, unless told. */
  view(values: readonly T[], quiet = this.#cells[0] ?? String): View {
    const record = this;
    return {
      columns: this.columns,
      get json() {
        return values.map((value) => record.json(value));
      },
      get rows() {
        return values.map((value) => record.cells(value));
      },
      get quiet() {
        return values.map(quiet);
      },
    };
  }
}

/** A plain value as a cell; a list is joined with commas. */
function cellText(json: Json): string {
  if (json === null) return '';
  if (json instanceof JsonNumber) return json.text;
  if (Array.isArray(json)) return json.map(cellText).join(',');
  return typeof json === 'object' ? '' : String(json);
}

export type FieldOf<V> = <T>(
  name: string,
  help: string,
  from: Take<T, V>,
  more?: Partial<Field<T>>,
) => Field<T>;

type Shape<T> = Pick<Field<T>, 'schema'> & Partial<Field<T>>;

/** A kind of fields, by what one makes of its value. */
export const fieldsOf =
  <V>(shape: <T>(take: (value: T) => V, name: string, more: Partial<Field<T>>) => Shape<T>): FieldOf<V> =>
  (name, help, from, more = {}) => ({ name, help, ...shape(takeOf(from), name, more), ...more });

type Text = string | null | undefined;

/** A text; empty or missing is null. */
export const textField = fieldsOf<Text>((take) => ({
  schema: is.maybeText,
  json: (value) => take(value) || null,
  cell: (value) => take(value) || '',
}));

/** A text that is always known; it may be empty. */
export const wordField = fieldsOf<string>((take) => ({ schema: is.text, json: take, cell: take }));

/** A time, ISO 8601 in UTC. */
export const timeField: FieldOf<Text> = (name, help, from, more) =>
  textField(name, help, from, { kind: 'time', schema: is.maybeTime, ...more });

/** A whole number that is always known. */
export const countField = fieldsOf<number>((take) => ({
  ...{ kind: 'amount', schema: is.integer },
  json: (value) => new JsonNumber(String(take(value))),
}));

/** A number; null where it is not known. */
export const numberField = fieldsOf<number | undefined>((take) => ({
  ...{ kind: 'amount', schema: is.maybeNumber },
  json: (value) => toJson(take(value)),
}));

/** Texts. */
export const listField = fieldsOf<readonly string[]>((take, _, { separator = ',' }) => ({
  schema: is.arrayOf(is.text),
  json: (value) => [...take(value)],
  cell: (value) => take(value).join(separator),
}));

/** Whether it is so; a cell has its name, or is empty. */
export const flagField = fieldsOf<boolean>((take, name) => ({
  ...{ schema: is.boolean, json: take },
  cell: (value) => (take(value) ? name : ''),
}));

/** Fields whose columns are no part of the table. */
export const onRequest = <T>(fields: ReadonlyArray<Field<T>>): Array<Field<T>> =>
  fields.map((field) => ({ ...field, more: true }));

/** What the service said, as it came. */
export const answerField = <T>(answer: (value: T) => Json): Field<T> => ({
  ...{ name: 'answer', help: "the service's own answer, unchanged", schema: is.anything },
  json: answer,
  cell: false,
});

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

const errorSchema = is.object(errorMembers, optionalErrorMembers);

/** Why an element failed; one that did not fail has no such member, and no column shows it. */
export const errorField = <T>(error: (value: T) => StenoError | undefined): Field<T> => ({
  ...{ name: 'error', help: 'why it failed; absent on success', schema: errorSchema },
  json: (value) => {
    const failure = error(value);
    return failure ? errorJson(failure) : null;
  },
  ...{ cell: false, optional: true },
});

export const failed = (...names: readonly string[]): is.Schema => {
  const subject = Object.fromEntries(names.map((name) => [name, is.text]));
  return is.described('in place of an item that failed', is.object({ ...subject, error: errorSchema }));
};

export const columns = (all: Readonly<Record<string, string>>): RecordColumn[] =>
  Object.entries(all).map(([name, help]) => ({ name, help }));

export const writtenFile = is.object({ path: is.described('path of the file', is.text) });

export const settingColumns = columns({
  setting: 'name of the setting',
  value: 'value of the setting, empty if not set; a key is masked',
  source: 'where the value came from',
});

/** What an item is, in the names of the document that it would have been. */
type Subject = Readonly<Record<string, Json>>;

/**
 * One document for one item, an array in the order asked for several; a failure takes the place of its item. `isList`:
 * the command line asks for several, even if there is one. `name`: what an item is; a function names it by its place.
 */
export function documents<T>(
  outcomes: readonly Outcome<T>[],
  json: (value: T) => Json,
  {
    name,
    isList = outcomes.length !== 1,
  }: { name: 'audiofile' | 'invoice' | ((at: number) => Subject); isList?: boolean },
): Json {
  const subjectOf = (what: string, at: number): Subject =>
    typeof name === 'string' ? { [name]: what } : name(at);
  const all = outcomes.map((outcome, at) =>
    outcome.error ? failureJson(subjectOf(outcome.what, at), outcome.error) : json(outcome.value),
  );
  return isList ? all : (all[0] ?? null);
}

const failureJson = (subject: Subject, error: StenoError): Json =>
  new Map<string, Json>([...Object.entries(subject), ['error', errorJson(error)]]);

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
