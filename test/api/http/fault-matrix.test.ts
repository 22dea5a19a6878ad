/**
 * Every command that spends money or reads, times every fault of a service. A slice of it runs with the other tests;
 * `npm run test:long` runs all of it.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { allCells, CellRunner, slice } from '../../support/fault-cells.ts';
import { commands } from '../../support/fault-commands.ts';
import { faults } from '../../support/faults.ts';
import { casesInSlice, isLong, wantedSlice } from '../../support/slices.ts';

const AT_ONCE = 4;
const LIMIT_MS = 3_600_000;

const cells = isLong ? casesInSlice(allCells, 'fault matrix') : slice();
const wrong = new Map<string, string[]>();

beforeAll(async () => {
  const queue = [...cells];
  const work = async (): Promise<void> => {
    const runner = await CellRunner.start();
    for (let cell = queue.shift(); cell; cell = queue.shift()) {
      const found = await runner.run(cell);
      wrong.set(cell.command.name, [...(wrong.get(cell.command.name) ?? []), ...found]);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    `fault matrix: ${cells.length} of ${allCells.length} cells ` +
      `(${faults.length} faults, ${commands.length} commands) in ${seconds} s`,
  );
}, LIMIT_MS);

describe('the fault matrix', () => {
  it.skipIf(wantedSlice)('runs every fault, and every command with several', () => {
    expect(new Set(cells.map(({ fault }) => fault.name)).size).toBe(faults.length);
    for (const { name } of commands)
      expect(cells.filter(({ command }) => command.name === name).length).toBeGreaterThan(5);
  });

  it.each(commands.map(({ name }) => name))('%s: ends as the contract says, whatever comes', (name) => {
    expect(wrong.get(name)).toEqual([]);
  });
});
