/** What a mutant changes: for a place in the source, the texts that may stand there instead. */
import { sqlMutants } from './sql-mutants.ts';
import { type Node, nodeIn, nodesIn, type Place } from './syntax.ts';

export interface Change {
  /** What stands there instead. */
  readonly to: string;
  /** What is left out; absent where it is clear from the two texts. */
  readonly without?: string;
}

type Text = (node: Node) => string;
type Operator = (node: Node, text: Text, place: Place) => Array<string | Change>;

const COMPARISONS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
const ARITHMETIC: Readonly<Record<string, string>> = { '-': '+', '*': '/', '/': '*' };
const METHODS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['indexOf', 'lastIndexOf'],
  ['lastIndexOf', 'indexOf'],
]);
/** Methods that change a value of which their object is one too. */
const FILTERS = new Set(
  'filter slice sort trim normalize replace replaceAll toLowerCase toUpperCase reverse padStart'.split(' '),
);

const CONDITIONS = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement', 'LogicalExpression']);

const operators: Readonly<Record<string, Operator>> = {
  BinaryExpression: binary,
  LogicalExpression: (node, text) => [text(nodeIn(node, 'left')), text(nodeIn(node, 'right'))],
  ConditionalExpression: (node, text) => [text(nodeIn(node, 'consequent')), text(nodeIn(node, 'alternate'))],
  UnaryExpression: not,
  ArrayExpression: array,
  CallExpression: call,
  Literal: literal,
  TemplateLiteral: (node, text) => sqlMutants(text(node)),
};

/** What may stand for an expression. */
export function changesOf(place: Place, text: Text): Change[] {
  const changes = textsOf(place, text).map((to) => (typeof to === 'string' ? { to } : to));
  const texts = new Set([text(place.node)]);
  return changes.filter(({ to }) => !texts.has(to) && texts.add(to));
}

function textsOf(place: Place, text: Text): Array<string | Change> {
  const { node, parent, field } = place;
  const own = operators[node.type]?.(node, text, place) ?? [];
  if (field !== 'test') return own;
  if (parent?.type === 'IfStatement') return ['true', 'false', ...own];
  // A loop without an end says nothing.
  return parent?.type === 'WhileStatement' ? ['false', ...own] : own;
}

function binary(node: Node, text: Text, { parent }: Place): string[] {
  const operator = String(node.operator);
  const other = COMPARISONS[operator] ?? ARITHMETIC[operator];
  // Where it decides alone, the condition as a whole has mutants.
  const isEquality = operator === '===' || operator === '!==';
  if (!other || (isEquality && CONDITIONS.has(parent?.type ?? ''))) return [];
  return [`${text(nodeIn(node, 'left'))} ${other} ${text(nodeIn(node, 'right'))}`];
}

function not(node: Node, text: Text, { parent }: Place): string[] {
  return node.operator === '!' && !CONDITIONS.has(parent?.type ?? '') ? [text(nodeIn(node, 'argument'))] : [];
}

function array(node: Node, text: Text, { parent }: Place): Array<string | Change> {
  // With another number of values a statement of SQL only fails.
  if (parent?.type === 'Property' && nodeIn(parent, 'key').name === 'values') return [];
  const elements = nodesIn(node, 'elements');
  if (elements.length === 0) return [];
  const isWords = elements.every(({ type }) => type === 'Literal');
  if (elements.length === 1 || isWords) return ['[]'];
  return elements.map((left) => {
    const others = elements.filter((each) => each !== left);
    return { to: `[${others.map(text).join(', ')}]`, without: text(left) };
  });
}

function call(node: Node, text: Text): string[] {
  const callee = nodeIn(node, 'callee');
  if (callee.type !== 'MemberExpression' || callee.computed) return [];
  const [object, name] = [nodeIn(callee, 'object'), String(nodeIn(callee, 'property').name)];
  const given = text(node).slice(callee.end - node.start);
  const other = METHODS.get(name);
  return [
    ...(FILTERS.has(name) ? [text(object)] : []),
    ...(other ? [`${text(object)}.${other}${given}`] : []),
  ];
}

/** There the expression around it has mutants that say as much. */
function isCovered({ parent, field }: Place): boolean {
  if (parent?.type === 'BinaryExpression') return /^[!=]==$/.test(String(parent.operator));
  if (parent?.type === 'ConditionalExpression') return true;
  return parent?.type === 'LogicalExpression' && field === 'right';
}

function literal(node: Node, text: Text, place: Place): string[] {
  const { value } = node;
  const { parent, field } = place;
  if (node.regex) return regexMutants(text(node));
  if (isCovered(place)) return [];
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value === 'number') return [String(value + 1)];
  if (typeof value !== 'string' || field === 'key' || field === 'source') return [];
  const sql = sqlMutants(text(node));
  if (sql.length) return sql;
  // A text of several words is for people, and a module's name is no decision.
  if (/\s|^node:/.test(value) || parent?.type === 'ImportExpression') return [];
  return [value === '' ? "'mutant'" : "''"];
}

/** Anchors, flags and one of several choices left out. */
function regexMutants(code: string): string[] {
  const end = code.lastIndexOf('/');
  const [body, flags] = [code.slice(1, end), code.slice(end + 1)];
  const bodies = [
    ...(body.startsWith('^') ? [body.slice(1)] : []),
    ...(body.endsWith('$') ? [body.slice(0, -1)] : []),
    ...[...body.matchAll(/(?<=[(|])[\w%&;\\-]+\||\|[\w%&;\\-]+(?=\))/g)].map(
      ({ 0: choice, index }) => body.slice(0, index) + body.slice(index + choice.length),
    ),
  ];
  return [
    ...bodies.filter(Boolean).map((each) => `/${each}/${flags}`),
    ...[...flags].map((flag) => `/${body}/${flags.replace(flag, '')}`),
  ];
}

const STATEMENTS = new Set(['ExpressionStatement', 'ThrowStatement', 'ContinueStatement', 'ReturnStatement']);

/** Whether a mutant without this statement makes sense: not where it gives the value of a function at its end. */
export function isRemovable({ node, parent, field }: Place): boolean {
  if (!STATEMENTS.has(node.type) || field === 'expression') return false;
  if (node.type === 'ExpressionStatement') return !isSuper(nodeIn(node, 'expression'));
  if (node.type !== 'ReturnStatement') return true;
  // `if (…) return x;` goes with its condition.
  return parent?.type !== 'IfStatement' && !node.argument;
}

const isSuper = (node: Node): boolean =>
  node.type === 'CallExpression' && nodeIn(node, 'callee').type === 'Super';
