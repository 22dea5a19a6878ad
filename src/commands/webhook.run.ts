import type { Transport } from '../api/http/transport.ts';
import { getWebhook, setWebhook, testWebhook, type Webhook } from '../api/webhook.ts';
import { checkTestableEvent } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
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
    const answer = await setWebhook(transport, url);
    return answer.url ? answer : { ...answer, url };
  });
}

export async function test(context: Context, { args: [type = ''] }: Input): Promise<void> {
  checkTestableEvent(type);
  const { url } = await showResult(context, (transport) => testWebhook(transport, type));
  context.out.note(`asked for a test of ${type}${url ? ` to ${url}` : ''}`);
}

async function showResult(
  context: Context,
  call: (transport: Transport) => Promise<Webhook>,
): Promise<Webhook> {
  const transport = await context.connect();
  const webhook = await whileSpinning(context.out, 'Asking', () => call(transport));
  await context.out.show(webhookView(webhook));
  return webhook;
}
