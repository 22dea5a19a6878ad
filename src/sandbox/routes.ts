import type { Answer } from './answer.ts';
import {
  audiofile,
  type Call,
  invoice,
  orderUrl,
  prepayBalance,
  refundFile,
  testWebhook,
  upgradeFile,
  webhook,
} from './handlers.ts';
import { Refusal } from './refusal.ts';
import { transcript } from './transcript.ts';

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
