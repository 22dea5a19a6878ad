/** The texts that the build writes into dist, so that start/launch.ts can print them without loading the program. */
import { PassThrough } from 'node:stream';
import { PAGE_WIDTH } from '../lib/defaults.ts';
import type { View } from '../lib/view.ts';
import { Output } from '../ui/output.ts';
import { formatsView, skusView, statesView } from '../views/catalog.ts';
import { commands } from './command-list.ts';
import type { Command } from './command-spec.ts';
import { helpText } from './help.ts';

/** The help page of every command by its full name, as `--help` prints it. */
export function helpPages(): Promise<Array<[name: string, text: string]>> {
  const paths = [[], ...commands.flatMap(namesOf)];
  return Promise.all(
    paths.map(async (path) => [['steno', ...path].join(' '), await helpText(path, PAGE_WIDTH)]),
  );
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
  await new Output({ stdout: stream, stderr: stream }, { mode, env: {}, hide: String }).show(view);
  return String(sink.read());
}
