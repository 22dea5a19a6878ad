/** Looks for a secret in the very bytes of the state folder, in every encoding that a text may have been given. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { User } from './steno.ts';

/** By the name of the encoding. */
export const encodingsOf = (secret: string): Readonly<Record<string, string>> => ({
  plain: secret,
  url: encodeURIComponent(secret),
  form: new URLSearchParams({ k: secret }).toString().slice(2),
  'url twice': encodeURIComponent(encodeURIComponent(secret)),
  base64: Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  'base64 of more': Buffer.from(`{"api_key":"${secret}"}`).toString('base64'),
  json: JSON.stringify(secret).replaceAll('/', '\\/').slice(1, -1),
});

/** The files of the state folder that hold one of the secrets, with the encoding. */
export function foundInState(user: User, ...secrets: string[]): string[] {
  const forms = secrets.flatMap((secret) => Object.entries(encodingsOf(secret)));
  return filesBelow(user.env.STENO_STATE_DIR ?? '').flatMap((path) => {
    const bytes = readFileSync(path);
    return forms.filter(([, form]) => bytes.includes(form)).map(([name]) => `${path}: ${name}`);
  });
}

export function expectNotInState(user: User, ...secrets: string[]): void {
  expect(foundInState(user, ...secrets)).toEqual([]);
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
}
