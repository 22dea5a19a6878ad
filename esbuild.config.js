// Bundles src into dist: one small entry, and a chunk for every part that is loaded on first use.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

rmSync('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: { steno: 'src/steno.ts', generate: 'src/generate.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  metafile: true,
  external: ['@photostructure/sqlite'],
  define: { STENO_VERSION: JSON.stringify(version) },
  // Bundled CommonJS packages still ask for node's own modules with require().
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});
writeFileSync('dist/LICENSES.txt', licenses(Object.keys(metafile.inputs)));

/** The licence texts of every package that went into the bundle. */
function licenses(inputs) {
  const require = createRequire(import.meta.url);
  const folders = new Set(inputs.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = require(`./${folder}/package.json`);
      return `${name} ${version} (${license})\n\n${text(folder)}`;
    })
    .join(`\n${'-'.repeat(72)}\n`);
}

function text(folder) {
  for (const name of ['LICENSE', 'license', 'LICENSE.md', 'LICENSE.txt', 'license.md']) {
    try {
      return readFileSync(`${folder}/${name}`, 'utf8');
    } catch {}
  }
  return '';
}
