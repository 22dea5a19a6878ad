import { type RawAnswer, sendRaw } from '../api/raw.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { httpMethods } from '../lib/http-methods.ts';
import { append, formatJson, type Json, type JsonObject } from '../lib/json.ts';
import { didYouMean } from '../lib/suggest.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';

export async function run(
  context: Context,
  { args: [method = '', path = '', ...pairs] }: Input,
): Promise<void> {
  const verb = checkMethod(method);
  const target = checkPath(path);
  const params = parsePairs(pairs);
  const { out } = context;
  const transport = await context.connect();
  const answer = await whileWorking(out, WAITING, () => sendRaw(transport, verb, target, params));
  const done = `${verb} ${target} was answered`;
  if (verb !== 'GET') out.addDone(done);
  await print(context, answer);
  // The first interruption lets the answer to a call for money come.
  if (context.signal.aborted) throw new StenoError('interrupted', `interrupted, but ${done}`);
}

async function print({ out, mask }: Context, answer: RawAnswer): Promise<void> {
  if (answer.json !== undefined) {
    out.write(`${formatJson(answer.json)}\n`);
  } else if (out.mode.json) {
    throw new StenoError('failed', 'the answer is not JSON', {
      hint: 'print it as it is: leave out --json',
    });
  } else {
    await out.writeDocument(withoutKey(answer.bytes, mask.hide));
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

function parsePairs(pairs: readonly string[]): JsonObject {
  const params: JsonObject = new Map<string, Json>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`'${pair}' is not key=value`);
    const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (key === 'api_key') throw usage('api_key is added automatically', 'give another with --api-key');
    append(params, key, value);
  }
  return params;
}
