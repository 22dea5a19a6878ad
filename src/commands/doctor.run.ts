import { checkTestableEvent } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { kindOf, planInstall } from '../completion/install.ts';
import { chooseShell, placeOf, thisMachine } from '../completion/places.ts';
import { completionScript } from '../completion/script.ts';
import { type Completions, once, type ReadSettings, type Setup } from '../flows/doctor/check.ts';
import { examine } from '../flows/doctor/doctor.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { configPath } from '../settings/config-file.ts';
import { stateFolder } from '../settings/paths.ts';
import { lookAtProfiles, type Profiles } from '../settings/store.ts';
import { whileWorking } from '../ui/progress.ts';
import { showLines } from '../ui/show-lines.ts';
import { doctorLines, doctorView } from '../views/doctor.ts';

/** How long one question over the network may take, where --timeout says nothing. */
const LIMIT_MS = 10_000;

interface DoctorOptions {
  readonly offline: boolean;
  readonly testEvent: string | undefined;
}

export async function run(context: Context, { options }: Input<DoctorOptions>): Promise<void> {
  const { out, signal } = context;
  if (options.testEvent !== undefined) checkTestableEvent(options.testEvent);
  const program = { version: STENO_VERSION, folder: __dirname };
  const results = await whileWorking(out, 'Checking', () => examine(setupOf(context, options), program));
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
  if (out.forPeople) await showLines(out, doctorLines(results, out.columns));
  else await out.show(doctorView(results));
  const failures = results.filter(({ status }) => status === 'fail');
  if (failures.length)
    throw new StenoError(
      'failed',
      `${plural(failures.length, 'check')} failed: ${failures.map(({ check }) => check).join(', ')}`,
    );
}

function setupOf(context: Context, { offline, testEvent }: DoctorOptions): Setup {
  const { env, signal, inSandbox, globals, mask, publicReading } = context;
  const limitMs = globals.timeout ?? LIMIT_MS;
  const settings = once(() => readSettings(context));
  const limits = { timeoutMs: limitMs, signal };
  return {
    ...{ env, signal, inSandbox, offline, testEvent, limitMs, settings },
    networkEnv: publicReading.env,
    userAgent: publicReading.userAgent,
    hide: mask.hide,
    configPath: () => configPath(env),
    stateFolder: () => stateFolder(env),
    key: once(() => settings().settings.key(limits)),
    connect: (apiKey, limit) =>
      context.connectAs(
        { settings: settings().settings, apiKey },
        { signal: limit, timeoutBounds: 'nothing' },
      ),
    completions: () => completionsOf(context),
    sharedLedger: async () => {
      const { settings: read } = settings();
      const { value: url } = read.get('ledger');
      return url === undefined ? undefined : context.sharedLedgerOptions(url, read, limitMs);
    },
  };
}

async function completionsOf({ env, commandTree }: Context): Promise<Completions> {
  const machine = thisMachine(env);
  // To find the place there, PowerShell must be started.
  if (machine.platform === 'win32') throw usage('they are not looked for on Windows');
  const place = placeOf(chooseShell(undefined, machine), machine);
  const { shell, script, startUpFiles } = place;
  const kinds = planInstall(place, completionScript(shell, await commandTree())).map(kindOf);
  const [ofScript = 'new'] = kinds;
  const state = kinds.every((kind) => kind === 'unchanged') ? 'installed' : 'outdated';
  return { shell, script, startUpFiles, state: ofScript === 'new' ? 'missing' : state };
}

/** Nothing is removed or made. Where the config file can't be used, flags and environment are all there is. */
function readSettings(context: Context): ReadSettings {
  const { result: profiles = {}, error: configError } = attempt((): Profiles => lookAtProfiles(context.env));
  const { result: settings, error: profileError } = attempt(() => context.readSettings({ profiles }));
  return {
    settings: settings ?? context.readSettings({ profiles, newProfile: true }),
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
