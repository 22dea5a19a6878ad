import { describe, expect, it } from 'vitest';
import { ProgressText } from '../../src/ui/progress.ts';
import { progressForm } from '../../src/ui/streams.ts';

/** A text, and the clock that it reads. */
function started(what: string) {
  const clock = { ms: 5_000 };
  return { clock, text: new ProgressText(what, () => clock.ms) };
}

describe('the text of progress', () => {
  it('is the time alone where nothing is counted', () => {
    const { clock, text } = started('waiting for the service');
    clock.ms += 3_900;
    expect(String(text)).toBe('waiting for the service, 3 s');
  });

  it('has counts, failures, the rate and the time left', () => {
    const { clock, text } = started('Asking');
    text.add({ done: 0, of: 40, failed: 0 });
    clock.ms += 2_000;
    expect(String(text)).toBe('Asking · 0 of 40 · 2 s');
    text.add({ done: 10, of: 40, failed: 2 });
    expect(String(text)).toBe('Asking · 10 of 40 · 2 failed · 5.0/s · 6 s left');
  });

  it('has the bytes of many, and the bytes left of one', () => {
    const { clock, text } = started('Downloading');
    text.add({ done: 5, of: 20, bytes: 1_250_000 });
    clock.ms += 10_000;
    expect(String(text)).toBe('Downloading · 5 of 20 · 1.3 MB · 125 kB/s · 30 s left');
    const one = started('Downloading');
    one.text.add({ done: 0, of: 1 });
    one.clock.ms += 2_000;
    expect(String(one.text)).toBe('Downloading · waiting for the service · 2 s');
    one.text.add({ bytes: 2_000_000, ofBytes: 600_000_000 });
    expect(String(one.text)).toBe('Downloading · 2.0 MB of 600 MB · 1.0 MB/s · 10 min left');
    one.text.add({ ofBytes: 8_000_000_000 });
    expect(String(one.text)).toBe('Downloading · 2.0 MB of 8.0 GB · 1.0 MB/s · 2 h 14 min left');
  });

  it('has orders with their rows, and what is waited for until the next news', () => {
    const { clock, text } = started('Ordering');
    const parts = { done: 50, of: 2_000, unit: 'row' };
    text.add({ done: 1, of: 40, unit: 'order', parts });
    clock.ms += 2_000;
    text.add({ note: 'waiting 3s for the service' });
    expect(String(text)).toBe(
      'Ordering · 1 of 40 orders · 50 of 2000 rows · 0.5/s · 78 s left · waiting 3s for the service',
    );
    text.add({ done: 2 });
    expect(String(text)).toBe('Ordering · 2 of 40 orders · 50 of 2000 rows · 1.0/s · 38 s left');
  });

  it('has the states of files, those that are delivered first, and the time so far', () => {
    const { clock, text } = started('Waiting');
    text.add({ states: new Map([['', 5]]) });
    clock.ms += 12_000;
    expect(String(text)).toBe('Waiting · 5 no answer yet · 00:12');
    text.add({
      states: new Map([...Object.entries({ '': 0, Transcribing: 2, Delivered: 1, 'On Hold': 3 })]),
    });
    expect(String(text)).toBe('Waiting · 1 delivered · 3 on hold · 2 transcribing · 00:12');
    clock.ms += 3_600_000;
    expect(String(text)).toMatch(/ · 1:00:12$/);
  });

  it('counts the rate of each part of the work from its beginning', () => {
    const { clock, text } = started('Ordering');
    text.add({ done: 4, of: 10 });
    clock.ms += 10_000;
    text.add({ what: 'Uploading', done: 0, of: 2, ofBytes: 100, unit: 'file' });
    clock.ms += 1_000;
    text.add({ done: 1, bytes: 50 });
    expect(String(text)).toBe('Uploading · 1 of 2 files · 50 B of 100 B · 50 B/s · 1 s left');
    text.add({ what: 'Ordering', done: 4, of: 10, unit: 'order' });
    clock.ms += 2_000;
    text.add({ done: 6 });
    expect(String(text)).toBe('Ordering · 6 of 10 orders · 1.0/s · 4 s left');
  });
});

describe('the form of progress', () => {
  const flags = { json: false, quiet: false, debug: false, progress: true };
  const [terminal, pipe] = [
    { isTTY: true, columns: 80 },
    { isTTY: false, columns: 0 },
  ];

  it('is a line that moves on a terminal, also with --json and --quiet', () => {
    for (const each of [flags, { ...flags, json: true }, { ...flags, quiet: true }])
      expect(progressForm(each, terminal, {})).toBe('line');
    expect(progressForm({ ...flags, debug: true }, terminal, {})).toBe('none');
  });

  it('is plain where the line can not move, in CI, or with --no-progress', () => {
    expect(progressForm({ ...flags, progress: false }, terminal, {})).toBe('plain');
    expect(progressForm(flags, terminal, { TERM: 'dumb' })).toBe('plain');
    expect(progressForm(flags, terminal, { CI: 'true' })).toBe('plain');
    expect(progressForm(flags, { isTTY: true, columns: 0 }, {})).toBe('plain');
    expect(progressForm({ ...flags, progress: false, quiet: true }, terminal, {})).toBe('none');
  });

  it('is nothing in a pipe, but plain in the log of a CI job', () => {
    expect(progressForm(flags, pipe, {})).toBe('none');
    expect(progressForm({ ...flags, progress: false }, pipe, {})).toBe('none');
    for (const CI of ['', '0', 'false']) expect(progressForm(flags, pipe, { CI })).toBe('none');
    for (const progress of [true, false])
      expect(progressForm({ ...flags, progress }, pipe, { CI: '1' })).toBe('plain');
    for (const given of [{ json: true }, { quiet: true }])
      expect(progressForm({ ...flags, ...given }, pipe, { CI: '1' })).toBe('none');
  });
});
