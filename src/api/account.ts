/** The account: its balance, its invoices and its webhook. */

import { StenoError } from '../lib/errors.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../lib/json.ts';
import { isAmount } from '../lib/money.ts';
import { oneLine } from '../lib/text.ts';
import { checkAnswer, field, idField, pathSegment, saysNothing, scalar, unwrap } from './decode.ts';
import { requestJson } from './http/answer.ts';
import type { Call } from './http/call.ts';
import type { Transport } from './http/transport.ts';

export interface Balance {
  readonly balance: string;
  readonly json: Json;
}

export async function getBalance(transport: Transport): Promise<Balance> {
  const call: Call = { method: 'GET', path: '/prepay_balance', safety: 'read' };
  const json = checkAnswer(await requestJson(transport, call));
  const value = isObject(json) ? json.get('balance') : json;
  const balance = scalar(value);
  // Under its own name the amount may be written in any way, but it has a digit.
  const isBalance = isObject(json) ? (text: string): boolean => /\d/.test(text) : isAmount;
  if (balance !== undefined && typeof value !== 'boolean' && isBalance(balance)) return { balance, json };
  const said = balance === undefined ? '' : `: ${oneLine(balance, 100)}`;
  throw new StenoError('failed', `the answer contains no balance${said}`);
}

export type Invoice = Readonly<ReturnType<typeof decodeInvoice>>;
export type InvoiceItem = Readonly<ReturnType<typeof decodeItem>>;

export const getInvoice = async (transport: Transport, id: string): Promise<Invoice> => {
  const path = `/invoice/${pathSegment(id)}`;
  return decodeInvoice(await requestJson(transport, { method: 'POST', path, safety: 'read' }), id);
};

/** Of one that is paid, nothing changes any more. */
export const isFinalInvoice = ({ state }: Invoice): boolean => state.toUpperCase() === 'PAID';

/** One that was kept as it came; undefined where it can't be read any more, because a secret was masked in it. */
export function decodeKeptInvoice({ id, answer }: { id: string; answer: string }): Invoice | undefined {
  try {
    return decodeInvoice(parseJson(answer), id);
  } catch {
    return undefined;
  }
}

function decodeInvoice(json: Json, requestedId: string) {
  const invoice = unwrap(checkAnswer(json), 'invoice');
  if (!invoice || !isInvoice(invoice)) {
    const verdict = saysNothing(json) ? 'says nothing' : 'contains no invoice';
    throw new StenoError('failed', `the answer for ${requestedId} ${verdict}`);
  }
  const items = invoice.get('items');
  return {
    id: idField(invoice, 'id') || requestedId,
    state: field(invoice, 'state'),
    purchaseOrder: field(invoice, 'purchase_order'),
    created: field(invoice, 'createtime'),
    paid: field(invoice, 'paidtime'),
    total: field(invoice, 'total'),
    items: (Array.isArray(items) ? items : []).filter(isObject).map(decodeItem),
    json,
  };
}

function isInvoice(invoice: JsonObject): boolean {
  const items = invoice.get('items');
  const hasItems = Array.isArray(items) && items.length > 0;
  return hasItems || ['id', 'total', 'state'].some((key) => field(invoice, key) !== '');
}

const decodeItem = (item: JsonObject) => ({
  id: idField(item, 'id'),
  sku: field(item, 'sku'),
  quantity: field(item, 'quantity'),
  price: field(item, 'price'),
  audiofile: idField(item, 'audiofile'),
  total: field(item, 'total'),
});

export interface Webhook {
  /** Empty where none is set. */
  readonly url: string;
  readonly json: Json;
}

/** Throws where the answer is not clear: what was there before has to be given back later, so nothing is guessed. */
export async function getWebhook(transport: Transport): Promise<Webhook> {
  const call: Call = { method: 'GET', path: '/webhook', safety: 'read', isAddress: true, uniqueKeys: true };
  const json = checkAnswer(await requestJson(transport, call));
  const url = urlIn(json);
  if (url !== undefined) return { url, json };
  const message = "the service's answer can't be read: it names no webhook, or more than one";
  throw new StenoError('failed', message, { hint: 'see it with: steno api GET /webhook' });
}

export const setWebhook = (transport: Transport, url: string): Promise<Webhook> =>
  changeWebhook(transport, '/webhook', new Map([['webhook', url]]));

export const testWebhook = (transport: Transport, type: string): Promise<Webhook> =>
  changeWebhook(transport, `/webhook/test/${encodeURIComponent(type)}`);

async function changeWebhook(transport: Transport, path: string, params?: JsonObject): Promise<Webhook> {
  const call: Call = { method: 'POST', path, safety: 'once', isAddress: true, ...(params && { params }) };
  const json = checkAnswer(await requestJson(transport, call));
  // It may be a message alone.
  return { url: urlIn(json) ?? '', json };
}

/** The API document names no key for the URL; in lower case, without dashes and underscores. */
const likelyKeys = new Set(['webhook', 'webhookurl', 'url', 'callback', 'callbackurl']);
/** Texts for people, and links that are none of the account's. */
const otherKeys = new Set('message msg help info link links doc docs documentation'.split(' '));

const MAX_DEPTH = 4;

/**
 * The URL that an answer names; empty where it says that there is none, undefined where it is not clear. What stands
 * under a likely key decides; without one, the only URL in the answer.
 */
function urlIn(json: Json): string | undefined {
  const named = namedValues(json);
  const values = named.length ? named.flatMap((value) => readings(value, true)) : readings(json, false);
  const [first, ...others] = new Set(values);
  return others.length ? undefined : first;
}

/** The values under likely keys, at the outermost level that has one; of a key within a key, the inner one counts. */
function namedValues(json: Json, depth = 0): Json[] {
  if (!isObject(json) || depth > MAX_DEPTH) return [];
  const here = [...json].filter(([key]) => likelyKeys.has(bare(key))).map(([, value]) => value);
  const among = here.length ? here : [...json.values()];
  return among.flatMap((value) => {
    const inner = namedValues(value, depth + 1);
    return inner.length || here.length === 0 ? inner : [value];
  });
}

const bare = (key: string): string => key.toLowerCase().replace(/[-_]/g, '');

/** What a value may be read as: URLs, an empty text for none, undefined for anything else. */
function readings(value: Json, isNamed: boolean, depth = 0): Array<string | undefined> {
  if (value === null) return [''];
  if (typeof value === 'string') return [readText(value.trim(), isNamed)];
  if (depth > MAX_DEPTH) return [undefined];
  const inner = (each: Json, named: boolean) => readings(each, named, depth + 1);
  if (Array.isArray(value)) return value.length ? value.flatMap((each) => inner(each, isNamed)) : [''];
  const fields = isObject(value) ? [...value].filter(([key]) => !otherKeys.has(bare(key))) : [];
  const urls = fields.flatMap(([, each]) => inner(each, false).filter(Boolean));
  return urls.length ? urls : [undefined];
}

/** Under a key of its own a host without a scheme is an address too. */
function readText(text: string, isNamed: boolean): string | undefined {
  const isHost = isNamed && /^[\w-]+(\.[\w-]+)+(:\d+)?(\/\S*)?$/.test(text);
  return text === '' || isHost || /^https?:\/\/\S+$/i.test(text) ? text : undefined;
}
