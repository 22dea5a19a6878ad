import { getBalance } from '../api/balance.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { readAll } from '../lib/streams.ts';
import { checkBaseUrl } from '../settings/base-url.ts';
import { configPath } from '../settings/config-file.ts';
import { acceptKey, keyFromCommand } from '../settings/key.ts';
import { writeProfile } from '../settings/store.ts';
import { askPerson } from '../ui/prompt.ts';

interface LoginOptions {
  readonly apiKeyCommand: string | undefined;
  readonly verify: boolean;
}

const MAX_STDIN_BYTES = 65_536;

export async function run(context: Context, { options }: Input<LoginOptions>): Promise<void> {
  const settings = context.readSettings({ newProfile: true });
  const { apiKeyCommand } = options;
  const { baseUrl, apiKey } = context.globals;
  if (baseUrl !== undefined) checkBaseUrl(baseUrl);
  const answers = await readAnswers(context, {
    baseUrl: options.verify && settings.get('base-url').value === undefined,
    key: apiKeyCommand === undefined && apiKey === undefined,
  });
  // An address from the environment or from another profile is not kept with the key.
  const given = baseUrl ?? answers.baseUrl;
  const key =
    apiKeyCommand === undefined
      ? acceptKey(apiKey ?? checkGiven(answers.key), context.mask)
      : await keyFromCommand(apiKeyCommand, context.mask, context.commandLimits);
  // The balance is the call that needs a key and changes nothing.
  if (options.verify) await getBalance(await context.connectAs({ settings, apiKey: key, baseUrl: given }));
  const change = {
    'api-key': apiKeyCommand === undefined ? key : undefined,
    'api-key-command': apiKeyCommand,
    ...(given === undefined ? {} : { 'base-url': given }),
  };
  await writeProfile(context.env, settings.profileName, change, context.signal);
  const path = configPath(context.env);
  context.out.done(`kept in profile ${settings.profileName} (${path})`, {
    profile: settings.profileName,
    path,
  });
  if (context.env.STENO_API_KEY)
    await context.out.warn('STENO_API_KEY is set and is used in place of the key of a profile');
}

interface Answers {
  readonly baseUrl?: string | undefined;
  readonly key?: string | undefined;
}

/** Asks for what is missing; where there is no terminal, stdin holds the key. */
async function readAnswers(
  context: Context,
  missing: { readonly baseUrl: boolean; readonly key: boolean },
): Promise<Answers> {
  if (!missing.baseUrl && !missing.key) return {};
  if (context.stdin.isTTY) {
    return askPerson(context, async (questions) => {
      const baseUrl = missing.baseUrl ? await questions.line('Base URL:') : undefined;
      if (baseUrl !== undefined) checkBaseUrl(baseUrl);
      return { baseUrl, key: missing.key ? await questions.hidden('API key:') : undefined };
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

function checkGiven(key: string | undefined): string {
  if (key) return key;
  throw new StenoError('auth', 'no key was given', {
    hint: 'paste it at the prompt, or: steno login < key.txt',
  });
}
