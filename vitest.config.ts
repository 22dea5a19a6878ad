import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/seed.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
