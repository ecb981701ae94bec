/**
 * Writes the service as a few files of JavaScript, with its packages, below the folder that is named: `dist/src/main.js`. What it
 * serves and reads at run time is what a start from source serves and reads.
 */
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import manifest from "../../../package.json" with { type: "json" }
import { LIBRARIES } from "../../../src/layers/SiteLibraries.ts"

const ROOT = join(import.meta.dirname, "../../..")
const [folder = ""] = process.argv.slice(2)
const dist = join(folder, "dist")

/** Loaded by the commands and payments that need them, or found by path. Effect's own are in every start. */
const LOADED_LATER = [...Object.keys(manifest.peerDependencies), "uplot"].filter(
  (name) => !/^(?:@effect\/|effect$)/u.test(name)
)

const bundle = await rolldown({
  cwd: ROOT,
  // A thread's module is found by its path.
  input: Object.fromEntries(["src/main", "adapters/jsonschema/SchemaThread"].map((name) => [name, `${name}.ts`])),
  platform: "node",
  external: (id) => LOADED_LATER.some((name) => id === name || id.startsWith(`${name}/`)),
  transform: { target: "es2024" }
})
await bundle.write({
  dir: dist,
  entryFileNames: "[name].js",
  // As deep as the modules whose paths are relative to their own.
  chunkFileNames: "src/layers/[name]-[hash].js",
  keepNames: true
})
await bundle.close()

await mkdir(join(dist, "library"))
for (const [specifier, name] of LIBRARIES)
  await copyFile(fileURLToPath(import.meta.resolve(specifier)), join(dist, name))
await copyFile(join(ROOT, "CHANGELOG.md"), join(folder, "CHANGELOG.md"))
await writeFile(join(folder, "package.json"), `{ "type": "module" }\n`)
for (const [source, name] of [
  ["docs", "docs"],
  ["adapters/site", "dist/adapters/site"]
] as const) {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await symlink(join(ROOT, source), join(folder, name), "junction")
}
