/**
 * What is wrong in files, as CI servers read it: commands of GitHub Actions, SARIF 2.1.0, JUnit. What the files and
 * their names say is untrusted, and is escaped as each form needs it.
 */
import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { oneLine } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';

export const reportForms = ['github', 'sarif', 'junit'] as const;

export type ReportForm = (typeof reportForms)[number];

export const reportFormMeanings: Readonly<Record<string, string>> = {
  github: 'annotations of GitHub Actions',
  sarif: 'SARIF 2.1.0, for code scanning',
  junit: 'JUnit XML, for the test report of a CI server',
};

/** The rule of an issue about a file that could not be read: an error of the test, not a failure. */
export const UNREADABLE = 'unreadable';

export interface Issue {
  readonly rule: string;
  readonly severity: 'error' | 'warning';
  readonly text: string;
  /** From 1; undefined where the file has no lines. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** In milliseconds of the audio. */
  readonly time?: number | undefined;
}

export interface ReportedFile {
  readonly path: string;
  /** Of one without issues, JUnit says that it passed. */
  readonly issues: readonly Issue[];
}

/** `tool` is the command that reports: `steno check`. */
export function reportOf(form: ReportForm, tool: string, files: readonly ReportedFile[]): string {
  const named = files.map(({ path, issues }) => ({ path: reportedPath(path), issues }));
  if (form === 'github') return named.flatMap(annotations).join('');
  return form === 'sarif' ? sarif(named) : junit(tool, named);
}

/** Relative to the current folder where it is below that, with slashes on every system. */
function reportedPath(path: string): string {
  const below = relative(process.cwd(), path);
  return (isAbsolute(below) || below.split(sep)[0] === '..' ? path : below).replaceAll(sep, '/');
}

/** What has no line is named by its time. */
const messageOf = ({ line, time, text }: Issue): string =>
  oneLine(line === undefined && time !== undefined ? `${audioClock(time, '')}: ${text}` : text);

// https://docs.github.com/actions/reference/workflow-commands-for-github-actions

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

function annotations({ path, issues }: ReportedFile): string[] {
  return issues.map((issue) => {
    const { severity, rule, line, column } = issue;
    const place = { file: path, line, col: line && column, title: rule };
    const properties = Object.entries(place).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}=${escapeProperty(String(value))}`,
    );
    return `::${severity} ${properties.join(',')}::${escapeData(messageOf(issue))}\n`;
  });
}

/** Half a character of two units becomes U+FFFD. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

function sarif(files: readonly ReportedFile[]): string {
  const rules = [...new Set(files.flatMap(({ issues }) => issues.map(({ rule }) => rule)))];
  const results = files.flatMap(({ path, issues }) =>
    issues.map((issue) => {
      const { rule, severity, line, column } = issue;
      const region = line === undefined ? undefined : { startLine: line, startColumn: column };
      // In a message, [text](target) is a link.
      const message = { text: messageOf(issue).replaceAll('](', '] (') || rule };
      const physicalLocation = { artifactLocation: { uri: uriOf(path) }, region };
      const what = { ruleId: rule, ruleIndex: rules.indexOf(rule), level: severity };
      return { ...what, message, locations: [{ physicalLocation }] };
    }),
  );
  const driver = { name: 'steno', version: STENO_VERSION, rules: rules.map((id) => ({ id })) };
  const run = { tool: { driver }, columnKind: 'utf16CodeUnits', results };
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return `${JSON.stringify({ $schema, version: '2.1.0', runs: [run] }, null, 2)}\n`;
}

const uriOf = (path: string): string =>
  isAbsolute(path) ? pathToFileURL(path).href : wellFormed(path).split('/').map(encodeURIComponent).join('/');

// https://github.com/testmoapp/junitxml

function junit(tool: string, files: readonly ReportedFile[]): string {
  const suites = files.map((file) => {
    const name = quoted(file.path);
    const cases = file.issues.map((issue) => testCase(name, issue));
    const passed = `    <testcase name="no problems" classname=${name} file=${name}/>\n`;
    return `  <testsuite name=${name} ${countsOf([file])}>\n${cases.join('') || passed}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name=${quoted(tool)} ${countsOf(files)}>\n${suites.join('')}</testsuites>\n`;
}

/** A file without issues is a test that passed. */
function countsOf(files: readonly ReportedFile[]): string {
  const tests = files.reduce((sum, { issues }) => sum + Math.max(1, issues.length), 0);
  const issues = files.flatMap((file) => file.issues);
  const errors = issues.filter(({ rule }) => rule === UNREADABLE).length;
  const failures = issues.filter(({ severity }) => severity === 'error').length - errors;
  return `tests="${tests}" failures="${failures}" errors="${errors}"`;
}

/** A warning does not fail the build, so its test passes and says it. */
function testCase(path: string, issue: Issue): string {
  const { rule, line, time, severity } = issue;
  const at = time === undefined ? '' : ` at ${audioClock(time, '')}`;
  const [place, lineOf] = line === undefined ? [at, ''] : [`, line ${line}`, ` line="${line}"`];
  const message = messageOf(issue);
  const element = rule === UNREADABLE ? 'error' : 'failure';
  const body =
    severity === 'error'
      ? `<${element} message=${quoted(message)} type=${quoted(rule)}>${escapeXml(message)}</${element}>`
      : `<system-out>warning: ${escapeXml(message)}</system-out>`;
  return `    <testcase name=${quoted(rule + place)} classname=${path} file=${path}${lineOf}>${body}</testcase>\n`;
}

const xmlEntities: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
  ...{ '\t': '&#9;', '\n': '&#10;', '\r': '&#13;' },
};

/** A character that XML has no way to write becomes U+FFFD. */
const escapeXml = (text: string): string =>
  wellFormed(text)
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"'\t\n\r]/g, (sign) => xmlEntities[sign] ?? sign);

const quoted = (text: string): string => `"${escapeXml(text)}"`;
