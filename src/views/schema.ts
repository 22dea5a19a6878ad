/** Parts of a JSON schema, draft 2020-12: `is.arrayOf(is.text)`. */
import type { PlainJson } from '../lib/json.ts';

export type Schema = { readonly [key: string]: PlainJson };

export const anything: Schema = {};

export const nullable = (schema: Schema): Schema =>
  typeof schema.type === 'string' && schema.enum === undefined
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] };

export const arrayOf = (items: Schema): Schema => ({ type: 'array', items });

export const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: [...schemas] });

export const alwaysTrue: Schema = { type: 'boolean', enum: [true] };
export const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: [...values] });

/** An object whose members are all there, and no other. */
export const object = (
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** An object with the members of several. */
export const merged = (...schemas: readonly Schema[]): Schema =>
  object(Object.assign({}, ...schemas.map(({ properties }) => properties)));

export const described = (description: string, schema: Schema): Schema => ({ ...schema, description });

export const text: Schema = { type: 'string' };
export const maybeText: Schema = nullable(text);
export const number: Schema = { type: 'number' };
export const maybeNumber: Schema = nullable(number);
export const integer: Schema = { type: 'integer' };
export const maybeInteger: Schema = nullable(integer);
export const boolean: Schema = { type: 'boolean' };
export const time: Schema = { type: 'string', format: 'date-time' };
export const maybeTime: Schema = nullable(time);
