/** The build gives cli-table3 the string-width of ours; tests that draw tables without the build get the same. */
import Module from 'node:module';
import stringWidth from 'string-width';

type Load = (request: string, parent: { readonly filename?: string } | undefined, isMain: boolean) => unknown;

const loader = Module as unknown as { _load: Load; givesOwnWidths?: true };
const { _load: load } = loader;
// It is loaded anew for each file of tests.
if (!loader.givesOwnWidths)
  loader._load = (request, parent, isMain) =>
    request === 'string-width' && parent?.filename?.includes('cli-table3')
      ? stringWidth
      : load(request, parent, isMain);
loader.givesOwnWidths = true;
