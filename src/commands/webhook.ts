import { getWebhook, setWebhook, testWebhook, type Webhook } from '../api/account.ts';
import { saysNothing } from '../api/decode.ts';
import { messageInJson } from '../api/http/message.ts';
import type { Transport } from '../api/http/transport.ts';
import { checkTestableEvent } from '../catalog/check.ts';
import { meaningOfEvent, testableEvents } from '../catalog/events.ts';
import { hasCrashed, type ReplacedWebhook, ReplacedWebhooks, setCommand } from '../flows/webhook.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { shownWebhook } from '../lib/signatures.ts';
import { checkUrl, isUrl } from '../lib/url.ts';
import { CALL_EXITS, command, family } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { webhookRecord, webhookView } from '../views/setup.ts';

const get = command({
  name: 'get',
  summary: 'Show the URL that events are sent to',
  about:
    'Shows the URL to which the service sends events, without its password and signature; --json shows it in ' +
    'full. Warns if the URL leads to a listener that ended without restoring the previous webhook.',
  examples: [['steno webhook get', 'show the URL']],
  effect: 'read',
  exits: CALL_EXITS,
  output: () => webhookRecord.printed,
  async run(context) {
    const { url } = await showResult(context, await context.connect(), getWebhook);
    if (!url) context.out.note('no webhook is set; set one with: steno webhook set <url>');
    if (url) await warnOfCrashed(context, url);
  },
});

const set = command({
  name: 'set',
  summary: 'Set the URL that events are sent to',
  about:
    'Sets the URL to which the service sends every event once. This overrides listen --register: a running ' +
    'listener no longer restores the previous webhook when it ends.',
  args: [{ name: '<url>', help: 'http or https URL' }],
  examples: [['steno webhook set https://example.com/steno-events', 'send events there']],
  effect: 'account',
  exits: CALL_EXITS,
  output: () => webhookRecord.printed,
  async run(context, { args: [url = ''] }) {
    checkUrl(url, 'hook');
    if (/^https?:\/\/\*+@/i.test(url))
      throw usage(
        'its user name and password are masked',
        'copy the full URL from: steno webhook get --json',
      );
    const transport = await context.connect();
    const replaced = await replacedNow(context, transport);
    const change = async (): Promise<Webhook> => {
      const answer = requireContent(await setWebhook(transport, url));
      // A message alone may be a refusal.
      const now = answer.url || (await askForUrl(transport, answer));
      if (sameUrl(now, url)) return { ...answer, url: answer.url || url };
      throw notSet(
        `the webhook was not set to ${shownWebhook(url)}: the service reports ${now ? shownWebhook(now) : 'none'}`,
      );
    };
    await showResult(context, transport, change, () => `the webhook is set to ${shownWebhook(url)}`);
    if (replaced) await warnOfReplaced(context, replaced);
  },
});

const test = command({
  name: 'test',
  summary: 'Request a test event',
  about: "Asks the service to send a test event to the account's webhook.",
  args: [{ name: '<TYPE>', help: 'event to send', values: testableEvents, meaning: meaningOfEvent }],
  examples: [['steno webhook test TRANSCRIPT_COMPLETE', 'request one']],
  effect: 'account',
  once: true,
  exits: CALL_EXITS,
  output: () => webhookRecord.printed,
  async run(context, { args: [type = ''] }) {
    checkTestableEvent(type);
    const askedFor = ({ url }: Webhook): string =>
      `requested a test of ${type}${url ? ` to ${shownWebhook(url)}` : ''}`;
    const ask = async (transport: Transport): Promise<Webhook> =>
      requireContent(await testWebhook(transport, type));
    const webhook = await showResult(context, await context.connect(), ask, askedFor);
    context.out.note(askedFor(webhook));
  },
});

export const webhook = family({
  name: 'webhook',
  summary: "Show, set and test the account's webhook",
  about:
    'Each account has one webhook: a URL to which the service sends every event once. These commands show, set ' +
    'and test it.',
  children: [get, set, test],
  examples: [
    ['steno webhook get', 'where events go now'],
    ['steno webhook set https://example.com/steno-events', 'send them elsewhere'],
    ['steno webhook test ORDER_ON_HOLD', 'request a test event'],
  ],
});

async function warnOfCrashed({ out, env, mask }: Context, url: string): Promise<void> {
  const listener = new ReplacedWebhooks(env).find(url);
  if (!listener || !hasCrashed(listener)) return;
  await out.warn(
    'it points to a listener that ended without restoring the previous webhook: events are lost',
    `steno listen --register or steno doctor restores it, or: ${setCommand(listener.previous, mask.hide)}`,
  );
}

/** The listener of this machine that the webhook leads to. The service is not asked where there can be none. */
async function replacedNow({ env }: Context, transport: Transport): Promise<ReplacedWebhook | undefined> {
  const webhooks = new ReplacedWebhooks(env);
  if (webhooks.isEmpty) return undefined;
  // What can't be read now is asked for again when it is set.
  const { url } = await getWebhook(transport).catch(() => ({ url: '' }));
  return webhooks.find(url);
}

/** `webhook set` wins: what a crashed listener had replaced is no longer restored. */
async function warnOfReplaced({ env, out, mask }: Context, listener: ReplacedWebhook): Promise<void> {
  if (!hasCrashed(listener))
    return out.warn(
      `the running listener (pid ${listener.pid}) gets no more events`,
      'restart it to receive them',
    );
  new ReplacedWebhooks(env).forget(listener);
  await out.warn(
    'a listener ended without restoring the previous webhook: it will not be restored any more',
    `to set the previous webhook: ${setCommand(listener.previous, mask.hide)}`,
  );
}

/** What is set after an answer that does not tell. */
async function askForUrl(transport: Transport, { json }: Webhook): Promise<string> {
  try {
    return (await getWebhook(transport)).url;
  } catch (error) {
    const said = messageInJson(json);
    throw notSet(
      `the service's answer does not name the webhook${said ? `, but says: ${said}` : ''}; whether it is set is unknown: ${errorMessage(error)}`,
    );
  }
}

const notSet = (message: string): StenoError =>
  new StenoError('failed', message, { hint: 'check it with: steno webhook get' });

function requireContent(webhook: Webhook): Webhook {
  if (!saysNothing(webhook.json)) return webhook;
  throw new StenoError('failed', 'the answer is empty, so it is not known whether the service did it', {
    hint: 'check the webhook with: steno webhook get',
  });
}

/** The service may spell a URL in its own way. */
const sameUrl = (a: string, b: string): boolean =>
  a === b || (isUrl(a) && isUrl(b) && new URL(a).href === new URL(b).href);

async function showResult(
  context: Context,
  transport: Transport,
  call: (transport: Transport) => Promise<Webhook>,
  /** Says what the call has done, where it changes something. */
  doneLine?: (webhook: Webhook) => string,
): Promise<Webhook> {
  const webhook = await whileWorking(context.out, WAITING, () => call(transport));
  if (doneLine) context.out.addDone(doneLine(webhook));
  await context.out.show(webhookView(webhook));
  return webhook;
}
