/** What the checks look at. Nothing here makes or changes anything: no folder, no ledger, no setting. */
import type { Transport } from '../../api/http/transport.ts';
import type { SharedLedgerOptions } from '../../ledger/shared.ts';
import type { Env } from '../../lib/env.ts';
import type { Key } from '../../settings/key.ts';
import type { Settings } from '../../settings/settings.ts';

export interface Setup {
  readonly env: Env;
  /** The same as calls of the service see it: the sandbox is never reached through a proxy. */
  readonly networkEnv: Env;
  readonly inSandbox: boolean;
  readonly offline: boolean;
  /** How long one question over the network may take. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  readonly hide: (text: string) => string;
  readonly configPath: () => string;
  readonly stateFolder: () => string;
  readonly settings: () => ReadSettings;
  readonly key: () => Promise<Key | undefined>;
  /** A connection that is closed at the end; its calls end with the signal. */
  readonly connect: (apiKey: string, signal: AbortSignal) => Promise<Transport>;
  /** What a shared ledger is opened with; undefined where none is set. */
  readonly sharedLedger: () => Promise<SharedLedgerOptions | undefined>;
  /** Where the completions of the user's shell are installed. Throws where the shell is not known. */
  readonly completions: () => Promise<Completions>;
  /** An event of which the service is asked to send a test. */
  readonly testEvent: string | undefined;
}

/** The settings, also where the config file can't be used: then those of flags and environment alone. */
export interface ReadSettings {
  readonly settings: Settings;
  /** Why the config file is not used. */
  readonly configError: unknown;
  /** Why the profile is not used. */
  readonly profileError: unknown;
}

export interface Completions {
  readonly shell: string;
  /** The file of the script. */
  readonly script: string;
  readonly state: 'installed' | 'outdated' | 'missing';
  /** Files that the shell reads at its start. */
  readonly startUpFiles: readonly string[];
}
