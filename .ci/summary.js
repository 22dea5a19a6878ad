// Prints the slowest test files, each failed test and `N passed, N failed` of several test runs, and fails where one of
// them failed or a test file ran in none:
// node .ci/summary.js <folder of reports> <failures before the tests> <exit code> <report…>
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const SLOWEST = 10;
const MESSAGE_LINES = 8;

const [folder, failedBefore, exitCode, ...names] = process.argv.slice(2);
const reports = names.map((name) => ({ name, report: reportOf(join(folder, `${name}.json`)) }));
const results = reports.flatMap(({ report }) => report?.testResults ?? []);
const count = (key) => reports.reduce((total, { report }) => total + (report?.[key] ?? 0), 0);

function reportOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

const pathOf = ({ name }) => relative(process.cwd(), name).replaceAll('\\', '/');
const hasRun = ({ assertionResults }) =>
  assertionResults.some(({ status }) => status === 'passed' || status === 'failed');

const milliseconds = new Map();
for (const result of results) {
  const before = milliseconds.get(pathOf(result)) ?? 0;
  milliseconds.set(pathOf(result), before + result.endTime - result.startTime);
}
console.log('The slowest test files, in all runs together:');
for (const [path, took] of [...milliseconds].sort(([, a], [, b]) => b - a).slice(0, SLOWEST))
  console.log(`${(took / 1000).toFixed(0).padStart(6)} s  ${path}`);

function tellFailure(name, what, message = '') {
  console.log(`failed in the run '${name}': ${what}`);
  for (const line of message.split('\n').slice(0, MESSAGE_LINES)) console.log(`    ${line}`);
}
for (const { name, report } of reports)
  for (const result of report?.testResults ?? []) {
    if (result.status === 'failed' && !hasRun(result)) tellFailure(name, pathOf(result), result.message);
    for (const { status, fullName, failureMessages } of result.assertionResults)
      if (status === 'failed') tellFailure(name, `${pathOf(result)} > ${fullName}`, failureMessages?.[0]);
  }

const ran = new Set(results.filter(hasRun).map(pathOf));
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name.replaceAll('\\', '/')}`);
const complaints = [
  ...reports.filter(({ report }) => !report).map(({ name }) => `the run '${name}' left no report`),
  ...files.filter((path) => !ran.has(path)).map((path) => `no test ran of ${path}`),
];
for (const complaint of complaints) console.log(complaint);

const counted = Number(failedBefore) + count('numFailedTests') + complaints.length;
// A file that can't be loaded, or an error outside of every test, is in no count.
const failed = exitCode !== '0' && counted === 0 ? 1 : counted;
console.log(`${count('numPassedTests')} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
