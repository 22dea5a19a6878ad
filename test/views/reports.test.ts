/** Reports for CI servers: whatever a transcript or the name of a file says, each form says the same and nothing else. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import sax from 'sax';
import { describe, expect, it } from 'vitest';
import { type Issue, type ReportedFile, reportOf } from '../../src/views/reports.ts';
import { runs } from '../support/runs.ts';
import { User } from '../support/steno.ts';
import { zipOf } from '../support/zip.ts';

const captions = (text: string): string => `WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${text}\n`;

function withFiles(): User {
  const user = new User();
  mkdirSync(join(user.home, 'talks'));
  writeFileSync(join(user.home, 'talks', 'a, b: 100%.vtt'), captions('<v Ada>we met [xx] &lt;then&gt;'));
  writeFileSync(join(user.home, 'good.vtt'), captions('<v Ada>we met then'));
  const paragraph = '<w:p><w:r><w:t>[00:01:02] Ada: who [?]</w:t></w:r></w:p>';
  writeFileSync(
    join(user.home, 'talk.docx'),
    zipOf({ 'word/document.xml': `<w:body>${paragraph}</w:body>` }),
  );
  return user;
}

const names = ['talks/a, b: 100%.vtt', 'good.vtt', 'talk.docx', 'none.vtt'];

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** Throws where it is not XML. */
function parseXml(xml: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  const parser = sax.parser(true);
  parser.onopentag = ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  };
  parser.ontext = (text) => {
    (open.at(-1) as Element).text += text;
  };
  parser.onclosetag = () => void open.pop();
  parser.write(xml);
  parser.close();
  return root.children[0] as Element;
}

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: ReadonlyArray<{
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region?: { readonly startLine: number; readonly startColumn?: number };
    };
  }>;
}

/** What the schema of SARIF 2.1.0 demands of these members, and that no other is there. */
function resultsOf(report: string): Result[] {
  const sarif = JSON.parse(report);
  expect(Object.keys(sarif)).toEqual(['$schema', 'version', 'runs']);
  expect(sarif.version).toBe('2.1.0');
  const [run] = sarif.runs;
  expect(Object.keys(run)).toEqual(['tool', 'columnKind', 'results']);
  expect(run.columnKind).toBe('utf16CodeUnits');
  expect(run.tool.driver).toMatchObject({ name: 'steno', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  for (const { ruleId, ruleIndex, level, message, locations, ...others } of run.results) {
    expect(others).toEqual({});
    expect(run.tool.driver.rules[ruleIndex]).toEqual({ id: ruleId });
    expect(['error', 'warning', 'note']).toContain(level);
    expect(message.text).toMatch(/\S/);
    const { artifactLocation, region = { startLine: 1 } } = locations[0].physicalLocation;
    expect(artifactLocation.uri).toBe(
      new URL(artifactLocation.uri, 'file:///x/').href.replace('file:///x/', ''),
    );
    expect(region.startLine).toBeGreaterThan(0);
  }
  return run.results;
}

describe('check --report', () => {
  it('github has annotations with the line, or with the time where there are no lines', async () => {
    const { code, stdout } = await withFiles().run(['check', ...names, '--report', 'github']);
    expect(stdout.split('\n')).toEqual([
      '::error file=talks/a%2C b%3A 100%25.vtt,line=4,title=gap::we met [xx] <then>',
      '::error file=talk.docx,title=doubt::00:01:02: who [?]',
      "::error file=none.vtt,title=unreadable::none.vtt can't be read: there is no such file",
      '',
    ]);
    expect(code).toBe(2);
  });

  it('sarif has results with rules and places', async () => {
    const { code, stdout } = await withFiles().run(['check', ...names.slice(0, 3), '--report', 'sarif']);
    const results = resultsOf(stdout);
    expect(results.map(({ ruleId, message: { text } }) => [ruleId, text])).toEqual([
      ['gap', 'we met [xx] <then>'],
      ['doubt', '00:01:02: who [?]'],
    ]);
    expect(results.map(({ locations: [place] }) => place?.physicalLocation)).toEqual([
      { artifactLocation: { uri: 'talks/a%2C%20b%3A%20100%25.vtt' }, region: { startLine: 4 } },
      { artifactLocation: { uri: 'talk.docx' } },
    ]);
    expect(code).toBe(1);
  });

  it('junit has a suite for each file, with what is wrong or one test that passed', async () => {
    const { stdout } = await withFiles().run(['check', ...names, '--report', 'junit']);
    const { attributes, children } = parseXml(stdout);
    expect(attributes).toEqual({ name: 'steno check', tests: '4', failures: '2', errors: '1' });
    const tests = children.flatMap((suite) =>
      suite.children.map((test) => [test.attributes.name, test.children[0]?.name, test.children[0]?.text]),
    );
    expect(tests).toEqual([
      ['gap, line 4', 'failure', 'we met [xx] <then>'],
      ['no problems', undefined, undefined],
      ['doubt at 00:01:02', 'failure', '00:01:02: who [?]'],
      ['unreadable', 'error', "none.vtt can't be read: there is no such file"],
    ]);
  });

  it('takes the place of other forms, and is one of three', async () => {
    const user = withFiles();
    for (const more of [['--json'], ['--csv'], ['--markdown']])
      expect((await user.run(['check', 'good.vtt', '--report', 'github', ...more])).code).toBe(2);
    const { code, stderr } = await user.run(['check', 'good.vtt', '--report', 'juni']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('junit')]);
    expect(await user.run(['check', 'good.vtt', '--report', 'github'])).toMatchObject({
      code: 0,
      stdout: '',
    });
  });
});

describe('untrusted text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          '::',
          '\r',
          '\n',
          '%0A',
          '%',
          ',',
          ']]>',
          '<',
          '&',
          '"',
          '\0',
          '\ud800',
          '](',
          '\u001b',
        ),
      )
      .map((parts) => parts.join('')),
  );
  const issue: fc.Arbitrary<Issue> = fc.record({
    rule: fc.constantFrom('gap', 'doubt'),
    severity: fc.constantFrom('error', 'warning'),
    text,
    line: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    time: fc.option(fc.nat(9_000_000), { nil: undefined }),
  });
  const path = text.map((name) => `x${name.replace(/[/\\]|\.\./g, '')}`);
  const files: fc.Arbitrary<ReportedFile[]> = fc.array(fc.record({ path, issues: fc.array(issue) }));

  it('makes no other annotation, no broken XML and no broken JSON', () => {
    fc.assert(
      fc.property(files, (given) => {
        const issues = given.flatMap((file) => file.issues);
        const lines = reportOf('github', 'steno check', given)
          .split(/[\r\n]/)
          .slice(0, -1);
        expect(lines).toHaveLength(issues.length);
        for (const [at, line] of lines.entries())
          expect(line).toMatch(
            new RegExp(`^::${issues[at]?.severity} file=[^,:]*(?:,line=\\d)?,title=\\w+::`),
          );
        const suites = parseXml(reportOf('junit', 'steno check', given)).children;
        expect(suites.flatMap(({ children }) => children.flatMap((test) => test.children))).toHaveLength(
          issues.length,
        );
        const sarif = JSON.parse(reportOf('sarif', 'steno check', given));
        expect(sarif.runs[0].results).toHaveLength(issues.length);
      }),
      { numRuns: runs() },
    );
  });
});
