import { meaningOfEvent, testableEvents } from '../catalog/events.ts';
import { command } from '../spec/command.ts';

const work = () => import('./webhook.run.ts');

const get = command({
  name: 'get',
  summary: 'Show the URL that events are sent to',
  about:
    'Shows the URL that the service sends each event to, without its password and signature; --json has it as it is. It ' +
    'warns if that is a listener which has ended without putting back what was set before.',
  examples: [['steno webhook get', 'show it']],
  load: async () => (await work()).get,
});

const set = command({
  name: 'set',
  summary: 'Set the URL that events are sent to',
  about:
    'Sets the URL that the service sends each event to, once. It wins over listen --register: a listener that had ' +
    'borrowed the webhook puts nothing back any more.',
  args: [{ name: '<url>', help: 'an http or https endpoint' }],
  examples: [['steno webhook set https://example.com/steno-events', 'send events there']],
  load: async () => (await work()).set,
});

const test = command({
  name: 'test',
  summary: 'Ask for a test delivery of an event',
  about: 'Asks the service to send a test of an event to the webhook of the account.',
  args: [{ name: '<TYPE>', help: 'the event', values: testableEvents, meaning: meaningOfEvent }],
  examples: [['steno webhook test TRANSCRIPT_COMPLETE', 'have the service send one']],
  load: async () => (await work()).test,
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
