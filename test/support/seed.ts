/** Where many rely on one answer, the examples of property tests are the same each time; elsewhere they are new. */
import fc from 'fast-check';

if (process.env.CI) fc.configureGlobal({ seed: 20261115 });
