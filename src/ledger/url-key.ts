/** Spellings of one address that lead to the same audio: case of the host, default port, fragment. */
export function urlKey(text: string): string {
  const url = new URL(text);
  url.hash = '';
  return url.href;
}
