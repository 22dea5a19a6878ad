/** The header that carries the name and password of a URL; undefined where it has none. */
export function basicAuth({ username, password }: URL): string | undefined {
  if (!username) return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/** A percent sign that begins no escape stands for itself. */
const decoded = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
