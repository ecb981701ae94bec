/**
 * Builds the modules of the package. The compiler writes the declarations (tsconfig.build.json).
 */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig, type Plugin } from "rolldown"
import { parseAst } from "rolldown/parseAst"
import { LIBRARIES } from "./src/layers/SiteLibraries.ts"
import manifest from "./package.json" with { type: "json" }

const BROWSER = /\.browser\.(?:js|ts)$/u

const PACKAGES = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]

const named = (sources: ReadonlyArray<string>): Record<string, string> =>
  Object.fromEntries(sources.map((source) => [source.replace(/\.ts$/u, ""), source]))

/** "./dist/src/main.js" is built from "src/main.ts", and "./dist/domain/*.js" from each module of `domain`. */
const entries = [...Object.values(manifest.exports), ...Object.values(manifest.bin)]
  .filter((target) => target !== null)
  .map((target) => target.replace(/^\.\/dist\/(?<name>.*)\.js$/u, "$<name>.ts").replace("*", "**/*"))
  .flatMap((source) => globSync(source))
  .filter((source) => source.endsWith(".ts") && !BROWSER.test(source))

/** `effect` and `effect/http`, but not `effect/http/HttpRouter`. */
const BARREL = /^effect(?:\/[a-z-]+)?$/u

/** What each name of a barrel is: `Effect` all of "effect/Effect", `flow` the same name of "effect/Function". */
const namesOf = (barrel: string): ReadonlyMap<string, { readonly module: string; readonly isNamespace: boolean }> => {
  const names = new Map<string, { module: string; isNamespace: boolean }>()
  const moduleOf = (path: string) => path.replace(/^\.\/(?<name>.*)\.js$/u, `${barrel}/$<name>`)
  for (const statement of parseAst(readFileSync(fileURLToPath(import.meta.resolve(barrel)), "utf8")).body) {
    if (statement.type === "ExportAllDeclaration" && statement.exported?.type === "Identifier") {
      names.set(statement.exported.name, { module: moduleOf(statement.source.value), isNamespace: true })
    } else if (statement.type === "ExportNamedDeclaration" && statement.source !== null) {
      const module = moduleOf(statement.source.value)
      for (const { exported } of statement.specifiers) {
        if (exported.type === "Identifier") names.set(exported.name, { module, isNamespace: false })
      }
    }
  }
  return names
}

/** Replaces imports of Effect's barrels by imports of the modules behind them: a program loads only those that it uses. */
const modulesOfEffect = (): Plugin => {
  const barrels = new Map<string, ReturnType<typeof namesOf>>()
  return {
    name: "modules-of-effect",
    transform(code, id) {
      if (!id.endsWith(".ts")) return null
      let replaced = code
      // From the last to the first, so that positions stay true.
      for (const statement of this.parse(code, { lang: "ts" }).body.toReversed()) {
        if (!("source" in statement) || statement.source === null || !BARREL.test(statement.source.value)) continue
        if (statement.type !== "ImportDeclaration") this.error(`${id} exports a barrel of Effect`)
        if (statement.importKind === "type") continue
        const barrel = statement.source.value
        const names = barrels.get(barrel) ?? namesOf(barrel)
        barrels.set(barrel, names)
        const imports = statement.specifiers.flatMap((specifier) => {
          if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier") {
            return this.error(`${id} imports a whole barrel of Effect`)
          }
          const { imported, importKind, local } = specifier
          const found = names.get(imported.name) ?? this.error(`${barrel} has no ${imported.name}`)
          if (importKind === "type") return []
          const what = found.isNamespace ? `* as ${local.name}` : `{ ${imported.name} as ${local.name} }`
          return [`import ${what} from "${found.module}";`]
        })
        replaced = `${replaced.slice(0, statement.start)}${imports.join(" ")}${replaced.slice(statement.end)}`
      }
      return replaced === code ? null : { code: replaced, map: null }
    }
  }
}

/** What the packages ask of those who copy them. */
const licenses = (names: ReadonlyArray<string>): Plugin => ({
  name: "licenses",
  generateBundle() {
    const texts = names.map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`)
    this.emitFile({ type: "asset", fileName: "library/LICENSES.txt", source: texts.join("\n\n") })
  }
})

export default defineConfig([
  {
    input: named(entries),
    platform: "node",
    external: (id) => id.startsWith("node:") || PACKAGES.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [modulesOfEffect()],
    // As package.json's `sideEffects` says.
    treeshake: { moduleSideEffects: false },
    transform: { target: "es2024" },
    preserveEntrySignatures: "strict",
    // A file for each module, at the path of its source: a program loads what it imports, and a class is the same,
    // whichever path it comes from.
    output: {
      dir: "dist",
      // npm packs no folder of the name node_modules.
      entryFileNames: ({ name }) => `${name.replace(/^.*\b(?:_virtual|node_modules)\/.*\//u, "library/")}.js`,
      preserveModules: true,
      preserveModulesRoot: "."
    }
  },
  {
    // Served to browsers one by one, as they are.
    input: named(globSync("adapters/site/**/*.browser.ts")),
    platform: "browser",
    external: (id) => !BROWSER.test(id),
    treeshake: false,
    transform: { target: "es2024" },
    output: { dir: "dist", entryFileNames: "[name].js", preserveModules: true, preserveModulesRoot: "." }
  },
  {
    // Copies of what npm packages publish: the service needs these few files of them, and its users no packages.
    input: Object.fromEntries([...LIBRARIES].map(([specifier, name]) => [name.replace(/\.js$/u, ""), specifier])),
    platform: "browser",
    external: (id, importer) => importer !== undefined && LIBRARIES.has(id),
    plugins: [licenses(["@preact/signals", "@preact/signals-core", "marked", "preact"])],
    treeshake: false,
    output: { dir: "dist", entryFileNames: "[name].js" }
  }
])
