import { StenoError } from '../lib/errors.ts';
import { isObject, type Json } from '../lib/json.ts';
import { scalar } from './decode.ts';
import { requestJson } from './http/request-json.ts';
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
  const balance = scalar(isObject(json) ? json.get('balance') : json);
  if (balance === undefined) throw new StenoError('failed', 'the answer holds no balance');
  return { balance, json };
}
