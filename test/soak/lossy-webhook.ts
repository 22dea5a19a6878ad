/** Stands between the service and the listener, and loses some deliveries, as networks do. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The webhook loses one completion in this number. */
const LOST = 8;

export class LossyWebhook {
  /** Files whose completion the listener has answered with 200, in the order of the answers. */
  readonly kept: string[] = [];
  readonly lost: string[] = [];
  readonly refused: string[] = [];
  /** Of the listener. */
  port = 0;
  #completions = 0;
  readonly #server: Server = createServer((call, response) => {
    const chunks: Buffer[] = [];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('end', () => {
      const body = Buffer.concat(chunks);
      const fields = new URLSearchParams(body.toString());
      const file = fields.get('event') === 'TRANSCRIPT_COMPLETE' ? (fields.get('audiofile') ?? '') : '';
      if (file !== '') this.#completions += 1;
      if (file !== '' && this.#completions % LOST === 0) {
        this.lost.push(file);
        response.writeHead(502).end();
        return;
      }
      const options = { port: this.port, path: call.url, method: call.method, headers: call.headers };
      const passed = request(options, (answer) => {
        if (file) (answer.statusCode === 200 ? this.kept : this.refused).push(file);
        response.writeHead(answer.statusCode ?? 502);
        answer.pipe(response);
      });
      passed.on('error', () => {
        if (file) this.refused.push(file);
        response.writeHead(502).end();
      });
      passed.end(body);
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
