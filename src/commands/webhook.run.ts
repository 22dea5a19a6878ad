import type { Transport } from '../api/http/transport.ts';
import { saysNothing } from '../api/refusal.ts';
import { getWebhook, setWebhook, testWebhook, type Webhook } from '../api/webhook.ts';
import { checkTestableEvent } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { StenoError } from '../lib/errors.ts';
import { checkUrl } from '../lib/urls.ts';
import { whileSpinning } from '../ui/spinner.ts';
import { webhookView } from '../views/simple.ts';

export async function get(context: Context): Promise<void> {
  const { url } = await showResult(context, getWebhook);
  if (!url) context.out.note('no webhook is set; set one with: steno webhook set <url>');
}

export async function set(context: Context, { args: [url = ''] }: Input): Promise<void> {
  checkUrl(url, 'hook');
  await showResult(context, async (transport) => {
    const answer = requireContent(await setWebhook(transport, url));
    if (!answer.url) return { ...answer, url };
    if (sameUrl(answer.url, url)) return answer;
    throw new StenoError(
      'failed',
      `the webhook is not ${url}: the service answers that it is ${answer.url}`,
      {
        hint: 'look at it with: steno webhook get',
      },
    );
  });
}

export async function test(context: Context, { args: [type = ''] }: Input): Promise<void> {
  checkTestableEvent(type);
  const { url } = await showResult(context, async (transport) =>
    requireContent(await testWebhook(transport, type)),
  );
  context.out.note(`asked for a test of ${type}${url ? ` to ${url}` : ''}`);
}

function requireContent(webhook: Webhook): Webhook {
  if (!saysNothing(webhook.json)) return webhook;
  throw new StenoError('failed', 'the answer says nothing: whether it was done is not known', {
    hint: 'look at the webhook with: steno webhook get',
  });
}

/** The service may spell a URL in its own way. */
const sameUrl = (a: string, b: string): boolean =>
  a === b || (URL.canParse(a) && new URL(a).href === new URL(b).href);

async function showResult(
  context: Context,
  call: (transport: Transport) => Promise<Webhook>,
): Promise<Webhook> {
  const transport = await context.connect();
  const webhook = await whileSpinning(context.out, 'Asking', () => call(transport));
  await context.out.show(webhookView(webhook));
  return webhook;
}
