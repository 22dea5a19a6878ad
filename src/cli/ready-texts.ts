/** The texts that the build writes into dist, so that start/launch.ts can print them without loading the program. */
import { PassThrough } from 'node:stream';
import { PAGE_WIDTH } from '../lib/defaults.ts';
import type { View } from '../lib/view.ts';
import type { Command, Group } from '../spec/command.ts';
import { Output } from '../ui/output.ts';
import { formatsView, skusView, statesView } from '../views/catalog.ts';
import { helpText } from './help.ts';

/** The help page of every command by its full name, as `--help` prints it. */
export function helpPages(groups: readonly Group[]): Array<[name: string, text: string]> {
  const paths = [[], ...groups.flatMap(({ commands }) => commands).flatMap(namesOf)];
  return paths.map((path) => [['steno', ...path].join(' '), helpText(path, PAGE_WIDTH, groups)]);
}

/** With its alias, and those of its children. */
function namesOf(spec: Command): string[][] {
  const children = (spec.children ?? []).flatMap(namesOf);
  const names = spec.alias ? [spec.name, spec.alias] : [spec.name];
  return names.flatMap((name) => [[name], ...children.map((path) => [name, ...path])]);
}

/** What the commands of the catalogue print where there is no terminal, by command and form. */
export async function catalogueTexts(): Promise<Array<[name: string, text: string]>> {
  const views = { skus: skusView(), states: statesView(), formats: formatsView() };
  const texts: Array<[string, string]> = [];
  for (const [name, view] of Object.entries(views)) {
    for (const form of ['tabs', 'json', 'csv', 'quiet'])
      texts.push([`${name} --${form}`, await textOf(view, form)]);
  }
  return texts;
}

async function textOf(view: View, form: string): Promise<string> {
  const sink = new PassThrough();
  const stream = sink as unknown as NodeJS.WriteStream;
  const mode = {
    json: form === 'json',
    csv: form === 'csv',
    quiet: form === 'quiet',
    noColor: true,
    pager: false,
    debug: false,
    progress: false,
  };
  await new Output(mode, { stdout: stream, stderr: stream }, String, {}).show(view);
  return String(sink.read());
}
