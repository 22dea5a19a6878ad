/** What it takes to open a ledger that several machines use. */
import type { PostgresAddress } from '../lib/postgres-url.ts';
import type { OnTrouble } from './outbox.ts';

export interface SharedLedgerOptions {
  readonly address: PostgresAddress;
  /** Asked at each connection: a password may be a token that is valid for minutes. */
  readonly password: () => Promise<string>;
  /** How long a connection may take. */
  readonly timeoutMs: number;
  /** How long the database may be silent while a statement waits. */
  readonly queryTimeoutMs: number;
  readonly account: Account;
  /** The folder on this machine for outcomes of orders that the ledger could not take. */
  readonly outcomes: string;
  /** Told where one of them still can't be handed over. */
  readonly onTrouble: OnTrouble;
}

/** Whose rows these are. */
export interface Account {
  readonly name: string;
  /** Whether somebody chose the name; else it is that of the profile. */
  readonly isChosen: boolean;
  /** Of the service; undefined where none is set. */
  readonly baseUrl: string | undefined;
}
