/** Orders without a known end, for the tests of `attempts`. */
import { expect } from 'vitest';
import { audio, type OrderingAccount, orderingAccount } from './ledger.ts';
import type { User } from './steno.ts';

/** The audio that most of these tests order. */
export const url = audio('a');

export interface Listed {
  readonly attempt: number;
  readonly status: string;
  readonly attempted_at: string;
  readonly urls: string[];
  readonly skus: string[];
  readonly by: { readonly user: string; readonly host: string; readonly pid: number };
  readonly order: string | null;
  readonly detail: string;
}

/** What `attempts` lists. */
export const listed = async (user: User): Promise<Listed[]> =>
  JSON.parse((await user.run(['attempts', '--json'])).stdout) as Listed[];

/** An account whose first order had no clear answer. */
export async function unclearAccount(...args: string[]): Promise<OrderingAccount> {
  const account = await orderingAccount();
  account.service.on('POST /order_url', { status: 500, body: { message: 'oops' } });
  expect((await account.order(...(args.length ? args : [url]))).code).toBe(11);
  return account;
}
