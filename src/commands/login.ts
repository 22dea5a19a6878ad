import { command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { flag, text } from '../cli/options.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { checkBaseUrl } from '../settings/base-url.ts';
import { keyFromCommand } from '../settings/key.ts';
import { checkKey, Settings } from '../settings/settings.ts';
import { configPath, writeProfile } from '../settings/store.ts';

export const login = command({
  name: 'login',
  summary: 'Keep the key of your account',
  about:
    'Keeps the key in a profile, after the service has accepted it. The key is read from a hidden prompt, or ' +
    'from stdin where there is no terminal. With --base-url the address is kept with it.',
  options: {
    apiKeyCommand: text('--api-key-command <cmd>', 'keep a command that prints the key, in place of the key'),
    verify: flag('--no-verify', 'keep it without asking the service'),
  },
  examples: [
    ['steno login --base-url https://host/API4', 'asks for the key'],
    ['steno login < key.txt', 'takes it from a file'],
    ['steno login --api-key-command "pass show steno" --profile work', 'leaves it in a password store'],
  ],
  async run(context, { options }) {
    const settings = context.readSettings({ newProfile: true });
    const { apiKeyCommand } = options;
    const given = await baseUrlGiven(context, settings, options.verify);
    const key = apiKeyCommand === undefined ? await readKey(context) : await keyFromCommand(apiKeyCommand);
    context.mask.add(key);
    checkKey(key);
    if (options.verify) await verify(context, given ?? settings.find('base-url').value, key);
    await writeProfile(context.env, settings.profileName, {
      'api-key': apiKeyCommand === undefined ? key : undefined,
      'api-key-command': apiKeyCommand,
      ...(given === undefined ? {} : { 'base-url': given }),
    });
    const path = configPath(context.env);
    context.out.done(`kept in profile ${settings.profileName} (${path})`, {
      profile: settings.profileName,
      path,
    });
    if (context.env.STENO_API_KEY)
      await context.out.warn('STENO_API_KEY is set and goes before the key of a profile');
  },
});

/** The address to keep with the key: only one that is given here and now. */
async function baseUrlGiven(
  context: Context,
  settings: Settings,
  needed: boolean,
): Promise<string | undefined> {
  const { baseUrl } = context.globals;
  if (baseUrl !== undefined) checkBaseUrl(baseUrl);
  if (baseUrl !== undefined || !needed || settings.find('base-url').value !== undefined) return baseUrl;
  if (!context.stdin.isTTY) {
    throw usage(
      'no base URL is set, so the key can not be checked',
      'add --base-url https://host/API4, or --no-verify',
    );
  }
  const { askLine } = await import('../ui/prompt.ts');
  const typed = await askLine('Base URL: ', context.stdin, context.signal);
  checkBaseUrl(typed);
  return typed;
}

async function readKey(context: Context): Promise<string> {
  if (context.globals.apiKey !== undefined) return context.globals.apiKey;
  const [{ askHidden }, { readAll }] = await Promise.all([
    import('../ui/prompt.ts'),
    import('../lib/streams.ts'),
  ]);
  const given = context.stdin.isTTY
    ? await askHidden('API key: ', context.stdin, context.out)
    : await readAll(context.stdin, 65_536);
  const key = given.trim();
  if (!key)
    throw new StenoError('auth', 'no key was given', {
      hint: 'paste it at the prompt, or: steno login < key.txt',
    });
  return key;
}

/** Asks the service for something harmless with the new key. */
async function verify(context: Context, baseUrl: string | undefined, key: string): Promise<void> {
  const { profile } = context.globals;
  const settings = new Settings({ 'base-url': baseUrl }, profile, context.env, { newProfile: true });
  const { getBalance } = await import('../api/balance.ts');
  const transport = await context.transportFor(settings, key);
  try {
    await getBalance(transport);
  } finally {
    await transport.close();
  }
}
