/** Reads RFC 4180 by its grammar; a text that breaks it throws. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  const field = (): string => {
    if (text[at] !== '"') {
      const bare = /[^",\r\n]*/y;
      bare.lastIndex = at;
      const [found = ''] = bare.exec(text) ?? [];
      at += found.length;
      return found;
    }
    let value = '';
    for (at += 1; ; at += 1) {
      if (at >= text.length) throw new Error('a quoted field has no end');
      if (text[at] !== '"') value += text[at];
      else if (text[at + 1] === '"') value += text[at++];
      else break;
    }
    at += 1;
    return value;
  };
  while (at < text.length) {
    row.push(field());
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    if (text.slice(at, at + 2) !== '\r\n')
      throw new Error(`no CRLF at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
    at += 2;
    rows.push(row);
    row = [];
  }
  if (row.length) throw new Error('the last row does not end');
  return rows;
}
