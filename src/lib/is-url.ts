const isAscii = (text: string): boolean => !/[^\u0000-\u007f]/.test(text);

/**
 * Whether `new URL` accepts it. URL.canParse of Node 20 and 22 refuses a host name with a letter of Latin-1 (`bücher`)
 * once it was called some thousand times, because its compiled form reads the text as UTF-8.
 */
export function isUrl(text: string, base?: string): boolean {
  if (isAscii(text) && (base === undefined || isAscii(base))) return URL.canParse(text, base);
  try {
    return new URL(text, base) !== undefined;
  } catch {
    return false;
  }
}
