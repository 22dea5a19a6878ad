/** The README's table "How it is tested": a row for each run whose figures are kept. */
import type { Proof, ProofName, Proofs } from './record.ts';

interface Row {
  readonly what: string;
  readonly count: (figures: Proof['figures']) => string;
  readonly by: string;
}

const number = (value: number): string => value.toLocaleString('en-US');
const sum = (figures: Proof['figures']): number => Object.values(figures).reduce((a, b) => a + b, 0);
const total = (figures: Proof['figures']): string => number(sum(figures));
const listed = (figures: Proof['figures']): string =>
  Object.entries(figures)
    .map(([name, count]) => `${number(count)} (${name})`)
    .join(', ');

const rows: Readonly<Record<ProofName, Row>> = {
  cases: {
    what: 'cases that run the program or a part of it',
    count: listed,
    by: '`npm test`, `npm run test:long`',
  },
  'matrix cells': {
    what: 'commands times faults of a service',
    count: total,
    by: '`npm run test:long`',
  },
  'crash points': {
    what: '`kill -9` at a step, on both stores, then the next command',
    count: total,
    by: '`npm run test:long`',
  },
  'fuzz runs': {
    what: 'made-up answers, forms, manifests, feeds, URLs, names, amounts',
    count: total,
    by: '`npm run test:fuzz`',
  },
  nodes: {
    what: 'cases of the packed tarball on each Node',
    count: listed,
    by: '`npm run test:nodes`',
  },
  mutants: {
    what: 'faults put into what guards money, found by a test',
    count: ({ killed = 0, survivors = 0 }) => `${number(killed)} of ${number(killed + survivors)}`,
    by: '`npm run test:mutants`',
  },
  soak: {
    what: 'minutes of `listen`, `wait` and the sandbox, memory and handles flat',
    count: ({ minutes = 0 }) => number(minutes),
    by: '`npm run test:soak`',
  },
};

const BEGIN = '<!-- recorded: proof -->\n';
const END = '<!-- end: proof -->';

/** The README with its table made of these figures; what has not been run has no row. */
export function withTable(readme: string, proofs: Proofs): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from < 0 || to < from) throw new Error(`README.md has no part between '${BEGIN.trim()}' and '${END}'`);
  return `${readme.slice(0, from)}${BEGIN}${table(proofs)}${readme.slice(to)}`;
}

function table(proofs: Proofs): string {
  const lines = Object.entries(rows).flatMap(([name, { what, count, by }]) => {
    const proof = proofs[name as ProofName];
    return proof ? [[what, count(proof.figures), by, `${proof.node}, ${proof.date}`]] : [];
  });
  const head = [
    ['what was tried', 'how many', 'by', 'Node, day'],
    ['---', '---', '---', '---'],
  ];
  return [...head, ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
