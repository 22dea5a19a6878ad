/** Cuts signatures out of a form, as an event's body is one; everything else stays as it is, to the byte. */
import { cutSignatures } from './audio-identity.ts';

/** A link without either has nothing that could be cut. */
const mayHoldSignature = /[?@]|%3f|%40/i;

/** Gives the same body back where there is nothing to cut: thousands of events a second go through here. */
export function cutFormSignatures<Body extends Uint8Array>(body: Body): Body | Buffer {
  // One character a byte, so that bytes that are no UTF-8 stay what they are.
  const text = bufferOf(body).toString('latin1');
  if (!mayHoldSignature.test(text)) return body;
  // A sender may have forgotten to encode the link: its parameters are then fields of the form.
  const cut = cutSignatures(text).split('&').map(cutField).join('&');
  return cut === text ? body : Buffer.from(cut, 'latin1');
}

function cutField(field: string): string {
  if (!mayHoldSignature.test(field)) return field;
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
