/** Answers that are no success. */

import { type KnownFault, sends } from './fault-kinds.ts';
import { response } from './fault-proxy.ts';

/** Error bodies send the key back, which must be shown nowhere. */
const messages: Readonly<Record<string, (key: string) => { type?: string; body: string }>> = {
  JSON: (key) => ({
    type: 'application/json',
    body: JSON.stringify({ message: `that is how it is, ${key}` }),
  }),
  text: (key) => ({ type: 'text/plain', body: `that is how it is, ${key}\nand more` }),
  HTML: (key) => ({
    type: 'text/html',
    body: `<html><title>that is how it is</title><p>${key}</p>${'<br>'.repeat(5000)}</html>`,
  }),
  nothing: () => ({ body: '' }),
};

const transient = new Set([408, 429, 500, 502, 503, 504]);

function statusFault(status: number, kind: string, more: Readonly<Record<string, string>> = {}): KnownFault {
  const extra = Object.keys(more).length ? ` and ${JSON.stringify(more)}` : '';
  return {
    name: `status ${status} with ${kind}${extra}`,
    effect: { kind: 'status', status },
    repeated: transient.has(status) && !Number(more['retry-after']),
    serve: sends(({ request }) => {
      const { type, body } = messages[kind]?.(request.key) ?? { body: '' };
      return response(`${status} Odd`, { ...(type && { 'content-type': type }), ...more }, body);
    }, 'keeps'),
  };
}

export const statuses: readonly KnownFault[] = [
  ...[400, 401, 402, 403, 404, 409, 418, 422, 429, 500, 502, 503, 504].flatMap((status) =>
    Object.keys(messages).map((kind) => statusFault(status, kind)),
  ),
  ...[429, 503].flatMap((status) =>
    ['3600', '0', 'Wed, 21 Oct 2099 07:28:00 GMT', 'soon'].map((value) =>
      statusFault(status, 'JSON', { 'retry-after': value }),
    ),
  ),
  ...[304, 408, 410, 501, 505, 600, 999].map((status) => statusFault(status, 'text')),
  ...[301, 302, 303, 307, 308].flatMap((status) => [
    statusFault(status, 'HTML', { location: 'https://ada:pw@other.example/API4?a=1' }),
    statusFault(status, 'nothing'),
  ]),
  {
    ...statusFault(302, 'text'),
    name: 'a redirect with the key',
    serve: sends(({ request: { key } }) =>
      response('302 Found', { location: `https://other.example/?api_key=${encodeURIComponent(key)}` }),
    ),
  },
];
