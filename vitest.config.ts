import { join } from "node:path"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: ["test/support/propertySeed.ts"],
    reporters: ["default", "./test/support/ClosingLine.ts"],
    pool: "forks",
    // A worker goes on to its next file with the modules that it has loaded; tests leave nothing behind in them. A process
    // of its own for every file took half as long again.
    isolate: false,
    // What Node has compiled for one worker, the next run's find.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
    // Many tests wait, for a deadline or a process: two cores bear four workers.
    maxWorkers: 4,
    // What merely has to happen may take long on a busy machine; tests of time have bounds of their own.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    teardownTimeout: 30_000
  }
})
