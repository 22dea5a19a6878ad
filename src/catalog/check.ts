/** Checks what a user typed against the catalogue; for an unknown word it suggests one. */
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { pastedHint } from '../lib/url.ts';
import { testableEvents } from './events.ts';
import { findFormat, formatOfName, formats } from './formats.ts';
import {
  findOrderSku,
  findUpgradeSku,
  orderSkus,
  speedUpgradeSkus,
  transcriptionSkus,
  upgradeSkus,
} from './skus.ts';
import { fileStates, findFileState } from './states.ts';

/** SKUs for an order: known ones unless `any`, one transcription, and never add-ons alone. */
export function checkOrderSkus(typed: readonly string[], any: boolean): string[] {
  if (typed.length === 0) throw usage('an order requires --sku', 'see: steno skus');
  const skus = typed.map((sku) => asListed(sku, findOrderSku));
  const known = skus.map((sku) => {
    const isUpgrade = !findOrderSku(sku) && findUpgradeSku(sku) !== undefined;
    if (isUpgrade && !any)
      throw usage(
        `${sku} is for upgrades, not for new orders`,
        `upgrade a file with: steno upgrade <id> --sku ${sku}`,
      );
    return checkSku(sku, findOrderSku(sku), orderSkus, any);
  });
  checkOnlyOne(skus, transcriptionSkus, 'each is a transcription, and an order takes only one');
  if (known.every((each) => each?.kind === 'add-on')) {
    throw usage(
      `${skus.join(', ')} can only be added to a transcription`,
      `add a transcription SKU: --sku TRANS14,${skus[0]}`,
    );
  }
  return [...new Set(skus)];
}

export function checkUpgradeSkus(typed: readonly string[], any: boolean): string[] {
  if (typed.length === 0) throw usage('an upgrade requires --sku', 'see: steno skus');
  const skus = typed.map((sku) => asListed(sku, findUpgradeSku));
  for (const sku of skus) {
    if (findOrderSku(sku) && !findUpgradeSku(sku) && !any)
      throw usage(`${sku} is for new orders, not for upgrades`, newOrderHint(sku));
    checkSku(sku, findUpgradeSku(sku), upgradeSkus, any);
  }
  checkOnlyOne(skus, speedUpgradeSkus, 'each changes the speed, and an upgrade takes only one');
  return [...new Set(skus)];
}

/** In the spelling of the API document where only the case differs; one that it does not list is sent as it is typed. */
function asListed(sku: string, find: (sku: string) => object | undefined): string {
  const upper = sku.toUpperCase();
  return !find(sku) && (findOrderSku(upper) ?? findUpgradeSku(upper)) ? upper : sku;
}

/** How a file gets what a SKU for new orders gives. */
function newOrderHint(sku: string): string {
  const ways = upgradeSkus
    .filter(({ to }) => to === sku)
    .map(({ sku: upgrade, from }) => `${upgrade} from ${from}`);
  return ways.length
    ? `upgrade a file to it with: ${ways.join(', ')}`
    : `order with it: steno order <url> --sku ${sku}`;
}

function checkSku<T extends { sku: string }>(
  sku: string,
  known: T | undefined,
  all: readonly T[],
  any: boolean,
): T | undefined {
  if (known) return known;
  if (!/^[\x21-\x7e]{1,64}$/.test(sku))
    throw usage(
      `'${sku}' is not a SKU`,
      pastedHint(sku) ?? 'see: steno skus; write several like TRANS14,TSTMP1',
    );
  if (any) return undefined;
  const names = all.map((each) => each.sku);
  const choice = `choose from: ${names.join(', ')}; or pass it with --any-sku`;
  throw usage(`unknown SKU '${sku}'`, didYouMean(sku, names, choice));
}

/** Two names of one SKU count as two: the service would get both. */
function checkOnlyOne(skus: readonly string[], group: readonly string[], why: string): void {
  const [first, ...more] = new Set(skus.filter((sku) => group.includes(sku)));
  if (first === undefined || more.length === 0) return;
  const rest = skus.filter((sku) => !more.includes(sku));
  throw usage(
    `${[first, ...more].join(' and ')} can't be used together: ${why}`,
    `choose one, like --sku ${[...new Set(rest)].join(',')}`,
  );
}

/** Without one, that of the name which the file is to get: in `talk.srt` subtitles are expected. */
export function checkFormats(typed: readonly string[], name = ''): string[] {
  const names = formats.map((each) => each.ext);
  const found = typed.map((text) => {
    const ext = text.toLowerCase().replace(/^\./, '');
    if (findFormat(ext)) return ext;
    throw usage(`unknown format '${text}'`, didYouMean(text, names, `choose from: ${names.join(', ')}`));
  });
  return found.length ? [...new Set(found)] : [formatOfName(name) ?? 'txt'];
}

/** States in the API document's spelling; one that it does not list is known if it is in `seen`. */
export function checkStates(typed: readonly string[], seen: () => readonly string[]): string[] {
  return typed.map((text) => {
    const known =
      findFileState(text)?.name ?? seen().find((each) => each.toLowerCase() === text.toLowerCase());
    if (known !== undefined) return known;
    const names = fileStates.map((each) => each.name);
    throw usage(`unknown state '${text}'`, didYouMean(text, names, 'see: steno states'));
  });
}

export function checkTestableEvent(type: string): string {
  if (testableEvents.includes(type)) return type;
  const choice = `choose from: ${testableEvents.join(', ')}`;
  throw usage(`the service can't send a test of ${type}`, didYouMean(type, testableEvents, choice));
}

/** Of the service, for tests: nobody ordered them. */
export const testFiles: readonly string[] = ['100', '101'];

/** Whether a test event of the service may be about it: about one of these, or about no file. */
export const isOfTestEvent = (id: string): boolean => id === '' || testFiles.includes(id);

/** The service tests an upgrade or a refund with these two files only; another file might be changed for real. */
export function checkTestFile(id: string): void {
  if (!testFiles.includes(id)) {
    throw usage(`--test works only with audiofiles 100 and 101, not with ${id}`);
  }
}
