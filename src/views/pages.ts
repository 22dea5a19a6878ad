import type { View } from '../lib/view.ts';

/** The views of a listing, page by page; a listing without rows is one empty page, so that it has its header line. */
export function* viewPages<Page>(
  pages: Iterable<Page>,
  view: (page: Page) => View,
  empty: Page,
): Generator<View> {
  let isEmpty = true;
  for (const page of pages) {
    isEmpty = false;
    yield view(page);
  }
  if (isEmpty) yield view(empty);
}
