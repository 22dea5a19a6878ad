/** The SKUs of the API document: for orders and for upgrades. */

export interface OrderSku {
  readonly sku: string;
  readonly kind: 'transcription' | 'add-on';
  readonly meaning: string;
  /** The SKU of which this is another name. */
  readonly aliasOf?: string;
  /** In how many days the transcript is to be there; the document does not say it of each SKU. */
  readonly targetDays?: number;
}

export interface UpgradeSku {
  readonly sku: string;
  readonly meaning: string;
  /** For a faster transcription: the SKU that the file has now, and the one that it will have. */
  readonly from?: string;
  readonly to?: string;
}

export const orderSkus: readonly OrderSku[] = [
  {
    sku: 'TRANS14',
    kind: 'transcription',
    meaning: 'Budget transcription, target of 14 days',
    targetDays: 14,
  },
  { sku: 'TRANS2', kind: 'transcription', meaning: '1-day expert transcription', targetDays: 1 },
  { sku: 'TRANS6', kind: 'transcription', meaning: '6-day transcription', targetDays: 6 },
  { sku: 'TRANS7', kind: 'transcription', meaning: '6-day transcription', targetDays: 6, aliasOf: 'TRANS6' },
  { sku: 'EMSR02', kind: 'transcription', meaning: 'Advanced machine transcription' },
  { sku: 'DIFFQ2', kind: 'add-on', meaning: 'Difficult audio' },
  { sku: 'TSTMP1', kind: 'add-on', meaning: 'Timestamps' },
  { sku: 'CAPTION1', kind: 'add-on', meaning: 'Captions/subtitles' },
  { sku: 'VERBATIM1', kind: 'add-on', meaning: 'Verbatim' },
];

export const upgradeSkus: readonly UpgradeSku[] = [
  { sku: 'DIFFQ2', meaning: 'Difficult audio upgrade' },
  { sku: 'TSTMP1', meaning: 'Timestamps' },
  { sku: 'CAPTION1', meaning: 'Subtitles/captions' },
  { sku: 'EDIT01', meaning: 'Extra editing' },
  { sku: 'UPGRD1', meaning: 'Upgrade TRANS14 to TRANS6', from: 'TRANS14', to: 'TRANS6' },
  { sku: 'UPGRD2', meaning: 'Upgrade TRANS14 to TRANS2', from: 'TRANS14', to: 'TRANS2' },
  { sku: 'UPGRD3', meaning: 'Upgrade TRANS6 to TRANS2', from: 'TRANS6', to: 'TRANS2' },
];

export const findOrderSku = (sku: string): OrderSku | undefined => orderSkus.find((each) => each.sku === sku);
export const findUpgradeSku = (sku: string): UpgradeSku | undefined =>
  upgradeSkus.find((each) => each.sku === sku);

export function meaningOfOrderSku(sku: string): string {
  const { meaning = '', aliasOf } = findOrderSku(sku) ?? {};
  return aliasOf ? `${meaning} (the same as ${aliasOf})` : meaning;
}
export const meaningOfUpgradeSku = (sku: string): string => findUpgradeSku(sku)?.meaning ?? '';

/** The name that one product has everywhere: TRANS6 for TRANS7. */
export const productOf = (sku: string): string => findOrderSku(sku)?.aliasOf ?? sku;

/** Whether all of these are among what was ordered or upgraded to. */
export function areOrdered(wanted: readonly string[], ordered: readonly string[]): boolean {
  const products = new Set(ordered.flatMap((sku) => [productOf(sku), findUpgradeSku(sku)?.to ?? sku]));
  return wanted.every((sku) => products.has(productOf(sku)));
}

/** The transcription that a file has: after an upgrade the faster one. */
export function transcriptionOf(skus: readonly string[]): string {
  const faster = skus.map((sku) => findUpgradeSku(sku)?.to).findLast((sku) => sku !== undefined);
  const ordered = skus.find((sku) => findOrderSku(sku)?.kind === 'transcription') ?? skus[0] ?? '';
  return faster ?? productOf(ordered);
}

/** In how many days a file with these SKUs is to be there, where the document says it. */
export const targetDaysOf = (skus: readonly string[]): number | undefined =>
  findOrderSku(transcriptionOf(skus))?.targetDays;

/** An order takes one of these. */
export const transcriptionSkus = orderSkus
  .filter(({ kind }) => kind === 'transcription')
  .map(({ sku }) => sku);

/** An upgrade takes one of these at most. */
export const speedUpgradeSkus = upgradeSkus.filter(({ to }) => to !== undefined).map(({ sku }) => sku);
