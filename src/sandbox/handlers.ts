import { findOrderSku, findUpgradeSku, orderSkus, upgradeSkus } from '../catalog/skus.ts';
import { JsonNumber, type JsonObject, toJson } from '../lib/json.ts';
import { type Answer, jsonAnswer, messageAnswer } from './answer.ts';
import { refund, upgrade } from './changes.ts';
import { addTestEvent } from './events.ts';
import { fileJson, getFile } from './files.ts';
import { invoiceJson } from './invoices.ts';
import { balanceCents } from './money.ts';
import { type OrderRequest, placeOrder } from './orders.ts';
import type { Params } from './params.ts';
import { dollars, money } from './prices.ts';
import { Refusal } from './refusal.ts';
import { sampleFiles } from './samples.ts';
import { scenariosOf } from './scenarios.ts';
import type { ServiceContext } from './store.ts';
import { isWebUrl, readWebhook, setWebhook } from './webhook.ts';

/** A call with its parameters; answered inside one transaction, unless it only reads. */
export interface Call extends ServiceContext {
  readonly params: Params;
  readonly pathParams: Readonly<Record<string, string>>;
}

const object = (value: Parameters<typeof toJson>[0]): JsonObject => toJson(value) as JsonObject;

export function orderUrl(call: Call): Answer {
  const request = readOrder(call.params);
  const { order, files, held } = placeOrder(call, request);
  const count = `${files.length} audiofile${files.length === 1 ? '' : 's'}`;
  return jsonAnswer(
    object({
      order,
      audiofiles: files.map((id) => new JsonNumber(id)),
      message: held ? `Order ${order} with ${count} is on hold.` : `Order ${order} with ${count} is placed.`,
      hold: held ? 'billing' : undefined,
      test_message: request.test ? 'This is a test order: it is neither charged nor transcribed.' : undefined,
    }),
  );
}

function readOrder(params: Params): OrderRequest {
  const urls = params.required('url');
  for (const url of urls) {
    if (!isWebUrl(url)) throw new Refusal(400, `'${url}' is not an HTTP or HTTPS URL.`);
    if (scenariosOf(url).has('unfetchable'))
      throw new Refusal(400, `${url} can not be fetched: nothing was ordered.`);
  }
  return {
    urls,
    ...readSkus(params.required('sku')),
    notes: params.all('notes').join('\n'),
    names: params.all('name', 'names').join('|'),
    title: params.all('title')[0],
    test: params.flag('test'),
  };
}

function readSkus(given: readonly string[]): { sku: string; extras: string[] } {
  const known = given.map((sku) => {
    const entry = findOrderSku(sku);
    if (!entry)
      throw new Refusal(400, `${sku} is not one of ${orderSkus.map((each) => each.sku).join(', ')}.`);
    return entry;
  });
  const names = (kind: string): string[] => [
    ...new Set(known.filter((each) => each.kind === kind).map((each) => each.aliasOf ?? each.sku)),
  ];
  const [sku, ...more] = names('transcription');
  if (sku === undefined) throw new Refusal(400, 'An add-on SKU needs a transcription SKU beside it.');
  if (more.length > 0)
    throw new Refusal(400, `Only one of ${sku}, ${more.join(', ')} can be ordered at once.`);
  return { sku, extras: names('add-on') };
}

export function prepayBalance(call: Call): Answer {
  const cents = balanceCents(call);
  return jsonAnswer(object({ balance: money(cents), message: `The prepay balance is $${dollars(cents)}.` }));
}

export function audiofile(call: Call): Answer {
  const file = getFile(call, id(call));
  return jsonAnswer(object({ audiofile: fileJson(call, file), message: `Audiofile ${file.id} was found.` }));
}

export function upgradeFile(call: Call): Answer {
  const skus = call.params.required('sku');
  for (const sku of skus) {
    if (!findUpgradeSku(sku)) {
      throw new Refusal(400, `${sku} is not one of ${upgradeSkus.map((each) => each.sku).join(', ')}.`);
    }
  }
  if (isTest(call))
    return messageAnswer(`Audiofile ${id(call)} would be upgraded: this is a test, and nothing was done.`);
  upgrade(call, getFile(call, id(call)), skus);
  return messageAnswer(`Audiofile ${id(call)} is upgraded with ${skus.join(', ')}.`);
}

export function refundFile(call: Call): Answer {
  if (isTest(call))
    return messageAnswer(`Audiofile ${id(call)} would be refunded: this is a test, and nothing was done.`);
  const cents = refund(call, getFile(call, id(call)));
  const where = cents > 0 ? `$${dollars(cents)} went back to the prepay balance` : 'it is off its invoice';
  return messageAnswer(`Audiofile ${id(call)} is refunded: ${where}.`);
}

export const invoice = (call: Call): Answer => jsonAnswer(invoiceJson(call, id(call)));

export function webhook(call: Call, method: string): Answer {
  const url = call.params.first('webhook');
  if (url === undefined && method === 'POST') throw new Refusal(400, 'The parameter webhook is missing.');
  if (url !== undefined) setWebhook(call, url.trim());
  return currentWebhook(call, url === undefined ? 'The registered webhook was read.' : 'The webhook is set.');
}

export function testWebhook(call: Call): Answer {
  const type = call.pathParams.type ?? '';
  addTestEvent(call, type);
  return currentWebhook(call, `A test delivery of ${type} is on its way.`);
}

const currentWebhook = ({ db }: Call, message: string): Answer =>
  jsonAnswer(object({ webhook: readWebhook(db), message }));

const id = (call: Call): string => call.pathParams.id ?? '';

function isTest(call: Call): boolean {
  if (!call.params.flag('test')) return false;
  if (sampleFiles.includes(id(call))) return true;
  throw new Refusal(400, `The parameter test works with audiofiles ${sampleFiles.join(' and ')} only.`);
}
