/** Takes secrets out of a delivery. Whatever writes or forwards one takes it from here. */
import { cutFormSignatures } from '../lib/form-signatures.ts';
import type { Delivery } from './server.ts';

export interface CleanDelivery {
  /** What is written: without the key, and without the signatures of links. */
  readonly kept: Delivery;
  /** The body that a live forward sends, without the key alone; undefined where it is the one that is kept. */
  readonly forwarded: Buffer | undefined;
}

/** `hide` masks the key. A delivery that holds no secret is given back as it is, to the byte. */
export function cleanDelivery(received: Delivery, hide: (text: string) => string): CleanDelivery {
  const contentType = hide(received.contentType);
  const masked = maskBody(received.body, hide);
  const cut = cutFormSignatures(masked);
  // What stood on both sides of a signature could make up the key.
  const body = cut === masked ? masked : maskBody(cut, hide);
  const isClean = body === received.body && contentType === received.contentType;
  return {
    kept: isClean ? received : { ...received, contentType, body },
    forwarded: body === masked ? undefined : masked,
  };
}

function maskBody(body: Buffer, hide: (text: string) => string): Buffer {
  // One character a byte, so that bytes that are no UTF-8 stay what they are.
  const text = body.toString('latin1');
  const masked = hide(text);
  return masked === text ? body : Buffer.from(masked, 'latin1');
}
