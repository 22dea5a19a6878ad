import type { Service } from './server.ts';

/** Answers as a service does that has one webhook; returns every URL that was set. */
export function withWebhook(service: Service, first: string): { url: string; readonly set: string[] } {
  const state = { url: first, set: [] as string[] };
  service.allow('GET /webhook', (_, response) => void response.end(JSON.stringify({ webhook: state.url })));
  service.allow('POST /webhook', (got, response) => {
    state.url = String(got.body?.webhook ?? '');
    state.set.push(state.url);
    response.end(JSON.stringify({ webhook: state.url }));
  });
  service.allow('POST /webhook/test/DIFFICULT_AUDIO', { body: { message: 'ok' } });
  return state;
}

/** Answers to a question for the webhook that do not tell which it is. */
export const unclearWebhooks: readonly string[] = [
  '<html><body>https://example.com/hook</body></html>',
  '{"webhook":"https://example.com/hook',
  '{"message":"none is set"}',
  '{"message":"https://example.com/hook"}',
  '{"help":"https://example.com/docs"}',
  '{"webhook":{}}',
  '{"webhook":false}',
  '{"webhook":7}',
  '{"webhook":"none is set"}',
  '{"webhook":["https://one.example.com/","https://two.example.com/"]}',
  '{"webhook":"https://one.example.com/","url":"https://two.example.com/"}',
  '{"webhook":null,"url":"https://two.example.com/"}',
  '["https://one.example.com/","https://two.example.com/"]',
  '{"a":"https://one.example.com/","b":"https://two.example.com/"}',
  '{"webhook":"https://one.example.com/","webhook":""}',
  '{"webhook":"","webhook":""}',
  '{}',
  '0',
  'true',
  'none is set',
];
