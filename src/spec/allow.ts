/** STENO_ALLOW and the setting `allow`: which effects commands may have. Both must allow what a command line does. */
import { type Effect, effectMeanings, parseEffects } from '../lib/effects.ts';
import type { Env } from '../lib/env.ts';
import { usage } from '../lib/errors.ts';
import { accountName } from '../lib/names.ts';
import { lookAtProfiles } from '../settings/config-file.ts';
import type { Command, Input } from './command.ts';
import { type GlobalValues, SANDBOX } from './global-options.ts';
import { longName, type Options } from './options.ts';

/** Who allows what: the environment, and the settings of the profile. */
interface Rule {
  readonly name: string;
  readonly allowed: ReadonlySet<string>;
}

/** The process and the profile that a command line names. */
interface Where {
  readonly env: Env;
  readonly globals: GlobalValues;
}

/** Throws for an effect that is not allowed; `what` names the command or the flag. */
export function requireAllowed({ env, globals }: Where, effect: Effect, what: string): void {
  for (const { name, allowed } of rulesOf(env, globals, effect))
    if (!allowed.has(effect))
      throw usage(
        `${what} is not allowed: it ${effectMeanings[effect]}, and ${name} allows only ${[...allowed].join(', ')}`,
        `add ${effect} to ${name}; see: steno help environment`,
      );
}

/** Whether an effect is allowed, for what can be left out. */
export function isAllowed({ env, globals }: Where, effect: Effect): boolean {
  return rulesOf(env, globals, effect).every(({ allowed }) => allowed.has(effect));
}

/** Throws where the line does more than is allowed, before anything is opened. */
export function checkAllowed(where: Where, spec: Command, path: string, input: Input<Options>): void {
  for (const [effect, what] of effectsOf(spec, path, input)) requireAllowed(where, effect, what);
}

/** What a line does, each with the command or the flag that does it. */
function effectsOf(
  spec: Command,
  path: string,
  input: Input<Options>,
): Array<[effect: Effect, what: string]> {
  if (input.options.dryRun === true) return [['read', path]];
  const own = spec.effectsOf?.(input) ?? [spec.effect ?? 'read'];
  const flags = Object.entries(spec.options ?? {})
    .filter(([key, { initial }]) => isGiven(input.options[key], initial))
    // To stdout: that changes no file.
    .filter(([key, option]) => !(longName(option) === '--output' && input.options[key] === '-'))
    .flatMap(
      ([, option]): Array<[Effect, string]> =>
        option.effect ? [[option.effect, `${path} ${longName(option)}`]] : [],
    );
  return [...own.map((effect): [Effect, string] => [effect, path]), ...flags];
}

const isGiven = (value: unknown, initial: unknown): boolean =>
  Array.isArray(value) && Array.isArray(initial) ? value.length !== initial.length : value !== initial;

function rulesOf(env: Env, { profile, sandbox }: GlobalValues, effect: Effect): Rule[] {
  const selected = sandbox ? SANDBOX : accountName(profile ?? (env.STENO_PROFILE || 'default'));
  const kept = keptRule(env, selected, effect);
  return [
    ...(env.STENO_ALLOW === undefined ? [] : [{ name: 'STENO_ALLOW', text: env.STENO_ALLOW }]),
    ...(kept === undefined ? [] : [{ name: `the setting allow of profile ${selected}`, text: kept }]),
  ].map(({ name, text }) => ({ name, allowed: parseEffects(text, name) }));
}

/** What a config file that can't be read would allow is not known: only reading goes on. */
function keptRule(env: Env, profile: string, effect: Effect): string | undefined {
  try {
    return lookAtProfiles(env)[profile]?.allow;
  } catch (error) {
    if (effect === 'read') return undefined;
    throw error;
  }
}
