/** Links with signatures, as the storage services make them. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { ledgerOf } from './ledger.ts';
import type { User } from './steno.ts';

/** What no output and no file may hold. */
export const SECRET = 'c0ffee5ec7e7';

const queries = {
  s3: (n: number) =>
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${SECRET}%2F20261115&X-Amz-Date=20261115T00000${n}Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=${SECRET}${n}`,
  google: (n: number) => `GoogleAccessId=${SECRET}%40x&Expires=170000000${n}&Signature=${SECRET}${n}%3D`,
  azure: (n: number) => `sv=2024-11-04&se=2026-11-1${n}&sr=b&sp=r&sig=${SECRET}${n}%3D`,
  cloudFront: (n: number) => `Expires=170000000${n}&Signature=${SECRET}${n}__&Key-Pair-Id=K1${SECRET}`,
} as const;

export type Signer = keyof typeof queries;
export const signers = Object.keys(queries) as Signer[];

/** Another number is a fresh signature of the same link. */
export const signed = (url: string, n = 1, by: Signer = 's3'): string =>
  `${url}${url.includes('?') ? '&' : '?'}${queries[by](n)}`;

/** Looks into the very bytes of the ledger. */
export function expectNoSecretIn(user: User): void {
  for (const file of ['', '-wal', '-shm', '-journal']) {
    const path = ledgerOf(user) + file;
    if (existsSync(path)) expect(readFileSync(path).includes(SECRET), path).toBe(false);
  }
}
