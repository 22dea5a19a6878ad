import { StenoError } from '../lib/errors.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../lib/json.ts';
import { field, idField, unwrap } from './decode.ts';
import { requestJson } from './http/answer.ts';
import type { Transport } from './http/transport.ts';
import { pathSegment } from './ids.ts';
import { checkAnswer, saysNothing } from './refusal.ts';

export interface InvoiceItem {
  readonly id: string;
  readonly sku: string;
  readonly quantity: string;
  readonly price: string;
  readonly audiofile: string;
  readonly total: string;
}

export interface Invoice {
  readonly id: string;
  readonly state: string;
  readonly purchaseOrder: string;
  readonly created: string;
  readonly paid: string;
  readonly total: string;
  readonly items: readonly InvoiceItem[];
  readonly json: Json;
}

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

function decodeInvoice(json: Json, requestedId: string): Invoice {
  const invoice = unwrap(checkAnswer(json), 'invoice');
  if (!invoice || !isInvoice(invoice)) {
    const verdict = saysNothing(json) ? 'says nothing' : 'holds no invoice';
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

const decodeItem = (item: JsonObject): InvoiceItem => ({
  id: idField(item, 'id'),
  sku: field(item, 'sku'),
  quantity: field(item, 'quantity'),
  price: field(item, 'price'),
  audiofile: idField(item, 'audiofile'),
  total: field(item, 'total'),
});
