/** Mutants of SQL: each condition once always true and once never, and clauses that guard something left out. */

/** As it stands in the source, with its quotes; anything else than SQL has no mutants. */
export function sqlMutants(code: string): string[] {
  if (!/\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|CROSS JOIN|ON CONFLICT|profile = \?)/.test(code))
    return [];
  return [...conditionMutants(code), ...clauseMutants(code)];
}

/** Where a condition begins, as far as it is one of our SQL. */
const BEGINNING = /\b(WHERE|AND|OR|ON(?! CONFLICT)(?=[^,;]*?=)|WHEN)\s+(?!true\b)/g;

function conditionMutants(code: string): string[] {
  const mutants: string[] = [];
  /** One of several that must all hold is enough to have none hold. */
  const add = (start: number, isFirst: boolean): void => {
    const end = conditionEnd(code, start);
    const condition = code.slice(start, end).trimEnd();
    if (!/[=<>]|\b(IS|IN|EXISTS)\b/.test(condition)) return;
    const rest = code.slice(start + condition.length);
    // The condition stays, so that the statement has as many values as before.
    const never = isFirst ? [`(${condition} AND 1 = 0)`] : [];
    for (const other of [`(${condition} OR 1 = 1)`, ...never])
      mutants.push(code.slice(0, start) + other + rest);
  };
  // A part of a condition, which another text goes on with.
  if (/^.\w+(\.\w+)? (=|>=|<>) /.test(code)) add(1, true);
  for (const match of code.matchAll(BEGINNING)) add(match.index + match[0].length, match[1] !== 'AND');
  return mutants;
}

const END = /^(?:AND|OR|ORDER BY|GROUP BY|LIMIT|THEN|(?:CROSS|LEFT) JOIN|ON CONFLICT|DO|AS|FROM|WHERE)\b/;

const isClause = (code: string, at: number): boolean =>
  /\s/.test(code[at - 1] as string) &&
  END.test(code.slice(at, at + 12)) &&
  !/\bIS DISTINCT $/.test(code.slice(0, at));

/** At the next operator or clause outside of brackets, quotes and `${}`. */
function conditionEnd(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length - 1; at += 1) {
    const character = code[at] as string;
    if ('({'.includes(character)) depth += 1;
    if (')}'.includes(character)) depth -= 1;
    if (depth < 0) return at;
    // `${takesOver}` and the like, alone: it begins a clause of its own.
    if (depth === 1 && at > start && code.startsWith(' ${', at - 2)) return at - 1;
    if (depth === 0 && isClause(code, at)) return at;
  }
  return code.length - 1;
}

const CLAUSES: ReadonlyArray<readonly [RegExp, string]> = [
  [/ON CONFLICT \([^)]*\) DO NOTHING|ON CONFLICT DO NOTHING/g, ''],
  [/\bDISTINCT(?! FROM)/g, ''],
  [/\bDESC\b/g, 'ASC'],
  [/\bORDER BY (?:[\w.]+)(?:, [\w.]+)*(?! DESC| =)\b/g, ''],
  [/\bLEFT JOIN\b/g, 'CROSS JOIN'],
  [/(?<= IN \([^)]*)'\w+'/g, "'x'"],
];

function clauseMutants(code: string): string[] {
  return CLAUSES.flatMap(([clause, other]) =>
    [...code.matchAll(clause)].map(
      (match) => code.slice(0, match.index) + other + code.slice(match.index + match[0].length),
    ),
  );
}
