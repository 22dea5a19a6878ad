// Runs a script of this folder that is written in TypeScript: node test/proof/run.js long
import { build } from 'esbuild';

const [name] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: [`test/proof/${name}.ts`],
  write: false,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
});
await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
