/**
 * The webhook that `listen --register` replaces. It is noted in the config folder before it is replaced, and put back by
 * that listener; after a crash, by the next command on this machine that finds the account's webhook to lead there.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getWebhook, setWebhook } from '../api/account.ts';
import type { Transport } from '../api/http/transport.ts';
import type { Env } from '../lib/env.ts';
import { StenoError } from '../lib/errors.ts';
import { isOfThisMachine, isSameProcess, type ProcessMark, thisProcess } from '../lib/processes.ts';
import { sha256 } from '../lib/sha256.ts';
import { shownWebhook } from '../lib/signatures.ts';
import { shellWord } from '../lib/text.ts';
import { disk, writeFileAtomic } from '../lib/whole-file.ts';
import { configFolder, makePrivateFolder } from '../settings/paths.ts';

export interface ReplacedWebhook extends ProcessMark {
  /** The listener's own address, whose last segment can't be guessed. */
  readonly url: string;
  /** Empty where none was set. */
  readonly previous: string;
}

/** A URL that may be set again, and the listeners that had replaced it and have ended. */
interface Former {
  readonly url: string;
  readonly ended: readonly ReplacedWebhook[];
}

export class ReplacedWebhooks {
  readonly #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  /** The listener of this machine that a URL leads to. The service may spell a URL in its own way; its secret stays. */
  find(url: string): ReplacedWebhook | undefined {
    return url ? this.#all().find((each) => url.includes(secretOf(each.url))) : undefined;
  }

  get isEmpty(): boolean {
    return filesIn(this.#folder).length === 0;
  }

  /** What is to be set in place of a URL: itself, unless it leads to a listener that has ended. */
  former(url: string): Former {
    const ended: ReplacedWebhook[] = [];
    let former = url;
    for (
      let each = this.find(url);
      each && !isAlive(each) && !ended.includes(each);
      each = this.find(former)
    ) {
      ended.push(each);
      former = each.previous;
    }
    return { url: former, ended };
  }

  /** On disk when this resolves: to be done before the webhook is set, so that a crash at any point leaves a trace. */
  async add(url: string, previous: string): Promise<ReplacedWebhook> {
    const replaced = { url, previous, ...thisProcess() };
    const path = this.#pathOf(replaced);
    makePrivateFolder(configFolder(this.#env), 'STENO_CONFIG_DIR');
    await writeFileAtomic(path, (write) => write(Buffer.from(`${JSON.stringify(replaced)}\n`)), {
      mode: 0o600,
      name: (draft) => disk.rename(draft, path),
    });
    return replaced;
  }

  /** Unless another listener is to give the webhook back to this one: then it tells what was there before. */
  forget(replaced: ReplacedWebhook): void {
    const isPrevious = this.#all().some(({ previous }) => previous.includes(secretOf(replaced.url)));
    if (!isPrevious) rmSync(this.#pathOf(replaced), { force: true });
  }

  #pathOf({ url }: ReplacedWebhook): string {
    return join(this.#folder, `${sha256(secretOf(url)).slice(0, 32)}.json`);
  }

  get #folder(): string {
    return join(configFolder(this.#env), 'webhooks');
  }

  #all(): ReplacedWebhook[] {
    return filesIn(this.#folder).flatMap((name) => {
      try {
        const text = readFileSync(join(this.#folder, name), 'utf8');
        const replaced = JSON.parse(text) as ReplacedWebhook;
        return secretOf(replaced.url).length >= MIN_SECRET_LENGTH ? [replaced] : [];
      } catch {
        // Forgotten just now, or not ours.
        return [];
      }
    });
  }
}

const MIN_SECRET_LENGTH = 32;

const secretOf = (url: string): string => /[^/]*$/.exec(url.replace(/[?#].*$/s, ''))?.[0] ?? '';

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

const isAlive = (replaced: ReplacedWebhook): boolean => isOfThisMachine(replaced) && isSameProcess(replaced);

/** True only if that is certain: a process on another machine can't be checked. */
export const hasCrashed = (replaced: ReplacedWebhook): boolean =>
  replaced.host === hostname() && !isAlive(replaced);

/** Sets what was there before, if the webhook leads to this listener or one that has ended; gives the webhook as it is then. */
export async function putBack(
  service: Transport,
  webhooks: ReplacedWebhooks,
  replaced: ReplacedWebhook,
): Promise<{ readonly url: string; readonly isPutBack: boolean }> {
  const { url: now } = await getWebhook(service);
  const isOurs = now.includes(secretOf(replaced.url));
  const { url, ended } = webhooks.former(isOurs ? replaced.previous : now);
  if (!isOurs && ended.length === 0) return { url: now, isPutBack: false };
  if (url) await setWebhook(service, url);
  else await removeWebhook(service);
  for (const each of [replaced, ...ended]) webhooks.forget(each);
  return { url, isPutBack: true };
}

/** The API document has no call to remove a webhook; an empty one is the likeliest way. */
async function removeWebhook(service: Transport): Promise<void> {
  try {
    await setWebhook(service, '');
  } catch (error) {
    const status = error instanceof StenoError ? (error.status ?? 0) : 0;
    if (status < 400 || status >= 500) throw error;
    throw new StenoError(
      'failed',
      'the service did not remove the webhook: it still points to that listener',
      {
        hint: 'set another with: steno webhook set <url>',
      },
    );
  }
}

/** What was set, in words. */
export const restoredText = (url: string): string =>
  url ? `the webhook is ${shownWebhook(url)} again` : 'webhook removed (none was set before)';

/** The command that sets a URL; one that is not known, or holds a secret, is for the user to fill in. */
export const setCommand = (url: string, hide: (text: string) => string): string =>
  `steno webhook set ${url && hide(shownWebhook(url)) === url ? shellWord(url) : '<url>'}`;
