/** The documents for contributors name only what is there, and the map of src names all of it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const documents = ['src/README.md', 'src/DECISIONS.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md'];
const read = (path: string): string => readFileSync(path, 'utf8');

/** Words in code marks that are paths: with a slash, or with the ending of a source file. NAME stands for any name. */
function pathsIn(text: string): string[] {
  const code = text.replace(/^```[\s\S]*?^```/gm, '');
  const words = [...code.matchAll(/`([^`\s]+)`/g)].map(([, word = '']) => word);
  return words.filter(
    (word) =>
      /^[\w.-]+(\/[\w.-]+)*\/?$/.test(word) && /\/|\.(ts|js|md)$/.test(word) && !word.includes('NAME'),
  );
}

const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);

const inProject = (path: string): boolean => existsSync(path) || existsSync(join('src', path));

describe.each(documents)('%s', (path) => {
  const text = read(path);

  it('names paths that are there', () => {
    expect(pathsIn(text).filter((each) => !inProject(each) && !isOfUsers(each))).toEqual([]);
  });

  it('links to files that are there', () => {
    expect(linksIn(text).filter((each) => !existsSync(join(dirname(path), each)))).toEqual([]);
  });

  it('names scripts of package.json', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('has no line longer than 120 characters, tables aside', () => {
    const long = text.split('\n').filter((line) => line.length > 120 && !line.startsWith('|'));
    expect(long).toEqual([]);
  });
});

/** Paths of a user's machine, not of the project. */
const isOfUsers = (path: string): boolean => path === 'transcripts/';

describe('the map', () => {
  const text = read('src/README.md');

  it('finds paths at all', () => {
    expect(pathsIn(text).length).toBeGreaterThan(60);
  });

  it('names every folder of src, in a row of its own', () => {
    const folders = readdirSync('src', { recursive: true, withFileTypes: true })
      .filter((each) => each.isDirectory())
      .map((each) => `${join(each.parentPath, each.name).split(sep).slice(1).join('/')}/`);
    const rows = [...text.matchAll(/^\| `([^`]+\/)` \|/gm)].map(([, folder = '']) => folder);
    expect(rows.sort()).toEqual(folders.sort());
  });

  it('leads to every section that other documents point at', () => {
    const [, anchor] = /src\/README\.md#([\w-]+)\)/.exec(read('.github/CONTRIBUTING.md')) ?? [];
    const anchors = [...text.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(anchors).toContain(anchor);
  });
});

it.each([...documents, 'README.md', 'CHANGELOG.md'])('%s holds no marks of a merge', (path) => {
  expect(read(path)).not.toMatch(/^(<{7}|={7}|>{7})( |$)/m);
});

describe('the folders of test', () => {
  it('are those of src, and some of its own', () => {
    const runs = ['bench', 'crash', 'fuzz', 'mutants', 'nodes', 'release'];
    const own = [...runs, 'data', 'jobs', 'pictures', 'project', 'support'];
    const folders = readdirSync('test', { recursive: true, withFileTypes: true })
      .filter((each) => each.isDirectory())
      .map((each) => join(each.parentPath, each.name).split(sep).slice(1).join('/'));
    const isOwn = (folder: string): boolean => own.includes(folder.split('/')[0] ?? '');
    expect(folders.filter((each) => !isOwn(each) && !existsSync(join('src', each)))).toEqual([]);
  });
});
