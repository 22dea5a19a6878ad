/** The kinds of fields of a record: `a.text('title', 'title of the audio', 'title')`. */
import { errorJson } from '../lib/error-json.ts';
import type { StenoError } from '../lib/errors.ts';
import { type Json, JsonNumber, type PlainJson, toJson } from '../lib/json.ts';
import { amountText, type Fraction, parseMoney } from '../lib/money.ts';
import { errorSchema, type Field, type RecordType } from './record.ts';
import * as is from './schema.ts';

/** Where a field takes its value from: a member of that name, or a function. */
type Take<T, V> = ((value: T) => V) | { [K in keyof T]-?: T[K] extends V ? K : never }[keyof T];

const takeOf = <T, V>(from: Take<T, V>): ((value: T) => V) =>
  typeof from === 'function' ? from : (value) => value[from] as V;

type FieldOf<V> = <T>(name: string, help: string, from: Take<T, V>, more?: Partial<Field<T>>) => Field<T>;

type Shape<T> = Pick<Field<T>, 'schema'> & Partial<Field<T>>;

/** A kind of fields, by what one makes of its value. */
const fieldsOf =
  <V>(shape: <T>(take: (value: T) => V, name: string, more: Partial<Field<T>>) => Shape<T>): FieldOf<V> =>
  (name, help, from, more = {}) => ({ name, help, ...shape(takeOf(from), name, more), ...more });

type Text = string | null | undefined;

/** A text; empty or missing is null. */
export const text = fieldsOf<Text>((take) => ({
  schema: is.maybeText,
  json: (value) => take(value) || null,
  cell: (value) => take(value) || '',
}));

/** A text that is always known; it may be empty. */
export const word = fieldsOf<string>((take) => ({ schema: is.text, json: take, cell: take }));

/** A time, ISO 8601 in UTC. */
export const time: FieldOf<Text> = (name, help, from, more) =>
  text(name, help, from, { kind: 'time', schema: is.maybeTime, ...more });

/** A whole number that is always known. */
export const count = fieldsOf<number>((take) => ({
  ...{ kind: 'amount', schema: is.integer },
  json: (value) => new JsonNumber(String(take(value))),
}));

/** A number; null where it is not known. */
export const number = fieldsOf<number | null | undefined>((take) => ({
  ...{ kind: 'amount', schema: is.maybeNumber },
  json: (value) => toJson(take(value)),
}));

/** A time within the audio: seconds, of milliseconds. */
export const seconds = fieldsOf<number | null | undefined>((take) => ({
  ...{ kind: 'amount', schema: is.maybeNumber },
  json: (value) => {
    const ms = take(value);
    return toJson(ms === undefined || ms === null ? null : ms / 1000);
  },
}));

/** A list of texts. */
export const list = fieldsOf<readonly string[]>((take, _, { separator = ',' }) => ({
  schema: is.arrayOf(is.text),
  json: (value) => [...take(value)],
  cell: (value) => take(value).join(separator),
}));

/** Whether it is so; a cell has its name, or is empty. */
export const flag = fieldsOf<boolean>((take, name) => ({
  ...{ schema: is.boolean, json: take },
  cell: (value) => (take(value) ? name : ''),
}));

/** Plain values of any other shape, in the document alone. */
export const plain = <T>(
  name: string,
  help: string,
  schema: is.Schema,
  from: Take<T, PlainJson>,
): Field<T> => ({ name, help, schema, json: (value) => toJson(takeOf(from)(value)), cell: false });

/** Documents of their own; no column unless `more` has a cell. */
export const records = <T, Inner>(
  name: string,
  help: string,
  inner: RecordType<Inner>,
  from: Take<T, readonly Inner[]>,
  more: Partial<Field<T>> = {},
): Field<T> => ({
  ...{ name, help, schema: is.arrayOf(inner.schema), cell: false },
  json: (value) => takeOf(from)(value).map(inner.json),
  ...more,
});

/** A column that the document has no member for. */
export const column = <T>(
  name: string,
  help: string,
  cell: (value: T) => string,
  more: Partial<Field<T>> = {},
): Field<T> => ({ name, help, schema: is.text, cell, ...more });

/** Fields whose columns are no part of the table. */
export const onRequest = <T>(fields: ReadonlyArray<Field<T>>): Array<Field<T>> =>
  fields.map((field) => ({ ...field, more: true }));

/** What the service said, as it came. */
export const answer = <T>(answer: (value: T) => Json): Field<T> => ({
  ...{ name: 'answer', help: "the service's own answer, unchanged", schema: is.anything },
  json: answer,
  cell: false,
});

/** Why an element failed; one that did not fail has no such member, and no column shows it. */
export const error = <T>(error: (value: T) => StenoError | undefined): Field<T> => ({
  ...{ name: 'error', help: 'why it failed; absent on success', schema: errorSchema },
  json: (value) => {
    const failure = error(value);
    return failure ? errorJson(failure) : null;
  },
  ...{ cell: false, optional: true },
});

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** To the digit; null where it is not known or can't be read. */
export function amountJson(text: string): JsonNumber | null {
  if (jsonNumber.test(text)) return new JsonNumber(text);
  const money = parseMoney(text);
  return money ? new JsonNumber(amountText(money.amount)) : null;
}

export const exactJson = (amount: Fraction): JsonNumber => new JsonNumber(amountText(amount));

/** An amount as text; null in JSON where it is not known or can't be read. */
export const amount = fieldsOf<string>((take) => ({
  ...{ kind: 'amount', schema: is.maybeNumber, cell: take },
  json: (value) => amountJson(take(value)),
}));

/** An amount that is always known. */
export const exact = fieldsOf<Fraction | undefined>((take) => ({
  ...{ kind: 'amount', schema: is.number },
  json: (value) => {
    const amount = take(value);
    return amount ? exactJson(amount) : null;
  },
}));
