/** Asks a `steno ui` that runs to lead a browser to a page of it. */
import { request } from 'node:http';
import { readAll } from '../lib/lines.ts';
import { isOpening } from './opening.ts';
import type { RunningPages } from './token.ts';

const LIMIT_MS = 3_000;
const MAX_ANSWER_BYTES = 10_000;

/** The file to open; undefined where nothing of ours answers. */
export async function askForOpening(
  folder: string,
  { port, token }: Pick<RunningPages, 'port' | 'token'>,
  go: string,
): Promise<string | undefined> {
  try {
    const path: unknown = JSON.parse(await post(port, token, JSON.stringify({ go }))).path;
    return typeof path === 'string' && isOpening(folder, path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function post(port: number, token: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        ...{ host: '127.0.0.1', port, path: '/api/opening', method: 'POST', agent: false, timeout: LIMIT_MS },
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      },
      (response) => readAll(response, MAX_ANSWER_BYTES).then(resolve, reject),
    );
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject).end(body);
  });
}
