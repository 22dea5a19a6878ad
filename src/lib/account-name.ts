/**
 * The one spelling of the name of an account or a profile. Names that differ only in case are the same: as two, each would
 * buy what the other has on order.
 */
export const accountName = (text: string): string => text.normalize('NFC').toLowerCase();
