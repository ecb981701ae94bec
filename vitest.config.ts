import { join } from "node:path"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    reporters: ["default", "./test/support/ClosingLine.ts"],
    pool: "forks",
    // Every file has a process of its own: what Node has compiled for one, the next ones find.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
    maxWorkers: 2,
    // What merely has to happen may take long on a busy machine; tests of time have bounds of their own.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000
  }
})
