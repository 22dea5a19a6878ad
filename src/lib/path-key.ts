/** One key for all spellings of a path that a file system may take for the same: by case, or by composed characters. */
export const pathKey = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase();
