import type { Setup } from '../flows/doctor/check.ts';
import { examine } from '../flows/doctor/doctor.ts';
import { StenoError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { lookAtProfiles, type Profiles } from '../settings/config-file.ts';
import { isAllowed } from '../spec/allow.ts';
import { CALL_EXITS, command } from '../spec/command.ts';
import { type Context, publicReading, readSettings } from '../spec/context.ts';
import { flag } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { doctorLines, doctorRecord, doctorView } from '../views/setup.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Check your setup and suggest fixes',
  about:
    'Checks the settings, the disk, the base URL, the proxy, the service, the key, the ledger and the webhook. ' +
    'Each line is ok or says what to do. Changes nothing, except that it puts back the webhook that a crashed ' +
    'listen --register had replaced. Exits with 1 if a check fails; a warning is not a failure.',
  details: [
    '--json prints {check, status, message, hint} for each check, always in the same order; status is ok, warn, ' +
      'fail or skipped.',
  ],
  options: { offline: flag('--offline', 'skip checks that need the network') },
  examples: [
    ['steno doctor', 'when something does not work'],
    ['steno --sandbox doctor --offline --json', 'for a script'],
  ],
  makesNoFile: true,
  effect: 'read',
  exits: CALL_EXITS,
  output: () => doctorRecord.printedList,
  async run(context, { options }) {
    const { out, signal } = context;
    const results = await whileWorking(out, 'Checking', () => examine(setupOf(context, options.offline)));
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    if (out.forPeople && out.isBrief) await showLines(out, doctorLines(results));
    else await out.show(doctorView(results));
    const failures = results.filter(({ status }) => status === 'fail');
    if (failures.length)
      throw new StenoError(
        'failed',
        `${plural(failures.length, 'check')} failed: ${failures.map(({ check }) => check).join(', ')}`,
      );
  },
});

/** How long one question over the network may take, where --timeout says nothing. */
const LIMIT_MS = 10_000;

function setupOf(context: Context, offline: boolean): Setup {
  const { env, signal, sandbox, globals, mask, ledgers } = context;
  const { env: networkEnv, userAgent } = publicReading(context);
  const limitMs = globals.timeout ?? LIMIT_MS;
  const { settings, settingsError } = settingsOf(context);
  let key: ReturnType<Context['key']> | undefined;
  return {
    env,
    networkEnv,
    inSandbox: sandbox !== undefined,
    offline,
    limitMs,
    signal,
    userAgent,
    hide: mask.hide,
    settings,
    settingsError,
    // What settings that can't be read would allow is not known.
    mayPutBack: settingsError === undefined && isAllowed(context, 'account'),
    key: () => {
      key ??= settings.key({ timeoutMs: limitMs, signal });
      return key;
    },
    connect: (apiKey, limit) =>
      context.connect({ account: { settings, apiKey }, signal: limit, timeoutBounds: 'nothing' }),
    sharedLedger: async () => {
      const { value: url } = settings.get('ledger');
      return url === undefined ? undefined : ledgers.sharedOptions(url, settings, limitMs);
    },
  };
}

/** Nothing is removed or made. Where the config file can't be used, flags and environment are all there is. */
function settingsOf(context: Context): Pick<Setup, 'settings' | 'settingsError'> {
  let profiles: Profiles = {};
  try {
    profiles = lookAtProfiles(context.env);
    return { settings: readSettings(context, { profiles }), settingsError: undefined };
  } catch (settingsError) {
    return { settings: readSettings(context, { profiles, newProfile: true }), settingsError };
  }
}
