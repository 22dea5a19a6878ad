import { isAmount } from '../lib/amount.ts';
import { StenoError } from '../lib/errors.ts';
import { isObject, type Json } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { scalar } from './decode.ts';
import { requestJson } from './http/answer.ts';
import type { Transport } from './http/transport.ts';
import { checkAnswer } from './refusal.ts';

export interface Balance {
  readonly balance: string;
  readonly json: Json;
}

export const getBalance = async (transport: Transport): Promise<Balance> =>
  decodeBalance(await requestJson(transport, { method: 'GET', path: '/prepay_balance', safety: 'read' }));

function decodeBalance(json: Json): Balance {
  checkAnswer(json);
  const value = isObject(json) ? json.get('balance') : json;
  const balance = scalar(value);
  if (balance !== undefined && typeof value !== 'boolean' && isBalance(balance, isObject(json)))
    return { balance, json };
  const said = balance === undefined ? '' : `: ${oneLine(balance, MAX_SHOWN)}`;
  throw new StenoError('failed', `the answer holds no balance${said}`);
}

const MAX_SHOWN = 100;

/** Under its own name the amount may be written in any way, but it has a digit. */
const isBalance = (text: string, isNamed: boolean): boolean => (isNamed ? /\d/.test(text) : isAmount(text));
