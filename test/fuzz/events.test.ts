/** Forms of every content, sent to one listener: what it answers with 200 is kept, with every field. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInProcess } from '../support/in-process.ts';
import { FORM, Listener } from '../support/listener.ts';
import { runs } from '../support/runs.ts';
import { KEY, User } from '../support/steno.ts';
import { hostileText, showsKey } from './answers.ts';

const STATUSES = [200, 400, 403, 404, 405, 408, 409, 413, 415, 431];

const name = fc.oneof(
  fc.constantFrom(
    'event',
    'webhook_version',
    'audiofile',
    'audiofiles',
    'order',
    'hold',
    'amount',
    'originallink',
  ),
  hostileText,
);
const value = fc.oneof(
  fc.constantFrom('TRANSCRIPT_COMPLETE', 'ORDER_ON_HOLD', '1', '9007199254740993', '1,2,,3'),
  hostileText,
);
const fields = fc.array(fc.tuple(name, value), { maxLength: 8 });
const type = fc.oneof(
  { weight: 6, arbitrary: fc.constant(FORM) },
  fc.constantFrom(
    `${FORM}; charset=utf-8`,
    `${FORM}; charset=iso-8859-1`,
    `${FORM};charset="x`,
    FORM.toUpperCase(),
  ),
  fc.constantFrom('multipart/form-data; boundary=x', 'application/json', 'text/plain', ''),
);

describe('a listener', () => {
  const user = new User({ STENO_API_KEY: KEY });
  let listener: Listener;
  const accepted: Array<ReadonlyArray<readonly [string, string]>> = [];
  beforeAll(async () => {
    listener = await Listener.startForAll(user, ['--json']);
  });
  afterAll(() => listener.stop());

  it('answers every form as the contract says, and shows it on one line without the key', async () => {
    await fc.assert(
      fc.asyncProperty(fields, type, async (given, contentType) => {
        const body = new URLSearchParams(given).toString();
        const { status } = await listener.post(body, { type: contentType });
        expect(STATUSES).toContain(status);
        if (contentType.toLowerCase() === FORM && given.length) expect(status).toBe(200);
        if (status === 200) accepted.push([...new URLSearchParams(`&${body}`)]);
      }),
      { numRuns: runs(40) },
    );
    await listener.until(() => listener.lines.length === accepted.length);
    expect(showsKey(listener.stdout + listener.stderr)).toBe(false);
    for (const line of listener.lines) JSON.parse(line);
  });

  it('has kept all of them, with every field in its order', async () => {
    const { code, stdout } = await runInProcess(['events', '--json', '--limit', '1000000'], {
      env: user.env,
    });
    expect([code, showsKey(stdout)]).toEqual([0, false]);
    const events = (JSON.parse(stdout) as Array<{ n: number; fields: Record<string, unknown> }>).sort(
      (a, b) => a.n - b.n,
    );
    expect(events).toHaveLength(accepted.length);
    events.forEach((event, at) => {
      const sent = accepted[at] ?? [];
      const shown = JSON.stringify(event.fields);
      // What held the key, or a signature, is kept without it.
      if (/\*{4}|h\.example/.test(shown) || showsKey(JSON.stringify(sent))) return;
      for (const [key, text] of sent) expect([event.fields[key]].flat()).toContain(text);
    });
  });
});
