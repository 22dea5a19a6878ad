/** Manifests of any content: rows come out as they went in, and nothing breaks the reader. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseManifest } from '../../../src/flows/orders/manifest.ts';
import { decodeUtf8 } from '../../../src/lib/lines.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { runs } from '../../support/runs.ts';

interface Given {
  readonly url: string;
  readonly sku: readonly string[];
  readonly notes: string;
  readonly names: readonly string[];
  readonly key: string;
}

const word = fc.string({ unit: 'binary' }).map((text) =>
  text
    .replace(/[\r\u0000|]/g, '')
    .replace(/\p{Cs}/gu, '')
    .trim(),
);
/** What begins like a comment is none in CSV. */
const hashed = fc.tuple(fc.constantFrom('', '#', '# '), word).map((parts) => parts.join('').trim());
const name = word.map((each) => each.replaceAll('\n', ' ').trim()).filter(Boolean);
const rows: fc.Arbitrary<Given[]> = fc.array(
  fc.record({
    url: fc.webUrl({ withQueryParameters: true, withFragments: true }),
    sku: fc.subarray(['TRANS2', 'TSTMP1', 'VERBATIM1']),
    notes: hashed,
    names: fc.array(name, { maxLength: 3 }),
    key: hashed.filter(Boolean),
  }),
  { minLength: 1, maxLength: 8 },
);

const expected = (all: readonly Given[]) =>
  all.map(({ url, sku, notes, names, key }) => ({
    url,
    skus: sku.length ? sku : undefined,
    notes: notes || undefined,
    names: names.length ? names : undefined,
    key,
  }));

const readRows = async (text: string) => (await parseManifest(text, 'm')).map(({ at, ...row }) => row);

/** A writer of CSV that quotes what must be quoted, and what `quoteAll` says. */
class CsvWriter {
  text = '';
  line = 1;
  readonly #separator: string;
  readonly #lineBreak: string;

  constructor(separator: string, lineBreak: string) {
    this.#separator = separator;
    this.#lineBreak = lineBreak;
  }

  /** Gives the line at which the row begins. */
  row(cells: readonly string[], quoteAll: boolean): number {
    const begins = this.line;
    const written = cells.map((cell) =>
      quoteAll || /["\n]/.test(cell) || cell.includes(this.#separator)
        ? `"${cell.replaceAll('"', '""')}"`
        : cell,
    );
    this.text += written.join(this.#separator) + this.#lineBreak;
    this.line += 1 + cells.join('').split('\n').length - 1;
    return begins;
  }

  blankLine(): void {
    this.text += this.#lineBreak;
    this.line += 1;
  }
}

describe('a manifest of any rows', () => {
  it.each([',', ';', '\t'])('survives CSV with %j, and tells the line of each', async (separator) => {
    const layout = fc.record({
      lineBreak: fc.constantFrom('\n', '\r\n'),
      columns: fc.shuffledSubarray(['url', 'sku', 'notes', 'names', 'key'], { minLength: 5 }),
      quoteAll: fc.boolean(),
      blankLines: fc.boolean(),
      mark: fc.constantFrom('', '\ufeff'),
    });
    await fc.assert(
      fc.asyncProperty(rows, layout, async (all, { lineBreak, columns, quoteAll, blankLines, mark }) => {
        const csv = new CsvWriter(separator, lineBreak);
        csv.row(columns, quoteAll);
        const begins = all.map((each) => {
          const cells = { ...each, sku: each.sku.join(' '), names: each.names.join('|') };
          if (blankLines) csv.blankLine();
          return csv.row(
            columns.map((column) => cells[column as keyof Given]),
            quoteAll,
          );
        });
        const found = await parseManifest(decodeUtf8(Buffer.from(mark + csv.text), 'm'), 'm');
        expect(found.map(({ at, ...row }) => row)).toEqual(expected(all));
        expect(found.map(({ at }) => at)).toEqual(begins.map((line) => `m, line ${line}`));
      }),
      { numRuns: runs(60) },
    );
  });

  it('survives JSON lines', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (all) => {
        expect(await readRows(all.map((row) => JSON.stringify(row)).join('\n'))).toEqual(expected(all));
      }),
      { numRuns: runs(60) },
    );
  });

  it('survives plain lines, and tells the line of each', async () => {
    // Lines that all have a comma or a semicolon are taken for CSV.
    const url = fc.webUrl().map((each) => each.replace(/[,;]/g, '-'));
    await fc.assert(
      fc.asyncProperty(fc.array(url, { minLength: 1 }), fc.boolean(), async (urls, gaps) => {
        const found = await parseManifest(urls.join(gaps ? '\n\n# x\n' : '\n'), 'm');
        expect(found.map((row) => [row.url, row.at])).toEqual(
          urls.map((each, n) => [each, `m, line ${gaps ? n * 3 + 1 : n + 1}`]),
        );
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('any bytes', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const fragments = fc.array(
    fc.constantFrom(
      ...['url', 'sku', 'names', 'https://example.com/a', '#', ',', ';', '\t', '"', '\n', '\r', '|', ' '],
      ...['{', '}', '[', ']', '"url":', '"names":', '""', 'é', '\u0000', '\ufeff'],
    ),
    { maxLength: 40 },
  );
  const nearlyText = fc
    .tuple(fragments, fc.nat({ max: 400 }), fc.option(fc.nat({ max: 255 })))
    .map(([parts, at, byte]) => {
      const text = Buffer.from(parts.join(''));
      if (byte !== null && text.length) text[at % text.length] = byte;
      return text;
    });

  it('either parse, or are refused with the line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, nearlyText), async (given) => {
        try {
          const found = await parseManifest(decodeUtf8(Buffer.from(given), 'm'), 'm');
          for (const row of found) expect(row.url).toMatch(/^https?:/i);
        } catch (error) {
          expect(error).toMatchObject({
            kind: 'usage',
            message: expect.stringMatching(/^m\b.*\bline \d+\b/s),
          });
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it('end the program with 0 or 2, and nothing is sent', async () => {
    const { user, service } = await orderingAccount();
    const path = join(user.home, 'm');
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes, nearlyText), async (given) => {
        writeFileSync(path, given);
        const { code, stderr } = await user.run(['order', '--from', path, '--sku', 'TRANS14', '--dry-run']);
        expect([0, 2], stderr).toContain(code);
        if (code === 2) expect(stderr).toMatch(/^steno: .*(\bline \d+\b|contains no URL|given twice)/s);
      }),
      { numRuns: runs(12) },
    );
    expect(service.got).toEqual([]);
  });
});
