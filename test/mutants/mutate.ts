/** Puts all mutants of a source file into it: each is chosen by its number while the program runs. */
import { type Change, changesOf, isRemovable } from './operators.ts';
import { isNode, type Node, nodeIn, type Place, parse, walk } from './syntax.ts';

export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** The function or constant in which it is. */
  readonly within: string;
  readonly from: string;
  /** Empty: it is left out. */
  readonly to: string;
  /** Which of several that look alike, in the same function; 1 is the first. */
  readonly nth: number;
}

export interface Mutated {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

/** The function that tells whether a mutant is chosen; the file imports it. */
const CHOSEN = '__isMutant';

export function mutate(file: string, source: string, firstId: number, switchPath: string): Mutated {
  const text = ({ start, end }: Node): string => source.slice(start, end);
  const mutants: Mutant[] = [];
  const edits: Edit[] = [];
  const seen = new Map<string, number>();
  const add = ({ node, within }: Place, { to, without }: Change): number => {
    const [from, shown] = without === undefined ? smallest(text(node), to) : smallest(without, '');
    const alike = JSON.stringify([within, from, shown]);
    const nth = (seen.get(alike) ?? 0) + 1;
    seen.set(alike, nth);
    const id = firstId + mutants.length;
    const line = source.slice(0, node.start).split('\n').length;
    mutants.push({ id, file, line, within, from, to: shown, nth });
    return id;
  };
  walk(parse(source), (place) => {
    const { node } = place;
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return false;
    if (isForPeople(place)) return false;
    if (isRemovable(place)) {
      const id = add(place, { to: '' });
      edits.push({ at: node.start, order: node.start, text: `{ if (!${CHOSEN}(${id})) { ` });
      edits.push({ at: node.end, order: -node.start, text: ' } }' });
    }
    if (!isReplaceable(place)) return true;
    const changes = changesOf(chainRoot(place), text);
    if (changes.length === 0) return true;
    const choices = changes.map((change) => `${CHOSEN}(${add(place, change)}) ? (${change.to}) : `);
    edits.push({ at: node.start, order: node.start, text: `(${choices.join('')}(` });
    edits.push({ at: node.end, order: -node.start, text: '))' });
    return true;
  });
  const heading = `import { isMutant as ${CHOSEN} } from '${switchPath}';\n`;
  return { source: heading + applied(source, edits), mutants };
}

const ERRORS = new Set(['usage', 'StenoError', 'Error', 'TakenOver']);

/** The message of an error, and its hint. */
function isForPeople({ node, parent }: Place): boolean {
  const isText = node.type === 'TemplateLiteral' || node.type === 'ObjectExpression';
  return isText && isNode(parent?.callee) && ERRORS.has(String(parent.callee.name));
}

interface Edit {
  readonly at: number;
  /** Of several at one place: the outer one begins first and ends last. */
  readonly order: number;
  readonly text: string;
}

function applied(source: string, edits: readonly Edit[]): string {
  // An end comes before a beginning at the same place; edits of one node keep their order.
  const isEnd = ({ order }: Edit): boolean => order < 0 || Object.is(order, -0);
  const sorted = edits
    .map((edit, index) => ({ edit, index }))
    .sort((a, b) => {
      if (a.edit.at !== b.edit.at) return a.edit.at - b.edit.at;
      if (isEnd(a.edit) !== isEnd(b.edit)) return isEnd(a.edit) ? -1 : 1;
      // Ends: the node that begins later is the inner one; of one node the last edit is the inner one.
      if (isEnd(a.edit)) return a.edit.order - b.edit.order || b.index - a.index;
      return a.index - b.index;
    });
  let [result, from] = ['', 0];
  for (const { edit } of sorted) {
    result += source.slice(from, edit.at) + edit.text;
    from = edit.at;
  }
  return result + source.slice(from);
}

/** An expression whose value is used; not a name, a target of an assignment, or a part of `a?.b.c`. */
function isReplaceable({ node, parent, field }: Place): boolean {
  if (parent?.type === 'ChainExpression') return false;
  if (field === 'left' && /^Assignment/.test(parent?.type ?? '')) return false;
  if (parent?.type === 'UpdateExpression' || field === 'directive') return false;
  const isKey = (field === 'key' || field === 'property') && !parent?.computed;
  if (isKey || parent?.type === 'ImportAttribute') return false;
  // Within a?.b.c() a part in brackets of its own would end the chain.
  return !(isInChain(node) && (field === 'object' || field === 'callee'));
}

function isInChain(node: Node): boolean {
  if (node.optional) return true;
  if (node.type === 'MemberExpression') return isInChain(nodeIn(node, 'object'));
  return node.type === 'CallExpression' && isInChain(nodeIn(node, 'callee'));
}

const chainRoot = (place: Place): Place =>
  place.node.type === 'ChainExpression' ? { ...place, node: nodeIn(place.node, 'expression') } : place;

/** What differs of two texts, with enough around it to be understood. */
function smallest(from: string, to: string): [string, string] {
  const limit = 160;
  if (from.length <= limit && to.length <= limit) return [oneLine(from), oneLine(to)];
  let start = 0;
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start += 1;
  let end = 0;
  const most = Math.min(from.length, to.length) - start;
  while (end < most && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const cut = (text: string): string => {
    const part = text.slice(Math.max(0, start - 30), text.length - Math.max(0, end - 30));
    return oneLine(part.length > 2 * limit ? `${part.slice(0, limit)} … ${part.slice(-60)}` : part);
  };
  return [cut(from), to === '' ? '' : cut(to)];
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
