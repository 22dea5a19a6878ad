import type { Transport } from '../api/http/transport.ts';
import type { Webhook } from '../api/webhook.ts';
import { checkTestableEvent } from '../catalog/check.ts';
import { testableEvents } from '../catalog/events.ts';
import { command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { checkUrl } from '../lib/urls.ts';

type Api = typeof import('../api/webhook.ts');

async function showResult(
  context: Context,
  call: (api: Api, transport: Transport) => Promise<Webhook>,
): Promise<Webhook> {
  const [api, { webhookView }, { whileSpinning }] = await Promise.all([
    import('../api/webhook.ts'),
    import('../views/simple.ts'),
    import('../ui/spinner.ts'),
  ]);
  const transport = await context.transport();
  const webhook = await whileSpinning(context.out, 'Asking', () => call(api, transport));
  await context.out.show(webhookView(webhook));
  return webhook;
}

const get = command({
  name: 'get',
  summary: 'Show the URL that events are sent to',
  examples: [['steno webhook get', 'show it']],
  async run(context) {
    const { url } = await showResult(context, (api, transport) => api.getWebhook(transport));
    if (!url) context.out.note('no webhook is set; set one with: steno webhook set <url>');
  },
});

const set = command({
  name: 'set',
  summary: 'Set the URL that events are sent to',
  args: [{ name: '<url>', help: 'an http or https endpoint' }],
  examples: [['steno webhook set https://example.com/steno-events', 'send events there']],
  async run(context, { args: [url = ''] }) {
    checkUrl(url, 'hook');
    await showResult(context, async (api, transport) => {
      const answer = await api.setWebhook(transport, url);
      return answer.url ? answer : { ...answer, url };
    });
  },
});

const test = command({
  name: 'test',
  summary: 'Ask for a test delivery of an event',
  args: [{ name: '<TYPE>', help: `one of ${testableEvents.join(', ')}`, values: testableEvents }],
  examples: [['steno webhook test TRANSCRIPT_COMPLETE', 'have the service send one']],
  async run(context, { args: [type = ''] }) {
    checkTestableEvent(type);
    const { url } = await showResult(context, (api, transport) => api.testWebhook(transport, type));
    context.out.note(`asked for a test of ${type}${url ? ` to ${url}` : ''}`);
  },
});

export const webhook = command({
  name: 'webhook',
  summary: "Read, set and test the account's webhook",
  about:
    'The account has one webhook: the URL that the service sends each event to, once. These read, set and test it.',
  children: [get, set, test],
  examples: [
    ['steno webhook get', 'where events go now'],
    ['steno webhook set https://example.com/steno-events', 'send them elsewhere'],
    ['steno webhook test ORDER_ON_HOLD', 'try it'],
  ],
});
