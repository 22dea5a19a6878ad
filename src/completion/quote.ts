/** For bash and zsh: in single quotes where they are needed. */
export function inSingleQuotes(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
