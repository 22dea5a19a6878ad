/** Opens connections to the service, with the settings that hold for a command. */
import type { Trace, Transport } from '../api/http/transport.ts';
import { monotonicMs } from '../lib/clock.ts';
import { parseDuration } from '../lib/duration.ts';
import type { Env } from '../lib/env.ts';
import { usage } from '../lib/errors.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * What the flag --timeout bounds: each request; the whole command, so that no request goes on beyond it; or nothing
 * here, because the command watches the time itself.
 */
export type TimeoutBounds = 'request' | 'command' | 'nothing';

export interface ConnectOptions {
  readonly timeoutBounds?: TimeoutBounds;
  /** What breaks calls off, if not the user's interruption. */
  readonly signal?: AbortSignal;
  /** The most connections at a time: as many as calls are made at once. */
  readonly connections?: number | undefined;
}

interface Connection {
  readonly settings: Settings;
  readonly baseUrl: string | undefined;
  readonly apiKey: string;
  readonly keySource: string | undefined;
  /** The flag --timeout, in milliseconds. */
  readonly timeoutFlag: number | undefined;
  readonly timeoutBounds: TimeoutBounds;
  readonly connections: number | undefined;
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly hardSignal: AbortSignal;
  readonly onFinishing: (text: string) => void;
  readonly hide: (text: string) => string;
  readonly trace: Trace | undefined;
}

export async function connect(connection: Connection): Promise<Transport> {
  const { settings, baseUrl, timeoutFlag, timeoutBounds, ...rest } = connection;
  if (!baseUrl) {
    throw usage(
      'no base URL is set',
      'run: steno login   (in a script: export STENO_BASE_URL=https://host/API4; to try it without an account: --sandbox)',
    );
  }
  const perRequest = timeoutFlag === undefined || timeoutBounds === 'request';
  const limit = perRequest ? settings.get('timeout').value : undefined;
  const endsAtMs =
    timeoutFlag !== undefined && timeoutBounds === 'command' ? monotonicMs() + timeoutFlag : undefined;
  const { Transport } = await import('../api/http/transport.ts');
  return Transport.open({
    ...rest,
    baseUrl,
    timeoutMs: limit === undefined ? undefined : parseDuration(limit),
    endsAtMs,
    userAgent: userAgent(),
  });
}

export const userAgent = (): string =>
  `steno/${STENO_VERSION} node/${process.versions.node} ${process.platform}-${process.arch}`;
