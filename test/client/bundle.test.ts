/**
 * What a browser loads: minified bundles, as a bundler makes them.
 */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { projectRoot } from "../support/PlantedProject.ts"

const KIB = 1_024

const bundled = async (file: string) => {
  const bundle = await rolldown({ input: join(projectRoot, file), platform: "browser" })
  const { output } = await bundle.generate({ format: "es", minify: true })
  await bundle.close()
  const [{ code, imports }] = output
  return { bytes: Buffer.byteLength(code), files: output.length, imports }
}

describe("A bundle", () => {
  it.each([
    ["client/Client.ts", 10 * KIB],
    ["adapters/site/verify/ReceiptVerifier.browser.ts", 5 * KIB]
  ])("of %s is one file of at most %i bytes and imports nothing", async (file, bytesMax) => {
    const { bytes, files, imports } = await bundled(file)
    assert.isAtMost(bytes, bytesMax)
    assert.isAbove(bytes, KIB)
    assert.strictEqual(files, 1)
    assert.deepStrictEqual(imports, [])
  })
})
