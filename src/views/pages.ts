import type { View } from '../lib/view.ts';

/** The views of a listing, page by page; a listing without rows is one empty page, so that it has its header line. */
export async function* viewPages<Page>(
  pages: AsyncIterable<Page>,
  view: (page: Page) => View,
  empty: Page,
): AsyncGenerator<View> {
  let isEmpty = true;
  for await (const page of pages) {
    isEmpty = false;
    yield view(page);
  }
  if (isEmpty) yield view(empty);
}
