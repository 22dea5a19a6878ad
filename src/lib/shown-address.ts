import { cutSignatures } from './audio-identity.ts';
import { maskUserinfo } from './userinfo.ts';

/** An address as it may be kept or shown: without its name, password and signature. */
export const shownAddress = (url: string): string => cutSignatures(maskUserinfo(url));
