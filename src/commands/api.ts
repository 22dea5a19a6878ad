import { type RawAnswer, rawCall, sendRaw } from '../api/http/answer.ts';
import { type Call, isPartOfCall, isWebhookPath, type MoneyTarget, moneyTargetOf } from '../api/http/call.ts';
import { callCosts, callOnce, isTest } from '../flows/orders/money-calls.ts';
import type { Effect } from '../lib/effects.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { append, formatJson, type Json, type JsonObject } from '../lib/json.ts';
import { didYouMean } from '../lib/text.ts';
import { parameterName } from '../lib/url.ts';
import { command, MONEY_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { flag, type OptionValues } from '../spec/options.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { printed } from '../views/record.ts';
import { anything, described } from '../views/schema.ts';

const httpMethods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];

const options = {
  again: flag('--again', 'send an order, upgrade or refund that the ledger already has'),
  unpriced: flag('--unpriced', 'under a budget, allow an unknown cost'),
};

type ApiOptions = OptionValues<typeof options>;

export const api = command({
  name: 'api',
  summary: 'Send a raw API request with your key',
  about:
    'Sends a request to a path below the base URL and prints the raw answer. The key is added to the query of a ' +
    'GET, or to the JSON body of a POST. A POST may cost money and is sent only once; only a GET is retried.',
  details: [
    'Repeat a parameter to send it as a list.',
    'Orders, upgrades and refunds sent this way are recorded in the ledger first and count toward the budget. If ' +
      'the ledger already has the same one, steno exits with 9 unless you add --again.',
  ],
  args: [
    { name: '<METHOD>', help: 'HTTP method', values: httpMethods },
    { name: '<path>', help: 'path below the base URL, such as /prepay_balance' },
    { name: '[key=value…]', help: 'parameters' },
  ],
  options,
  examples: [
    ['steno api GET /prepay_balance', 'the balance'],
    ['steno api POST /invoice/777', 'an invoice'],
    ['steno api POST /webhook webhook=https://example.com/events', 'with a parameter'],
  ],
  refuses: { '--csv': 'a raw answer has no rows' },
  effect: 'money',
  effectsOf: ({ args: [method = '', path = '', ...pairs] }) => [
    effectOfCall(method.toUpperCase(), path, pairs.length > 0),
  ],
  exits: [...MONEY_EXITS, 'duplicate'],
  output: () => printed(described("the service's answer, unchanged", anything)),
  async run(context, { args: [method = '', path = '', ...pairs], options }) {
    const call = rawCall(checkMethod(method), checkPath(path), parsePairs(pairs));
    checkBase(context.settings.get('base-url').value);
    const { out } = context;
    const done = `${call.method} ${call.path} was answered`;
    const onAnswer = async (answer: RawAnswer): Promise<void> => {
      if (call.method !== 'GET') out.addDone(done);
      await print(context, answer);
    };
    const target = moneyTargetOf(call.path);
    if (target) await buy(context, call, target, options, onAnswer);
    else {
      const transport = await context.connect();
      await onAnswer(await whileWorking(out, WAITING, () => sendRaw(transport, call)));
    }
    // The first interruption lets the answer to a call for money come.
    if (context.signal.aborted) throw new StenoError('interrupted', `interrupted, but ${done}`);
  },
});

/** Calls that only tell something, though some are sent with POST. */
const READS = /^\/*(prepay_balance|invoice\/[^/]+|audiofile\/[^/]+|transcript\/.+)\/*$/i;

function effectOfCall(method: string, path: string, hasParameters: boolean): Effect {
  if (moneyTargetOf(path)) return 'money';
  const isGet = method === 'GET' || method === 'HEAD';
  // A GET with a parameter sets the webhook, too.
  if (isWebhookPath(path.startsWith('/') ? path : `/${path}`))
    return isGet && !hasParameters && /^\/?webhook$/i.test(path) ? 'read' : 'account';
  return isGet || (method === 'POST' && READS.test(path)) ? 'read' : 'money';
}

/** The answer is shown as it came, whatever follows from it. */
async function buy(
  context: Context,
  call: Call,
  target: MoneyTarget,
  { again, unpriced }: ApiOptions,
  onAnswer: (answer: RawAnswer) => Promise<void>,
): Promise<void> {
  const { out, settings } = context;
  const use = {
    what: `this ${target.call}`,
    again,
    test: isTest(call, target),
    isFree: target.call === 'refund',
  };
  const ledger = await context.ledgers.forMoney(use);
  const transport = await context.connect();
  const costs = await callCosts(ledger, settings, unpriced);
  const onLedgerError = (error: unknown) =>
    out.warnOf('the ledger could not record the outcome of the call', error);
  let answer: RawAnswer | undefined;
  const keepAnswer = (came: RawAnswer): void => {
    answer = came;
  };
  try {
    await whileWorking(out, WAITING, () =>
      callOnce(call, target, { transport, ledger, again, costs, onLedgerError }, keepAnswer),
    );
  } catch (error) {
    if (answer) await onAnswer(answer);
    // A raw call shows what the service says of a refusal, and adds no error of its own.
    if (!answer || !(error instanceof StenoError && error.kind === 'failed')) throw error;
    return;
  }
  if (answer) await onAnswer(answer);
}

async function print({ out, mask }: Context, answer: RawAnswer): Promise<void> {
  if (answer.json !== undefined) {
    out.stdout.write(`${formatJson(answer.json)}\n`);
  } else if (out.mode.json) {
    throw new StenoError('failed', 'the answer is not JSON', {
      hint: 'leave out --json to print it as it is',
    });
  } else {
    await out.stdout.writeDocument(withoutKey(answer.bytes, mask.hide));
  }
}

/** Bytes of any encoding with the key masked; without the key in them they stay as they are. */
function withoutKey(bytes: Buffer, hide: (text: string) => string): Buffer {
  const text = bytes.toString('utf8');
  const coding = Buffer.from(text).equals(bytes) ? 'utf8' : 'latin1';
  return Buffer.from(hide(bytes.toString(coding)), coding);
}

function checkMethod(method: string): string {
  const verb = method.toUpperCase();
  if (httpMethods.includes(verb)) return verb;
  throw usage(
    `'${method}' is not a method`,
    didYouMean(method, httpMethods, 'steno api <METHOD> <path> [key=value…]'),
  );
}

/** A path that stays below the base URL, however a server reads it. */
function checkPath(text: string): string {
  const path = text.startsWith('/') ? text : `/${text}`;
  const steps = path.split('/').slice(1);
  const odd = steps.some((step) => step === '' || /^(\.|%2e){1,2}$/i.test(step));
  if (odd || /[\s\\?#\u0000-\u001f\u007f-\uffff]|:\/\//.test(path)) {
    throw usage(
      `'${text}' is not a path below the base URL`,
      'write it like /prepay_balance; parameters follow as key=value',
    );
  }
  return path;
}

/** STENO_ALLOW and the ledger judge a call by its path alone. */
function checkBase(baseUrl: string | undefined): void {
  if (baseUrl && isPartOfCall(baseUrl))
    throw usage(
      `the base URL ${baseUrl} includes part of a path of the API`,
      'end the base URL at /API4, and write the rest in the path',
    );
}

function parsePairs(pairs: readonly string[]): JsonObject {
  const params: JsonObject = new Map<string, Json>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`'${pair}' is not key=value`);
    const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (parameterName(key) === 'api_key')
      throw usage('api_key is added automatically', 'use another key with --api-key');
    append(params, key, value);
  }
  return params;
}
