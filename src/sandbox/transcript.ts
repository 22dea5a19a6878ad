import { findFormat, formats } from '../catalog/formats.ts';
import type { Answer } from './answer.ts';
import { countDeliveries, getFile, stateOf } from './files.ts';
import type { Call } from './handlers.ts';
import { Refusal } from './refusal.ts';

export async function transcript(call: Call): Promise<Answer> {
  const ext = call.pathParams.ext ?? 'txt';
  const format = findFormat(ext);
  if (!format) {
    throw new Refusal(400, `'${ext}' is not one of ${formats.map((each) => each.ext).join(', ')}.`);
  }
  const file = getFile(call, call.pathParams.id ?? '');
  const fake = call.params.flag('test');
  const state = stateOf(call, file.id);
  if (!fake && state !== 'Delivered') {
    throw new Refusal(409, `Audiofile ${file.id} has no transcript in the state ${state}.`);
  }
  const { renderTranscript } = await import('./transcripts/index.ts');
  const names = file.names.split('|').filter((name) => name.trim() !== '');
  const { id, title, link, minutes } = file;
  const revision = countDeliveries(call, id);
  const body = renderTranscript(ext, { id, title, names, link, minutes, revision, ...(fake && { fake }) });
  return {
    status: 200,
    type: format.content === 'text' ? `${format.mime}; charset=utf-8` : format.mime,
    body,
  };
}
