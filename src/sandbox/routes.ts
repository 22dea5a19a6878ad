import { findFormat, formats } from '../catalog/formats.ts';
import { findOrderSku, findUpgradeSku, orderSkus, upgradeSkus } from '../catalog/skus.ts';
import { JsonNumber, type JsonObject, toJson } from '../lib/json.ts';
import { type Answer, jsonAnswer, messageAnswer, type Params, Refusal } from './calls.ts';
import { addTestEvent, isWebUrl, readWebhook, setWebhook } from './events.ts';
import { countDeliveries, dollars, fileJson, getFile, money, stateOf } from './files.ts';
import { balanceCents, invoiceJson } from './invoices.ts';
import { type OrderRequest, placeOrder, refund, upgrade } from './orders.ts';
import { scenariosOf } from './scenarios.ts';
import { type ServiceContext, sampleFiles } from './store.ts';

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
      throw new Refusal(400, `${url} can't be fetched: nothing was ordered.`);
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
  if (sku === undefined) throw new Refusal(400, 'An add-on SKU requires a transcription SKU.');
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
  const where =
    cents > 0 ? `$${dollars(cents)} went back to the prepay balance` : 'it was removed from its invoice';
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

export async function transcript(call: Call): Promise<Answer> {
  const ext = call.pathParams.ext ?? 'txt';
  const format = findFormat(ext);
  if (!format) {
    throw new Refusal(400, `'${ext}' is not one of ${formats.map((each) => each.ext).join(', ')}.`);
  }
  const file = getFile(call, call.pathParams.id ?? '');
  const fake = call.params.flag('test');
  const state = stateOf(call, file.id);
  if (!fake && state !== 'Delivered') {
    throw new Refusal(409, `Audiofile ${file.id} has no transcript in the state ${state}.`);
  }
  const { renderTranscript } = await import('./transcripts/formats.ts');
  const names = file.names.split('|').filter((name) => name.trim() !== '');
  const { id, title, link, minutes } = file;
  const revision = countDeliveries(call, id);
  const marks = scenariosOf(link).has('marks');
  const body = renderTranscript(ext, { id, title, names, link, minutes, revision, marks, fake });
  return {
    status: 200,
    type: format.content === 'text' ? `${format.mime}; charset=utf-8` : format.mime,
    body,
  };
}

interface Route {
  readonly methods: readonly string[];
  readonly path: RegExp;
  /** Only reads, so that it needs no transaction. */
  readonly reads?: true;
  readonly answer: (call: Call, method: string) => Answer | Promise<Answer>;
}

/** The endpoint table of the API document. */
const routes: readonly Route[] = [
  { methods: ['POST'], path: /^\/order_url$/, answer: orderUrl },
  { methods: ['GET'], path: /^\/prepay_balance$/, answer: prepayBalance, reads: true },
  { methods: ['GET'], path: /^\/audiofile\/(?<id>[^/]+)$/, answer: audiofile, reads: true },
  {
    methods: ['GET', 'POST'],
    path: /^\/audiofile\/(?<id>[^/]+)\/transcript(?:\.(?<ext>[^/]*))?$/,
    answer: transcript,
    reads: true,
  },
  {
    methods: ['GET', 'POST'],
    path: /^\/transcript\/(?<id>[^/]+?)(?:\.(?<ext>[^/.]*))?$/,
    answer: transcript,
    reads: true,
  },
  { methods: ['POST'], path: /^\/audiofile\/(?<id>[^/]+)\/upgrade$/, answer: upgradeFile },
  { methods: ['POST'], path: /^\/audiofile\/(?<id>[^/]+)\/refund$/, answer: refundFile },
  { methods: ['POST'], path: /^\/invoice\/(?<id>[^/]+)$/, answer: invoice, reads: true },
  { methods: ['GET', 'POST'], path: /^\/webhook$/, answer: webhook },
  { methods: ['POST'], path: /^\/webhook\/test\/(?<type>[^/]+)$/, answer: testWebhook },
];

export interface Match {
  readonly route: Route;
  readonly pathParams: Readonly<Record<string, string>>;
}

export const BASE_PATH = '/API4';

/** A 405, with the methods that are allowed. */
export class MethodNotAllowed extends Refusal {
  readonly allow: string;

  constructor(method: string, allowed: readonly string[]) {
    super(405, `${method} is not allowed here: use ${allowed.join(' or ')}.`);
    this.allow = allowed.join(', ');
  }
}

export function matchRoute(method: string, path: string): Match {
  const rest = path.startsWith(`${BASE_PATH}/`) ? path.slice(BASE_PATH.length) : '';
  for (const route of routes) {
    const found = route.path.exec(rest);
    if (!found) continue;
    if (!route.methods.includes(method)) throw new MethodNotAllowed(method, route.methods);
    return { route, pathParams: decodeAll(found.groups ?? {}) };
  }
  throw new Refusal(404, `There is nothing at ${path.slice(0, 200)}: paths begin with ${BASE_PATH}.`);
}

function decodeAll(groups: Readonly<Record<string, string | undefined>>): Record<string, string> {
  try {
    const given = Object.entries(groups).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, text] as const],
    );
    return Object.fromEntries(given.map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new Refusal(400, 'The path is not properly encoded.');
  }
}
