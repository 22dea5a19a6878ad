import { StenoError } from '../../lib/errors.ts';
import { type Json, parseJson } from '../../lib/json.ts';
import { readText } from './body.ts';
import type { Call } from './call.ts';
import { uncertain } from './failures.ts';
import { messageInText } from './service-message.ts';
import type { Transport } from './transport.ts';

const LARGEST_JSON = 16 * 1024 * 1024;

/** Sends a call whose answer is JSON. */
export function requestJson(transport: Transport, call: Call): Promise<Json> {
  return transport.send(call, async (response) => {
    let text = '';
    try {
      text = await readText(response, LARGEST_JSON);
      return parseJson(text);
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof StenoError)) throw error;
      if (call.mayBeText && error instanceof SyntaxError && text.trim()) return text.trim();
      throw unreadableAnswer(
        call,
        error instanceof StenoError
          ? error.message
          : messageInText(text, response.hide) || (text && 'it is not JSON'),
        response.status,
      );
    }
  });
}

/** A success that can't be read: after a call for money nobody knows what happened. */
export function unreadableAnswer(call: Call, text: string, status?: number): StenoError {
  const what = `the service's answer can't be read${text ? `: ${text}` : ' (it is empty)'}`;
  return call.safety === 'money'
    ? uncertain(call, what, { status })
    : new StenoError('failed', what, { status });
}
