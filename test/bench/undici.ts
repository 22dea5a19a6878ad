/** What undici alone takes for many transcripts, as a measure of what is ours: <base url> <folder> <first id> <count> <at once>. */
import { closeSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { type Dispatcher, Pool } from 'undici';

const [base = '', folder = '', first = '0', count = '0', atOnce = '1'] = process.argv.slice(2);
const { origin, pathname } = new URL(base);
const pool = new Pool(origin, { connections: Number(atOnce) });
const body = JSON.stringify({ api_key: process.env.STENO_API_KEY });

class Download implements Dispatcher.DispatchHandler {
  readonly #id: number;
  readonly #done: () => void;
  readonly #failed: (error: Error) => void;
  readonly #part: string;
  #file = 0;

  constructor(id: number, done: () => void, failed: (error: Error) => void) {
    this.#id = id;
    this.#done = done;
    this.#failed = failed;
    this.#part = `${folder}/.${id}.part`;
  }

  onRequestStart(): void {}

  onResponseStart(): void {
    this.#file = openSync(this.#part, 'wx');
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    writeSync(this.#file, chunk);
  }

  onResponseEnd(): void {
    closeSync(this.#file);
    linkSync(this.#part, `${folder}/${this.#id}.txt`);
    unlinkSync(this.#part);
    this.#done();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#failed(error);
  }
}

const download = (id: number): Promise<void> =>
  new Promise((done, failed) => {
    const path = `${pathname}/audiofile/${id}/transcript.txt`;
    const headers = { 'content-type': 'application/json' };
    pool.dispatch({ path, method: 'POST', headers, body }, new Download(id, done, failed));
  });

let next = Number(first);
const end = next + Number(count);
const work = async (): Promise<void> => {
  while (next < end) await download(next++);
};
await Promise.all(Array.from({ length: Number(atOnce) }, work));
await pool.close();
