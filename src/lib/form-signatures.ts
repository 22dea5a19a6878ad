/** Cuts signatures out of a form, as an event's body is one; everything else stays as it is, to the byte. */
import { cutSignatures } from './audio-identity.ts';

/** A link without any of these has nothing that could be cut. */
const mayHoldSignature = /[?@]|%3f|%40/i;

/** How a link begins in a field, whichever of its characters are encoded. Repeats nothing, so that it never goes back. */
const link =
  /(?:h|%[46]8)(?:t|%[57]4){2}(?:p|%[57]0)(?:s|%[57]3)?(?::|%3a)(?:\\|%5c)?(?:\/|%2f)(?:\\|%5c)?(?:\/|%2f)/gi;

/** Gives the same body back where there is nothing to cut: thousands of events a second go through here. */
export function cutFormSignatures<Body extends Uint8Array>(body: Body): Body | Buffer {
  // One character a byte, so that bytes that are no UTF-8 stay what they are.
  const text = bufferOf(body).toString('latin1');
  if (!mayHoldSignature.test(text)) return body;
  // A sender may have forgotten to encode the link: its parameters are then fields of the form.
  const cut = cutFields(cutSignatures(text));
  return cut === text ? body : Buffer.from(cut, 'latin1');
}

/** Looks only at fields that hold a link: a stranger may send half a million of others. */
function cutFields(text: string): string {
  let cut = '';
  let from = 0;
  link.lastIndex = 0;
  for (let match = link.exec(text); match; match = link.exec(text)) {
    // Not before `from`: there another field ends.
    const start = Math.max(from, text.lastIndexOf('&', match.index) + 1);
    const next = text.indexOf('&', match.index);
    const end = next < 0 ? text.length : next;
    cut += text.slice(from, start) + cutField(text.slice(start, end));
    from = end;
    link.lastIndex = end;
  }
  return from === 0 ? text : cut + text.slice(from);
}

function cutField(field: string): string {
  // What is not encoded was cut with the whole text.
  if (!/@|%40|%26|%3d|sig/i.test(field)) return field;
  const at = field.indexOf('=') + 1;
  const value = decoded(field.slice(at));
  const cut = cutSignatures(value);
  return cut === value ? field : field.slice(0, at) + new URLSearchParams([['', cut]]).toString().slice(1);
}

/** `text` has one character a byte; what it encodes is UTF-8. */
const decoded = (text: string): string =>
  new URLSearchParams(`=${Buffer.from(text, 'latin1').toString('utf8')}`).get('') ?? '';

const bufferOf = (body: Uint8Array): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
