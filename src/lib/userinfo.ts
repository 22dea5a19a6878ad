/**
 * A text in which the name and the password of every URL are masked: either may be a token. Up to the last @ before the
 * path, as URLs are read; a backslash counts as a slash.
 */
export const maskUserinfo = (text: string): string =>
  text.replace(/\b([a-z][a-z0-9+.-]{0,30}:\/\/[/\\]*)[^\s/?#\\]*@/gi, '$1***@');
