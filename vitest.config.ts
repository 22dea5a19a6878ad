import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/setup.ts'],
    setupFiles: ['test/support/seed.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
