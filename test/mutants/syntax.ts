/** What of a syntax tree (ESTree, as vitest's parser gives it) the mutants need. */
import { parseAst } from 'vitest/node';

export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export const parse = (source: string): Node => parseAst(source, { lang: 'ts' }) as unknown as Node;

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

export const nodeIn = (node: Node, field: string): Node => node[field] as Node;

export const nodesIn = (node: Node, field: string): Node[] =>
  ((node[field] ?? []) as unknown[]).filter(isNode);

/** Types are gone when the program runs; these hold an expression beside a type. */
const WITH_EXPRESSION = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

export const isType = ({ type }: Node): boolean => type.startsWith('TS') && !WITH_EXPRESSION.has(type);

/** A node, the field of its parent in which it stands, and the function around it. */
export interface Place {
  readonly node: Node;
  readonly parent: Node | undefined;
  readonly field: string;
  readonly within: string;
}

/** Every place of a tree, a parent before its children. Where `enter` gives false, its children are left out. */
export function walk(node: Node, enter: (place: Place) => boolean): void {
  visit({ node, parent: undefined, field: '', within: '' }, enter);
}

function visit(place: Place, enter: (place: Place) => boolean): void {
  if (isType(place.node) || !enter(place)) return;
  const within = nameOf(place) ?? place.within;
  for (const [field, value] of Object.entries(place.node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) visit({ node: child, parent: place.node, field, within }, enter);
}

/** The name of a function, a method or a constant at the top, for people. */
function nameOf({ node, within, parent }: Place): string | undefined {
  if (node.type === 'MethodDefinition' || node.type === 'PropertyDefinition')
    return identifier(nodeIn(node, 'key'));
  if (node.type === 'FunctionDeclaration') return identifier(nodeIn(node, 'id'));
  const isTop = within === '' && parent?.type === 'VariableDeclaration';
  return isTop ? identifier(nodeIn(node, 'id')) : undefined;
}

function identifier(node: Node | undefined): string | undefined {
  if (node?.type === 'PrivateIdentifier') return `#${String(node.name)}`;
  return node?.type === 'Identifier' ? String(node.name) : undefined;
}
