import { formatJson, type JsonObject, toJson } from '../lib/json.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export const jsonAnswer = (value: JsonObject, status = 200): Answer => ({
  status,
  type: 'application/json',
  body: Buffer.from(formatJson(value, 0)),
});

export const messageAnswer = (message: string, status = 200): Answer =>
  jsonAnswer(toJson({ message }) as JsonObject, status);
