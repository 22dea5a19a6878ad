/** The catalogue against the tables of the API document, in both directions. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventTypes, testableEvents } from '../../src/catalog/events.ts';
import { findFormat, formats } from '../../src/catalog/formats.ts';
import { findOrderSku, findUpgradeSku, orderSkus, upgradeSkus } from '../../src/catalog/skus.ts';
import { fileStates, findFileState, invoiceStates } from '../../src/catalog/states.ts';

const document = readFileSync('test/data/api4.md', 'utf8');

/** What stands between two pieces of the document. */
function between(start: string, end: string): string {
  const from = document.indexOf(start);
  const to = document.indexOf(end, from + start.length);
  if (from < 0 || to < 0) throw new Error(`the document has no part from '${start}' to '${end}'`);
  return document.slice(from + start.length, to);
}

/** The rows of the first table after a heading, without its head. */
function tableAfter(heading: string): string[][] {
  const from = document.indexOf(heading);
  if (from < 0) throw new Error(`the document has no '${heading}'`);
  const [, table = ''] = /\n((?:\|.*\|\n)+)/.exec(document.slice(from)) ?? [];
  const rows = table.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const withoutAsides = (text: string): string => text.replace(/\([^)]*\)/g, '');
const names = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((each) => each.trim())
    .filter(Boolean);

import { User } from '../support/steno.ts';

describe('SKUs', () => {
  const rows = tableAfter('Ordering SKUs');

  it('has every SKU that can be ordered and no other, in the order of the document', () => {
    const expected = rows.flatMap(([sku = '', text = '']) => {
      const [meaning = '', more = ''] = withoutAsides(text).split(';');
      const [, alias] = /the alias (\w+) denotes the same product/.exec(more) ?? [];
      const [, days] = /(?:target of |^)(\d+)[ -]days?\b/.exec(meaning) ?? [];
      const one = {
        sku,
        kind: text.includes('(add-on)') ? 'add-on' : 'transcription',
        meaning: meaning.trim(),
        ...(days && { targetDays: Number(days) }),
      };
      return alias ? [one, { ...one, sku: alias, aliasOf: sku }] : [one];
    });
    expect(expected).toHaveLength(9);
    expect(orderSkus).toEqual(expected);
  });

  it('has TRANS7 as another name of TRANS6', () => {
    expect(findOrderSku('TRANS7')?.aliasOf).toBe('TRANS6');
    expect(findOrderSku('TRANS6')?.aliasOf).toBeUndefined();
  });

  it('has every SKU that a file can be upgraded with and no other', () => {
    const expected = tableAfter('Upgrade SKUs').map(([sku = '', text = '']) => {
      const [meaning = ''] = text.split('.');
      const [, from, to] = /^Upgrade (\w+) to (\w+)$/.exec(meaning) ?? [];
      return from && to ? { sku, meaning, from, to } : { sku, meaning };
    });
    expect(expected).toHaveLength(7);
    expect(upgradeSkus).toEqual(expected);
  });

  it('upgrades from and to SKUs that can be ordered', () => {
    for (const { from, to } of upgradeSkus) {
      if (from) expect(findOrderSku(from)?.kind).toBe('transcription');
      if (to) expect(findOrderSku(to)?.kind).toBe('transcription');
    }
  });

  it('finds a SKU by its exact name only', () => {
    expect(findOrderSku('UPGRD1')).toBeUndefined();
    expect(findUpgradeSku('TRANS14')).toBeUndefined();
    expect(findOrderSku('trans14')).toBeUndefined();
  });
});

describe('states', () => {
  const prose = between('### Audiofile states (value of `statename`)\n', 'Transitions between these states');

  it('has the nineteen states of a file and no other', () => {
    const expected = names(prose.trim().replace(/\.$/, ''), /;/);
    expect(expected).toHaveLength(19);
    expect(fileStates.map((each) => each.name)).toEqual(expected);
  });

  it('explains each in a sentence of its own, and the one that is ours too', async () => {
    const { stdout } = await new User().run(['states', '--json']);
    const states = JSON.parse(stdout) as Array<{ state: string; of: string; meaning: string }>;
    const meanings = states.map(({ meaning }) => meaning);
    expect(states[0]).toMatchObject({ state: 'ordered', of: 'file' });
    expect(new Set(meanings).size).toBe(24);
    expect(meanings.filter((meaning) => !/^[A-Z].*\.$/.test(meaning))).toEqual([]);
  });

  it('allows a refund in the states that the document names and in no other', () => {
    const [[, condition = ''] = []] = tableAfter('Rule tied to a state');
    const [, listed = ''] = /Potentially valid states: (.*)\./.exec(condition) ?? [];
    expect(names(listed, /,/)).toHaveLength(3);
    const refundable = fileStates.filter((each) => each.refundable).map((each) => each.name);
    expect(refundable.sort()).toEqual(names(listed, /,/).sort());
  });

  it('ends a file where a transcript is there or none will come, and nowhere else', () => {
    const ends = fileStates.filter((each) => each.end).map((each) => [each.name, each.end]);
    expect(ends).toEqual([
      ['Delivered', 'delivered'],
      ['Error', 'unfinished'],
      ['Order Cancelled', 'unfinished'],
      ['Refunded', 'unfinished'],
    ]);
    expect(fileStates.filter((each) => each.held).map((each) => each.name)).toEqual(['On Hold']);
  });

  it('knows nothing of a state that the document does not list', () => {
    expect(findFileState('Almost Delivered')).toBeUndefined();
    expect(findFileState(' delivered ')?.name).toBe('Delivered');
  });

  it('has the four states of an invoice, each with a meaning of our own', () => {
    const expected = tableAfter('### Invoice states');
    expect(expected).toHaveLength(4);
    expect(invoiceStates.map(({ name }) => name)).toEqual(expected.map(([name]) => name));
    for (const { meaning } of invoiceStates) expect(meaning).not.toMatch(/time|^$/);
    const listed = /\| state \| string \| one of ([A-Z, ]+)/.exec(document)?.[1] ?? '';
    expect(invoiceStates.map((each) => each.name).sort()).toEqual(names(listed, /,/).sort());
  });
});

describe('events', () => {
  const rows = tableAfter('Signing or verification of deliveries');

  it('has the six events and no other', () => {
    const expected = rows.map(([name = '', sentWhen = '']) => ({ name, sentWhen: sentWhen.split(';')[0] }));
    expect(expected).toHaveLength(6);
    expect(eventTypes.map(({ name, sentWhen }) => ({ name, sentWhen }))).toEqual(expected);
  });

  it('can test the four types that the document names and no other', () => {
    const row = tableAfter('### Test webhook').find(([parameter]) => parameter === 'type');
    const listed = names((row?.[3] ?? '').replace(/^one of /, ''), /,/);
    expect(listed).toHaveLength(4);
    expect([...testableEvents].sort()).toEqual(listed.sort());
  });
});

describe('formats', () => {
  it('has the eight document types and no other', () => {
    const row = tableAfter('### Transcript\n').find(([parameter]) => parameter?.startsWith('extension'));
    const [, allowed = ''] = /allowed (.*)$/.exec(row?.[3] ?? '') ?? [];
    const expected = [...allowed.matchAll(/`\.(\w+)`/g)].map(([, ext]) => ext);
    expect(expected).toHaveLength(8);
    expect(formats.map((each) => each.ext)).toEqual(expected);
  });

  it('takes only Word files for binary', () => {
    expect(formats.filter((each) => each.content === 'binary').map((each) => each.ext)).toEqual([
      'doc',
      'docx',
    ]);
    expect(findFormat('.txt')).toBeUndefined();
  });
});
