/** What `steno doctor` and the page of `steno ui` look at, taken from a command's context. */

import type { Transport } from '../api/http/transport.ts';
import { kindOf, planInstall } from '../completion/install.ts';
import { chooseShell, placeOf, thisMachine } from '../completion/places.ts';
import { completionScript } from '../completion/shells.ts';
import type { Env } from '../lib/env.ts';
import { usage } from '../lib/errors.ts';
import { lookAtProfiles, type Profiles } from '../settings/config-file.ts';
import { type Context, publicReading, readSettings } from './context.ts';

/** How long one question over the network may take, where --timeout says nothing. */
const LIMIT_MS = 10_000;

interface Asked {
  readonly offline: boolean;
  readonly testEvent: string | undefined;
}

/** Read when it is first asked for, and then once. */
export function setupOf(context: Context, { offline, testEvent }: Asked) {
  const { env, signal, sandbox, globals, mask } = context;
  const { env: networkEnv, userAgent } = publicReading(context);
  const limitMs = globals.timeout ?? LIMIT_MS;
  let read: ReturnType<typeof settingsOf> | undefined;
  const settings = () => {
    read ??= settingsOf(context);
    return read;
  };
  let key: ReturnType<Context['key']> | undefined;
  const limits = { timeoutMs: limitMs, signal };
  return {
    ...{ env, signal, offline, testEvent, limitMs, settings },
    ...{ inSandbox: sandbox !== undefined, networkEnv, userAgent },
    hide: mask.hide,
    key: () => {
      key ??= settings().settings.key(limits);
      return key;
    },
    connect: (apiKey: string, limit: AbortSignal): Promise<Transport> =>
      context.connect({
        account: { settings: settings().settings, apiKey },
        signal: limit,
        timeoutBounds: 'nothing',
      }),
    completions: () => completionsOf(env),
    sharedLedger: async () => {
      const { settings: read } = settings();
      const { value: url } = read.get('ledger');
      return url === undefined ? undefined : context.ledgers.sharedOptions(url, read, limitMs);
    },
  };
}

async function completionsOf(env: Env) {
  const machine = thisMachine(env);
  // To find the place there, PowerShell must be started.
  if (machine.platform === 'win32') throw usage('completions are not checked on Windows');
  const place = placeOf(chooseShell(undefined, machine), machine);
  const { shell, script, startUpFiles } = place;
  const kinds = planInstall(place, completionScript(shell)).map(kindOf);
  const [ofScript = 'new'] = kinds;
  const state = kinds.every((kind) => kind === 'unchanged') ? ('installed' as const) : ('outdated' as const);
  return { shell, script, startUpFiles, state: ofScript === 'new' ? ('missing' as const) : state };
}

/** Nothing is removed or made. Where the config file can't be used, flags and environment are all there is. */
function settingsOf(context: Context) {
  const { result: profiles = {}, error: configError } = attempt((): Profiles => lookAtProfiles(context.env));
  const { result: settings, error: profileError } = attempt(() => readSettings(context, { profiles }));
  return {
    settings: settings ?? readSettings(context, { profiles, newProfile: true }),
    configError,
    // Of a file that can't be read, no profile is known.
    profileError: configError ? undefined : profileError,
  };
}

function attempt<Result>(work: () => Result): { readonly result?: Result; readonly error?: unknown } {
  try {
    return { result: work() };
  } catch (error) {
    return { error };
  }
}
