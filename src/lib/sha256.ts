/** In hexadecimal. Speed: node:crypto is loaded on first use, because that takes 2 to 4 ms and most commands need none. */
export const sha256 = (content: string | Uint8Array): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(content).digest('hex');
