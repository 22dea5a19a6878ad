/** What a listening session is given: the plan, what it works with, and whom it tells. */
import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Spool } from '../ledger/spool.ts';
import type { Env } from '../lib/env.ts';
import type { Action, ActionReport } from './actions/action.ts';
import type { ReceivedEvent } from './event.ts';
import type { EventScreen } from './feed.ts';
import type { Account } from './loan-book.ts';
import type { ReceiverOptions } from './server.ts';
import type { EndConditions } from './session-end.ts';
import type { Tally } from './tally.ts';

/** Opens a connection to the service; its calls end when the signal fires. */
export type Connect = (signal: AbortSignal) => Promise<Transport>;

export interface ActionResources {
  readonly ledger: Ledger;
  /** Absent where no account is set up. */
  readonly connect: (() => Promise<Transport>) | undefined;
}

export interface ListenPlan {
  readonly server: Pick<ReceiverOptions, 'host' | 'port' | 'tls'>;
  readonly path: string;
  readonly openActions: (resources: ActionResources) => Promise<readonly Action[]>;
  /** The events that are shown and acted on; empty: all. */
  readonly only: readonly string[];
  readonly endConditions: EndConditions;
  /** How long events are kept; absent: for good. */
  readonly keepMs?: number | undefined;
  readonly register: boolean;
  /** Where the service reaches the receiver, if not at its own address. */
  readonly publicUrl?: string | undefined;
  readonly tunnel?: string | undefined;
}

export interface SessionResources {
  readonly ledger: Ledger;
  readonly spool: Spool;
  /** Absent where no account is set up. */
  readonly connect: Connect | undefined;
  /** Whom `connect` connects as. */
  readonly account: Account | undefined;
  /** Has something undone when the program ends, also when it crashes; returns what cancels that. */
  readonly onExit: (cleanUp: () => Promise<void>) => () => void;
  readonly env: Env;
  /** Masks the key. */
  readonly hide: (text: string) => string;
  /** Fires on Ctrl-C and the like. */
  readonly interrupt: AbortSignal;
}

export interface SessionCallbacks {
  readonly onReady: (url: string) => void;
  readonly screen: EventScreen;
  /** For an event that could not be kept. */
  readonly onLost: (event: ReceivedEvent) => void;
  readonly onReport: (report: ActionReport) => void;
  /** Once, at the end of a session that received. */
  readonly onTotal: (tally: Tally) => Promise<void>;
  readonly onNote: (text: string) => void;
  /** What is said in every form of output. */
  readonly onNotice: (text: string) => void;
  readonly onWarning: (text: string, hint?: string) => void;
  /** Asked before the webhook of the account is replaced; ends with the signal. */
  readonly mayReplace: (former: string, signal: AbortSignal) => Promise<boolean>;
}
