/** Transcripts of one file or of several: into a folder, or as one archive. */
import { useState } from 'preact/hooks';
import { formats } from '../../catalog/formats.ts';
import { shellWord } from '../../lib/text.ts';
import { get, getBlob } from './api.ts';
import { el, type Typed } from './el.ts';
import { counted } from './format.ts';
import * as parts from './parts.ts';

const { div, fieldset, input, label, legend, p, span } = el;

export function saveAs(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

interface Saved {
  readonly folder: string;
  readonly saved: readonly unknown[];
  readonly errors: readonly string[];
}

async function intoFolder(body: object): Promise<string> {
  const { folder, saved, errors } = await get<Saved>('/api/downloads', body);
  const done = saved.length ? `${counted(saved.length, 'transcript')} in ${folder}` : 'Nothing was saved';
  if (errors.length) throw new Error([done, ...errors].join('. '));
  return done;
}

async function asArchive(body: object): Promise<string> {
  saveAs(await getBlob('/api/zip', body), 'transcripts.zip');
  return 'Saved transcripts.zip';
}

export function Downloads({ ids }: { readonly ids: readonly string[] }) {
  const [chosen, setChosen] = useState<readonly string[]>(['txt']);
  const [folder, setFolder] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = (work: (body: object) => Promise<string>) => async (): Promise<void> => {
    setBusy(true);
    parts.say('Downloading…');
    await parts.sayWhen(work({ ids, formats: chosen, ...(folder && { folder }) }));
    setBusy(false);
  };
  const choice = ({ ext, meaning }: (typeof formats)[number]) => {
    const onChange = ({ currentTarget }: Typed): void =>
      setChosen(currentTarget.checked ? [...chosen, ext] : chosen.filter((each) => each !== ext));
    const box = input({ type: 'checkbox', checked: chosen.includes(ext), onChange });
    return label({ class: 'choice', title: meaning }, box, ext);
  };
  const disabled = isBusy || chosen.length === 0;
  const onInput = ({ currentTarget }: Typed): void => setFolder(currentTarget.value.trim());
  const placeholder = 'folder (where steno ui was started)';
  const where = input({ class: 'folder', 'aria-label': 'Folder', placeholder, value: folder, onInput });
  const save = parts.button('Save to the folder', run(intoFolder), { disabled, class: 'main' });
  const output = folder && ` -o ${shellWord(`${folder.replace(/\/$/, '')}/`)}`;
  const line = `transcript ${ids.map(shellWord).join(' ')} --format ${chosen.join(',')}${output}`;
  return div(
    'downloads',
    fieldset('choices', legend('unseen', 'Formats'), formats.map(choice)),
    p('buttons', where, save, parts.button('Download as zip', run(asArchive), { disabled })),
    chosen.length ? parts.command(line) : span('muted', 'Choose a format.'),
  );
}
