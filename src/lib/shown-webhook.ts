import { cutSignatures } from './audio-identity.ts';
import { maskUserinfo } from './userinfo.ts';

/** A webhook as it may be kept or shown: without the name, the password and the signature of its URL. */
export const shownWebhook = (url: string): string => cutSignatures(maskUserinfo(url));
