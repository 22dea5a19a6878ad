/** The topics of `steno help`: the Markdown files of src/help, which the build copies into dist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Details, Item } from '../spec/command.ts';
import { flag, type Option } from '../spec/options.ts';
import type { Page, Section } from './help-page.ts';

/** Flags that every command has besides the global options. */
export const builtInOptions: readonly Option[] = [
  flag('-h, --help', 'explain this command'),
  flag('-v, --version', 'print the version'),
];

/** In a build, beside the program; in the sources, one folder up. */
function folder(): string {
  const built = join(__dirname, 'help');
  return existsSync(built) ? built : join(__dirname, '../help');
}

export const topicNames = (): string[] =>
  readdirSync(folder())
    .map((file) => file.replace(/\.md$/, ''))
    .sort();

/** Without comments: the text of a topic as people read it. */
export const topicMarkdown = (name: string): string =>
  readFileSync(join(folder(), `${name}.md`), 'utf8').replace(/^<!--.*-->\n/gm, '');

export const summaryOfTopic = (name: string): string => topicPage(name)?.summary ?? '';

export function topicPage(name: string): Page | undefined {
  if (!topicNames().includes(name)) return undefined;
  const [head, ...sections] = parseMarkdown(topicMarkdown(name));
  const about = (head?.body ?? []).filter((block) => typeof block === 'string');
  const [lead = ''] = about;
  const summary = lead.charAt(0).toLowerCase() + lead.slice(1).replace(/\.$/, '');
  return { name, summary, usage: [], about, lists: [], options: [], examples: [], sections };
}

/**
 * What our topics use of Markdown: headings, paragraphs, fenced blocks, and lists of the form `- **term**: text`, which
 * become two columns. A fenced block ends with a line break, by which it is told from a paragraph.
 */
export function parseMarkdown(text: string): Section[] {
  const sections: Array<{ title: string; body: Array<Details[number]> }> = [];
  const blocks = text.matchAll(
    /^```\w*\n([\s\S]*?)^```$|^#+ (.*)$|^((?:- .*\n?(?: {2}.*\n?)*)+)|^(\S.*(?:\n(?!```|#|- |\n).+)*)/gm,
  );
  for (const [, code, title, list, paragraph = ''] of blocks) {
    const body = sections.at(-1)?.body ?? [];
    if (title !== undefined) sections.push({ title: plain(title), body: [] });
    else if (code !== undefined) body.push(code);
    else if (list !== undefined) body.push(list.split(/^- /m).slice(1).map(itemOf));
    else body.push(plain(paragraph));
  }
  return sections;
}

function itemOf(text: string): Item {
  const [, code, bold, what = ''] = /^(?:`([^`]+)`|\*\*([^*]+)\*\*): ([\s\S]*)$/.exec(text) ?? [];
  return [code ?? bold ?? '', plain(what || text)];
}

/** On one line, without marks. */
const plain = (text: string): string =>
  text
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replace(/`([^`]+)`/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
