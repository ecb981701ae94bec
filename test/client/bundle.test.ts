/**
 * What a browser loads: minified bundles, as a bundler makes them.
 */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { projectRoot } from "../support/project/PlantedProject.ts"

const KIB = 1_024
const CORE_BYTES_MAX = 432 * KIB

const bundled = async (file: string) => {
  const bundle = await rolldown({ input: join(projectRoot, file), platform: "browser" })
  const { output } = await bundle.generate({ format: "es", minify: true })
  await bundle.close()
  const [{ code, imports }] = output
  return { bytes: Buffer.byteLength(code), files: output.length, imports }
}

/** Of all files that the first one loads at once, and their imports. */
const startOf = async (text: string) => {
  const entry = "virtual:entry"
  const bundle = await rolldown({
    input: entry,
    cwd: projectRoot,
    platform: "node",
    external: /^node:/u,
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? join(projectRoot, "entry.ts") : null),
        load: (id) => (id === join(projectRoot, "entry.ts") ? text : null)
      }
    ]
  })
  const { output } = await bundle.generate({ format: "es", minify: true })
  await bundle.close()
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])))
  const loaded = new Set<string>()
  const load = (name: string): void => {
    if (loaded.has(name)) return
    loaded.add(name)
    for (const next of chunks.get(name)?.imports ?? []) load(next)
  }
  load(output[0].fileName)
  const own = [...loaded].flatMap((name) => chunks.get(name) ?? [])
  return {
    bytes: own.reduce((total, { code }) => total + Buffer.byteLength(code), 0),
    imports: [...loaded].filter((name) => !chunks.has(name))
  }
}

describe("A bundle", () => {
  it.each([
    ["client/Client.ts", 10 * KIB],
    ["adapters/site/verify/ReceiptVerifier.browser.ts", 5 * KIB],
    // With scoreTraffic, and with what it needs of Effect: nothing.
    ["domain/trust/TrustScore.ts", 10 * KIB]
  ])("of %s is one file of at most %i bytes and imports nothing", async (file, bytesMax) => {
    const { bytes, files, imports } = await bundled(file)
    assert.isAtMost(bytes, bytesMax)
    assert.isAbove(bytes, KIB)
    assert.strictEqual(files, 1)
    assert.deepStrictEqual(imports, [])
  })

  it(`of a core in memory is at most ${CORE_BYTES_MAX} bytes and imports Node's modules only`, async () => {
    const { bytes, imports } = await startOf(
      `export { core, Ledger, Metering } from "./src/entries/core.ts"
      export { Loads } from "./domain/payments/Loads.ts"
      export { Registration } from "./domain/providers/Registration.ts"
      export { ToolUpstream } from "./domain/upstream/ToolUpstream.ts"
      export { memoryPorts } from "./src/entries/memory.ts"`
    )
    assert.isAbove(bytes, 100 * KIB)
    assert.isAtMost(bytes, CORE_BYTES_MAX)
    assert.deepStrictEqual(
      imports.filter((name) => !name.startsWith("node:")),
      []
    )
  })
})
