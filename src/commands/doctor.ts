import { checkTestableEvent } from '../catalog/check.ts';
import { testableEvents } from '../catalog/events.ts';
import { kindOf, planInstall } from '../completion/install.ts';
import { chooseShell, placeOf, thisMachine } from '../completion/places.ts';
import { completionScript } from '../completion/shells.ts';
import { type Completions, once, type ReadSettings, type Setup } from '../flows/doctor/check.ts';
import { examine } from '../flows/doctor/doctor.ts';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { lookAtProfiles, type Profiles } from '../settings/config-file.ts';
import { CALL_EXITS, command } from '../spec/command.ts';
import { type Context, publicReading, readSettings } from '../spec/context.ts';
import { flag, type OptionValues, text } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { doctorLines } from '../views/lines.ts';
import { doctorRecord, doctorView } from '../views/setup.ts';

const options = {
  offline: flag('--offline', 'skip checks that need the network', { excludes: ['--test-event'] }),
  testEvent: text(
    '--test-event <EVENT>',
    'have the service send this event, and wait until a local listener receives it',
    {
      values: testableEvents,
      effect: 'account',
    },
  ),
};

type DoctorOptions = OptionValues<typeof options>;

export const doctor = command({
  name: 'doctor',
  summary: 'Check your setup and suggest fixes',
  about:
    'Checks Node, the config file, the key, the service, the proxy, the clock, the ledger, the webhook and more. ' +
    'Each line is ok or says what to do. Changes nothing. Exits with 1 if a check fails; a warning is not a ' +
    'failure.',
  details: [
    '--json prints {check, status, message, hint} for each check, always in the same order; status is ok, warn, ' +
      'fail or skipped.',
  ],
  options,
  examples: [
    ['steno doctor', 'when something does not work'],
    ['steno --sandbox doctor --offline --json', 'for a script'],
    ['steno doctor --test-event TRANSCRIPT_COMPLETE', 'with steno listen running in another window'],
  ],
  makesNoFile: true,
  effect: 'read',
  exits: CALL_EXITS,
  output: () => doctorRecord.printedList,
  async run(context, { options }) {
    const { out, signal } = context;
    if (options.testEvent !== undefined) checkTestableEvent(options.testEvent);
    const results = await whileWorking(out, 'Checking', () =>
      examine(setupOf(context, options), STENO_VERSION, __dirname),
    );
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    if (out.forPeople && out.isBrief) await showLines(out, doctorLines(results, out.stdout.columns));
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

function setupOf(context: Context, { offline, testEvent }: DoctorOptions): Setup {
  const { env, signal, sandbox, globals, mask } = context;
  const { env: networkEnv, userAgent } = publicReading(context);
  const limitMs = globals.timeout ?? LIMIT_MS;
  const settings = once(() => settingsOf(context));
  const limits = { timeoutMs: limitMs, signal };
  return {
    ...{ env, signal, offline, testEvent, limitMs, settings },
    ...{ inSandbox: sandbox !== undefined, networkEnv, userAgent },
    hide: mask.hide,
    key: once(() => settings().settings.key(limits)),
    connect: (apiKey, limit) =>
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

async function completionsOf(env: Env): Promise<Completions> {
  const machine = thisMachine(env);
  // To find the place there, PowerShell must be started.
  if (machine.platform === 'win32') throw usage('completions are not checked on Windows');
  const place = placeOf(chooseShell(undefined, machine), machine);
  const { shell, script, startUpFiles } = place;
  const kinds = planInstall(place, completionScript(shell)).map(kindOf);
  const [ofScript = 'new'] = kinds;
  const state = kinds.every((kind) => kind === 'unchanged') ? 'installed' : 'outdated';
  return { shell, script, startUpFiles, state: ofScript === 'new' ? 'missing' : state };
}

/** Nothing is removed or made. Where the config file can't be used, flags and environment are all there is. */
function settingsOf(context: Context): ReadSettings {
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
