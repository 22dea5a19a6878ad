/** Holds what a user typed against the catalogue; what it does not know gets a suggestion. */
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';
import { eventTypes, testableEvents } from './events.ts';
import { findFormat, formats } from './formats.ts';
import { findOrderSku, findUpgradeSku, orderSkus, upgradeSkus } from './skus.ts';
import { fileStates, findFileState } from './states.ts';

/** SKUs for an order: known ones unless `any`, and never add-ons alone. */
export function checkOrderSkus(skus: readonly string[], any: boolean): string[] {
  if (skus.length === 0) throw usage('an order wants --sku', 'choose from: steno skus');
  const found = skus.map((sku) => checkSku(sku, findOrderSku, orderSkus, any));
  if (found.every((each) => each?.kind === 'add-on')) {
    throw usage(
      `${skus.join(', ')} can only be added to a transcription`,
      `add a transcription SKU: --sku TRANS14,${skus[0]}`,
    );
  }
  return [...new Set(skus)];
}

export function checkUpgradeSkus(skus: readonly string[], any: boolean): string[] {
  if (skus.length === 0) throw usage('an upgrade wants --sku', 'choose from: steno skus');
  for (const sku of skus) checkSku(sku, findUpgradeSku, upgradeSkus, any);
  return [...new Set(skus)];
}

function checkSku<T extends { sku: string }>(
  sku: string,
  find: (sku: string) => T | undefined,
  all: readonly T[],
  any: boolean,
): T | undefined {
  const found = find(sku);
  if (found) return found;
  if (!/^[\x21-\x7e]{1,64}$/.test(sku)) throw usage(`'${sku}' is not a SKU`);
  if (any) return undefined;
  const names = all.map((each) => each.sku);
  throw usage(
    `unknown SKU '${sku}'`,
    didYouMean(sku, names, `choose from: ${names.join(', ')}; or pass it with --any-sku`),
  );
}

export function checkFormats(wanted: readonly string[]): string[] {
  const names = formats.map((each) => each.ext);
  const found = wanted.map((text) => {
    const ext = text.toLowerCase().replace(/^\./, '');
    if (findFormat(ext)) return ext;
    throw usage(`unknown format '${text}'`, didYouMean(text, names, `choose from: ${names.join(', ')}`));
  });
  return found.length ? [...new Set(found)] : ['txt'];
}

/** States in the document's spelling; one that it does not list counts if the ledger has seen it. */
export function checkStates(wanted: readonly string[], seen: () => readonly string[]): string[] {
  return wanted.map((text) => {
    const known =
      findFileState(text)?.name ?? seen().find((each) => each.toLowerCase() === text.toLowerCase());
    if (known !== undefined) return known;
    const names = fileStates.map((each) => each.name);
    throw usage(`unknown state '${text}'`, didYouMean(text, names, 'see: steno states'));
  });
}

export function checkTestableEvent(type: string): string {
  if (testableEvents.includes(type)) return type;
  if (eventTypes.some((each) => each.name === type)) {
    throw usage(`the service sends no test of ${type}`, `it sends: ${testableEvents.join(', ')}`);
  }
  throw usage(
    `unknown event '${type}'`,
    didYouMean(type, testableEvents, `choose from: ${testableEvents.join(', ')}`),
  );
}

/** Only these two files take a test of an upgrade or a refund; on another it might be done for real. */
export function checkTestFile(id: string): void {
  if (id !== '100' && id !== '101') {
    throw usage(`--test works only with audiofiles 100 and 101, not with ${id}`);
  }
}
