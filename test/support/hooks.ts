/** Loaded anew for each file of tests. */
import { afterAll, afterEach } from 'vitest';
import { endFile, endTest } from './test-end.ts';

afterEach((context) => endTest(context));
afterAll(() => endFile());
