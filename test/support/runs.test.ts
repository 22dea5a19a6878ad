import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIXED_SEED, propertyFiles, runs, seedOf } from './runs.ts';

describe('the seed of property tests', () => {
  const now = new Date('2026-12-31T23:59:59Z');

  it('is fixed, unless another is wanted', () => {
    expect(seedOf(undefined, now)).toBe(FIXED_SEED);
    expect(seedOf('-42', now)).toBe(-42);
    expect(() => seedOf('today', now)).toThrow('STENO_FUZZ_SEED');
  });

  it('is another each month, in UTC', () => {
    expect(seedOf('month', now)).toBe(202612);
    expect(seedOf('month', new Date('2027-01-01T00:00:00Z'))).toBe(202701);
  });
});

describe('a property that fails', () => {
  it('says how to repeat it, and is then seen at once', () => {
    const tried: number[] = [];
    const property = fc.property(fc.nat(), (n) => {
      tried.push(n);
      return n < 1000;
    });
    const failure = (): string => {
      try {
        fc.assert(property, { numRuns: runs(1000) });
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    const [, seed, path] = /STENO_FUZZ_SEED=(-?\d+) STENO_FUZZ_PATH=([\d:]+) npm run test:fuzz/.exec(
      failure(),
    ) ?? ['', '', ''];
    const found = tried.at(-1);
    tried.length = 0;
    expect(fc.check(property, { seed: Number(seed), path: path ?? '' }).failed).toBe(true);
    expect(tried[0]).toBe(1000);
    expect(found).toBeDefined();
  });

  it('is in one of the files that the long run takes', () => {
    const files = propertyFiles();
    expect(files).toContain('test/lib/mask.test.ts');
    for (const file of files) expect(readFileSync(file, 'utf8')).toContain('fc.assert(');
  });
});

describe('the monthly workflow', () => {
  it('runs the script that the package has', () => {
    const workflow = readFileSync('.github/workflows/fuzz.yml', 'utf8');
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const used = [...workflow.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
    expect(used).toEqual(['test:fuzz']);
    for (const name of used) expect(scripts).toHaveProperty([name as string]);
    expect(workflow).toMatch(/cron: '\d+ \d+ 1 \* \*'/);
  });
});
