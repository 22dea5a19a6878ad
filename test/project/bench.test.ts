/** A run of the benchmark fails where a row misses its must, and says which. */
import { describe, expect, it } from 'vitest';
import { failures } from '../bench/report.ts';

const row = (key: string, figure: { value?: number; broken?: string }) => ({
  ...{ key, what: key, unit: 'MB', must: 100, aim: 80 },
  ...figure,
});

const run = (...long: ReturnType<typeof row>[]) => failures({ measured: [], weighed: [], long });

describe('a row of the benchmark', () => {
  it('that meets its must and its aim is not told', () => {
    expect(run(row('a', { value: 80 }))).toEqual({ musts: [], aims: [], skipped: [] });
  });

  it('that misses its must fails the run, and one that misses its aim is told', () => {
    const { musts, aims } = run(row('a', { value: 101 }), row('b', { value: 100 }));
    expect(musts).toEqual(['a: 101 MB where 100 is wanted']);
    expect(aims).toEqual(['b: 100 MB where 80 is wanted']);
  });

  it('that does not work fails the run', () => {
    expect(run(row('a', { broken: 'exit 1' })).musts).toEqual(['a: exit 1']);
  });
});
