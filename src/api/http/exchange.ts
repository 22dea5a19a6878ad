/**
 * One request and its answer, straight on undici's `dispatch`: its `request` makes a stream of every body, which takes
 * longer than to receive a short one.
 */
import type { Dispatcher } from 'undici';
import { Body } from './body.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** Resolves when the headers have come; the signal ends the exchange at any time. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return new Promise((answered, failed) => {
    if (signal.aborted) failed(reasonOf(signal));
    else dispatcher.dispatch(request, new Exchange(signal, answered, failed));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #answered: (answer: HttpResponse) => void;
  readonly #failed: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: Body | undefined;

  constructor(
    signal: AbortSignal,
    answered: (answer: HttpResponse) => void,
    failed: (error: unknown) => void,
  ) {
    this.#signal = signal;
    this.#answered = answered;
    this.#failed = failed;
    signal.addEventListener('abort', this.#abort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) controller.abort(reasonOf(this.#signal));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // Whoever says "continue" or "early hints" has not answered yet.
    if (status < 200) return;
    const flat: Record<string, string> = {};
    for (const name in headers) flat[name] = String(headers[name] ?? '');
    this.#body = new Body(controller);
    this.#answered({ status, headers: flat, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#failed(error);
    this.#body?.fail(error);
  }

  /** While it is still connecting, nobody else would say that it is over. */
  readonly #abort = (): void => {
    const reason = reasonOf(this.#signal);
    this.#failed(reason);
    this.#controller?.abort(reason);
  };
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
