// Prints what CHANGELOG.md says of the version of package.json; fails where the tag names another one.
import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const [tag] = process.argv.slice(2);
if (tag !== `v${version}`) throw new Error(`the tag is '${tag}', but package.json has version ${version}`);
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
const found = sections.find((each) => each.split(/\s/, 1)[0] === version);
if (!found) throw new Error(`CHANGELOG.md has no heading for ${version}`);
console.log(found.slice(found.indexOf('\n')).trim());
