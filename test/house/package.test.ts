import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { projectRoot } from "../support/project/PlantedProject.ts"

const dependencies: Readonly<Record<string, string>> = {
  ...manifest.dependencies,
  ...manifest.peerDependencies,
  ...manifest.devDependencies
}

interface Locked {
  readonly hasInstallScript?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}
const lock = JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, Locked>>
}
const locked = Object.entries(lock.packages)

/** Where Node finds a package from inside another: beside it, or in a parent folder. */
const placesOf = (name: string, from: string): ReadonlyArray<string> => {
  const folders =
    from === ""
      ? []
      : from.split("/node_modules/").map((_, depth, parts) => parts.slice(0, depth + 1).join("/node_modules/"))
  return ["", ...folders].map((folder) => `${folder === "" ? "" : `${folder}/`}node_modules/${name}`)
}

/** `1.2.3`, or another package under this name: `npm:typescript@7.0.2`. */
const EXACT = /^(npm:(@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/u

describe("package.json", () => {
  it("pins every version exactly, except of Effect beside an embedding program: a patch release is as good", () => {
    const loose = Object.entries(manifest.peerDependencies).filter(([, version]) => !EXACT.test(version))
    assert.deepStrictEqual(
      loose,
      ["@effect/platform-node", "@effect/sql-pg", "effect"].map((name) => [name, `~${dependencies[name]}`])
    )
    assert.deepStrictEqual(
      Object.entries(dependencies).filter(([, version]) => !EXACT.test(version)),
      []
    )
  })

  it("has the same peers in package-lock.json", () => {
    assert.deepStrictEqual(lock.packages[""]!.peerDependencies, manifest.peerDependencies)
  })

  it("decides on every install script of its dependencies", () => {
    const scripted = locked.filter(([, { hasInstallScript = false }]) => hasInstallScript)
    const names = scripted.map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length))
    assert.sameMembers(Object.keys(manifest.allowScripts), names)
  })

  it("includes the Node that its scripts run on", () => {
    assert.strictEqual(process.version, `v${manifest.devDependencies.node}`)
  })
})

it("package-lock.json holds the packages of every platform, which npm ci requires", () => {
  const paths = new Set(locked.map(([path]) => path))
  const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !placesOf(name, path).some((place) => paths.has(place)))
  )
  assert.deepStrictEqual(missing, [])
})

describe("the folders of the repository", () => {
  const visible = (folder: string) =>
    readdirSync(join(projectRoot, folder), { withFileTypes: true }).filter(({ name }) => !name.startsWith("."))

  it("are those of the design, and those that tools require", () => {
    const ignored = readFileSync(join(projectRoot, ".gitignore"), "utf8")
      .split("\n")
      .map((line) => line.replaceAll("/", ""))
    const rooms = [
      "src",
      "domain",
      "adapters",
      "client",
      "migrations",
      "testing",
      "test",
      "docs",
      "package.json",
      "tsconfig.json",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "SECURITY.md"
    ]
    const tools = ["package-lock.json", "rolldown.config.ts", "tsconfig.build.json", "vitest.config.ts"]
    const others = visible("")
      .map(({ name }) => name)
      .filter((name) => ![...rooms, ...tools, ...ignored].includes(name))
    assert.deepStrictEqual(others, [])
  })

  it.each(["domain", "adapters"])("%s has its files in folders by subject", (room) => {
    const loose = visible(room)
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name)
    assert.deepStrictEqual(loose, [])
  })
})
