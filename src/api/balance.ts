import { StenoError } from '../lib/errors.ts';
import { isObject, type Json } from '../lib/json.ts';
import { scalar } from './decode.ts';
import { requestJson } from './http/request-json.ts';
import type { Transport } from './http/transport.ts';

export interface Balance {
  readonly balance: string;
  readonly json: Json;
}

export async function getBalance(transport: Transport): Promise<Balance> {
  const json = await requestJson(transport, { method: 'GET', path: '/prepay_balance', safety: 'read' });
  const balance = isObject(json) ? scalar(json.get('balance')) : scalar(json);
  if (balance === undefined) throw new StenoError('failed', 'the answer holds no balance');
  return { balance, json };
}
