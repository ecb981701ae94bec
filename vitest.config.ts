import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    reporters: ["default", "./test/support/ClosingLine.ts"],
    pool: "forks",
    maxWorkers: 2,
    // What hangs is found all the same; a machine that is busy with other things only takes its time.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000
  }
})
