// Prints an SBOM (CycloneDX) of what users get: what npm installs with the package, and what is bundled into it.
// `npm sbom` knows bundled packages only as tools for building, so those that went into dist are picked out here.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const all = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--loglevel=error'], {
    maxBuffer: Number.POSITIVE_INFINITY,
  }).toString(),
);
/** The headings of dist/LICENSES.txt, `name version (licence)`, which the build writes from what it bundled. */
const bundled = new Set(
  [...readFileSync('dist/LICENSES.txt', 'utf8').matchAll(/^(\S+) (\d\S*) \([^)]*\)$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  ),
);
const isShipped = ({ 'bom-ref': ref, properties = [] }) =>
  bundled.has(ref) || !properties.some((each) => each.name === 'cdx:npm:package:development');

const components = all.components.filter(isShipped);
const shipped = new Set(components.map((each) => each['bom-ref']));
const missing = [...bundled].filter((ref) => !shipped.has(ref));
if (missing.length) throw new Error(`bundled, but unknown to npm sbom: ${missing.join(', ')}`);

const metadata = { ...all.metadata, component: { ...all.metadata.component, name, version } };
const own = metadata.component['bom-ref'];
const dependencies = all.dependencies
  .filter(({ ref }) => ref === own || shipped.has(ref))
  .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((ref) => shipped.has(ref)) }));
console.log(JSON.stringify({ ...all, metadata, components, dependencies }, undefined, 2));
