import { type Balance, getBalance } from '../api/account.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { readAll } from '../lib/lines.ts';
import { configPath, readProfiles, writeProfile } from '../settings/config-file.ts';
import { acceptKey, keyFromCommand } from '../settings/key.ts';
import { checkBaseUrl, type Settings } from '../settings/settings.ts';
import { CALL_EXITS, command } from '../spec/command.ts';
import { type Context, readSettings } from '../spec/context.ts';
import { flag, type OptionValues, text } from '../spec/options.ts';
import { askPerson, type Questions } from '../ui/prompt.ts';
import { amountWithCurrency } from '../views/money.ts';
import { printed } from '../views/record.ts';
import * as schema from '../views/schema.ts';

const options = {
  apiKeyCommand: text('--api-key-command <cmd>', 'save a command that prints the key, instead of the key', {
    excludes: ['--api-key'],
    effect: 'exec',
  }),
  verify: flag('--no-verify', 'save the key without checking it'),
};

type LoginOptions = OptionValues<typeof options>;

export const login = command({
  name: 'login',
  summary: 'Check your API key and save it',
  about:
    'Checks your API key with the service and saves it in a profile. The key is read from a hidden prompt, or ' +
    'from stdin if there is no terminal. With --base-url, the address is saved too.',
  options,
  examples: [
    ['steno login --base-url https://host/API4', 'asks for the key'],
    ['steno login < key.txt', 'reads the key from a file'],
    ['steno login --api-key-command "pass show steno" --profile work', 'leaves the key in a password store'],
  ],
  effect: 'local',
  exits: CALL_EXITS,
  output: () =>
    printed(
      schema.object({ profile: schema.text, path: schema.described('path of the config file', schema.text) }),
    ),
  async run(context, { options }) {
    if (context.sandbox)
      throw usage(
        'the sandbox has its own key; no login needed',
        'for an account, leave out --sandbox or name another profile: steno login --profile <name>',
      );
    const settings = readSettings(context, { newProfile: true });
    const { baseUrl } = context.globals;
    if (baseUrl !== undefined) checkBaseUrl(baseUrl);
    const { given, key, balance } = await findKey(context, settings, options);
    const { apiKeyCommand } = options;
    const change = {
      'api-key': apiKeyCommand === undefined ? key : undefined,
      'api-key-command': apiKeyCommand,
      ...(given === undefined ? {} : { 'base-url': given }),
    };
    await writeProfile(context.env, settings.profileName, change, context.signal);
    const path = configPath(context.env);
    if (balance)
      context.out.note(
        `Logged in. Balance ${amountWithCurrency(balance.balance, context.settings.currency)}.`,
      );
    context.out.done(`saved in profile ${settings.profileName} (${path})`, {
      profile: settings.profileName,
      path,
    });
    if (given && !options.verify && !/\/API\d+\/?$/i.test(given))
      await context.out.warn(`the base URL ${given} does not end in /API4`, 'check it: steno doctor');
    if (context.env.STENO_API_KEY)
      await context.out.warn('STENO_API_KEY is set and is used in place of the key of a profile');
    if (context.stdin.isTTY && context.out.stderr.isTerminal)
      context.out.note(nextStep(settings.profileName));
  },
});

export const logout = command({
  name: 'logout',
  summary: 'Remove the saved API key',
  about: 'Removes the key from the selected profile; other settings stay. Nothing is sent.',
  examples: [
    ['steno logout', 'from the default profile'],
    ['steno logout --profile work', 'from another profile'],
  ],
  effect: 'local',
  exits: [],
  output: () => printed(schema.object({ profile: schema.text })),
  async run({ settings, env, out, signal }) {
    const { profileName } = settings;
    const profile = readProfiles(env)[profileName];
    const hadKey = profile?.['api-key'] !== undefined || profile?.['api-key-command'] !== undefined;
    await writeProfile(env, profileName, { 'api-key': undefined, 'api-key-command': undefined }, signal);
    const done = hadKey ? 'removed the key from profile' : 'there was no key in profile';
    out.done(`${done} ${profileName}`, { profile: profileName });
    if (env.STENO_API_KEY) await out.warn('STENO_API_KEY is still set');
  },
});

const MAX_STDIN_BYTES = 65_536;

/** How often a person is asked for what turned out to be wrong. */
const MAX_TRIES = 3;

const nextStep = (profile: string): string => {
  const flag = profile === 'default' ? '' : ` --profile ${profile}`;
  return `next: steno order https://example.com/talk.mp3 --sku TRANS14${flag}   (--dry-run shows it first; SKUs: steno skus)`;
};

interface Login {
  readonly key: string;
  /** An address from the environment or from another profile is not kept with the key. */
  readonly given: string | undefined;
  /** Absent with --no-verify. */
  readonly balance?: Balance;
}

/** A key that the service has accepted, unless --no-verify. A person who typed a wrong one is asked again. */
async function findKey(context: Context, settings: Settings, options: LoginOptions): Promise<Login> {
  const missing = {
    baseUrl: options.verify && settings.get('base-url').value === undefined,
    key: options.apiKeyCommand === undefined && context.globals.apiKey === undefined,
  };
  let asks: Missing = missing;
  let kept: string | undefined;
  for (let tries = 1; ; tries += 1) {
    const { baseUrl = kept, key } = await readAnswers(context, asks);
    try {
      return await checkedLogin(context, settings, options, { baseUrl, key });
    } catch (error) {
      if (!key || tries >= MAX_TRIES || !mayAskAgain(error, missing, context)) throw error;
      // After a refused key the next answer is a key: it must not meet the question for the address, which shows it.
      kept = isAboutKey(error) ? baseUrl : undefined;
      asks = { ...missing, baseUrl: missing.baseUrl && kept === undefined };
      await context.out.warn(error.message, againHint(asks));
    }
  }
}

const againHint = ({ baseUrl }: Missing): string =>
  `type ${baseUrl ? 'both' : 'the key'} again, or Ctrl-C to end`;

async function checkedLogin(
  context: Context,
  settings: Settings,
  { verify, apiKeyCommand }: LoginOptions,
  answers: Answers,
): Promise<Login> {
  const { globals, mask, signal } = context;
  const given = globals.baseUrl ?? answers.baseUrl;
  const key =
    apiKeyCommand === undefined
      ? acceptKey(globals.apiKey ?? checkGiven(answers.key), mask)
      : await keyFromCommand(apiKeyCommand, mask, { timeoutMs: globals.timeout, signal });
  // The balance is the call that needs a key and changes nothing.
  if (!verify) return { given, key };
  const transport = await context.connect({ account: { settings, apiKey: key, baseUrl: given } });
  return { given, key, balance: await getBalance(transport) };
}

/** Whether another answer may help: to the question for the key, or to that for the address. */
function mayAskAgain(error: unknown, missing: Missing, { stdin, signal }: Context): error is StenoError {
  if (!(error instanceof StenoError) || !stdin.isTTY || signal.aborted) return false;
  if (isAboutKey(error)) return missing.key;
  return missing.baseUrl && (error.kind === 'missing' || error.kind === 'network' || error.status === 200);
}

const isAboutKey = ({ kind }: StenoError): boolean => kind === 'auth' || kind === 'usage';

type Answers = { readonly [Name in keyof Missing]?: string | undefined };

/** What neither the settings nor the command line say. */
type Missing = Readonly<Record<'baseUrl' | 'key', boolean>>;

/** Asks for what is missing; where there is no terminal, stdin holds the key. */
async function readAnswers(context: Context, missing: Missing): Promise<Answers> {
  if (!missing.baseUrl && !missing.key) return {};
  if (context.stdin.isTTY) {
    return askPerson(context, async (questions) => {
      context.out.note(whereToFind(missing));
      const baseUrl = missing.baseUrl ? await askBaseUrl(questions, context) : undefined;
      return { baseUrl, key: missing.key ? await askKey(questions, context) : undefined };
    });
  }
  if (missing.baseUrl) {
    throw usage(
      "no base URL is set, so the key can't be checked",
      'add --base-url https://host/API4, or --no-verify',
    );
  }
  return { key: (await readAll(context.stdin, MAX_STDIN_BYTES)).trim() };
}

const whereToFind = ({ baseUrl }: Missing): string =>
  `${baseUrl ? 'The base URL, which ends in /API4, and your key' : 'Your key'} ` +
  `${baseUrl ? 'are' : 'is'} on the account page of the service's website.`;

/** An address that can't be one is asked for again. */
async function askBaseUrl(questions: Questions, { out }: Context): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const answer = await questions.line('Base URL:');
    try {
      return checkedAnswer(answer);
    } catch (error) {
      if (tries >= MAX_TRIES || questions.isOver || !(error instanceof StenoError)) throw error;
      // What was pasted behind it is most likely the key, which must not be shown as an address.
      if (answer) await questions.discardTyped();
      await out.warn(error.message, error.hint);
    }
  }
}

function checkedAnswer(baseUrl: string): string {
  if (baseUrl === '')
    throw usage('no base URL was given', 'write it like https://host/API4, or: steno login --base-url <url>');
  checkBaseUrl(baseUrl);
  return baseUrl;
}

/** Asked again after an empty line: a key that is pasted next must not land in the shell. */
async function askKey(questions: Questions, { out }: Context): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const key = await questions.hidden('API key:');
    if (key || tries >= MAX_TRIES || questions.isOver) return key;
    await out.warn('no key was given', 'paste it and press Enter, or press Ctrl-C to stop');
  }
}

function checkGiven(key: string | undefined): string {
  if (key) return key;
  throw new StenoError('auth', 'no key was given', {
    hint: 'paste it at the prompt, or: steno login < key.txt',
  });
}
