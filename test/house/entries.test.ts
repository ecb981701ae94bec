/**
 * The entries of the package, and the modules that it opens by their paths: documented, used in programs that are compiled,
 * and with the packages that they need.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { OPTIONAL_PACKAGES, PackageMissing } from "../../src/layers/OptionalPackages.ts"
import {
  commentOf,
  entries,
  type Exported,
  kindOf,
  modules,
  purposeOf,
  readModule,
  shapeOf
} from "../support/api/Entries.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { programs } from "../support/project/ProgramsOfDocs.ts"

const all = entries()
const opened = modules()
const declared = opened.flatMap(({ exports }) => exports)
/** Each opens a folder. */
const PATTERNS = ["agent-tool-billing/adapters/*", "agent-tool-billing/domain/*"]
/** What a program has to know to use everything else. */
const CORE_NAMES_MAX = 130
/** References of the domain: what a program may decide, and otherwise need not know. */
const SETTINGS_MAX = 20
const chapter = readFileSync(join(projectRoot, "docs/embedding.md"), "utf8")

/** A sentence of at least five words: fewer repeat the name. */
const SENTENCE = /^(?=(?:\S+\s+){4,}\S)[A-Z0-9`].*[.:?)`]$/su

const silentOf = (exports: ReadonlyArray<Exported>): ReadonlyArray<string> =>
  exports.filter((one) => !SENTENCE.test(commentOf(one))).map((one) => `${one.name} (${one.module}): ${commentOf(one)}`)

describe("The entries of the package", () => {
  it.each(all)("$name says what it is for", ({ module }) => {
    assert.match(purposeOf(readModule(module)), /.{40,}/u)
  })

  it("say of everything that they export what its name does not", () => {
    assert.deepStrictEqual(silentOf(all.flatMap(({ exports }) => exports)), [])
  })

  it("open modules that say what they are for", () => {
    assert.isAbove(opened.length, 200)
    assert.deepStrictEqual(
      opened.map(({ module }) => module).filter((module) => !/^\S+ \S.*\.$/u.test(purposeOf(readModule(module)))),
      []
    )
  })

  it("open services, ports, errors and settings that say what their names do not, and so do the types of their methods", () => {
    const kinds = declared.filter((one) => /^(?:service|port|error|setting)$/u.test(kindOf(one)))
    const shapes = kinds.filter(({ module }) => module.startsWith("domain/")).map(shapeOf)
    const named = new Set(shapes.flatMap((shape) => shape.match(/\b[A-Z]\w+/gu) ?? []))
    const inShapes = declared.filter(({ module, name }) => module.startsWith("domain/") && named.has(name))
    assert.isAbove(inShapes.length, 300)
    assert.deepStrictEqual(silentOf([...new Set([...kinds, ...inShapes])]), [])
  })

  it("have settings whose comments say their defaults, few enough to know them", () => {
    const settings = [...all.flatMap(({ exports }) => exports), ...declared].filter(({ module, own }) =>
      new RegExp(`^export const ${own} = Context\\.Reference\\b`, "mu").test(readModule(module))
    )
    assert.deepStrictEqual(
      settings
        .filter((one) => !/\bDefault: \S+/u.test(commentOf(one)))
        .map(({ module, name }) => `${name} (${module})`),
      []
    )
    const ofDomain = new Set(
      settings.map(({ module, own }) => `${module} ${own}`).filter((name) => name.startsWith("domain/"))
    )
    assert.isAbove(ofDomain.size, 10)
    assert.isAtMost(ofDomain.size, SETTINGS_MAX)
  })

  it("have five services, and the group of stores, in a core that a reader can learn", () => {
    const { exports } = all.find(({ name }) => name === "agent-tool-billing/core")!
    assert.isAtMost(exports.length, CORE_NAMES_MAX)
    assert.deepStrictEqual(
      exports
        .filter((one) => kindOf(one) === "service")
        .map(({ name }) => name)
        .toSorted(),
      ["Books", "Ledger", "Metering", "Payouts", "Receipts", "Trust"]
    )
  })

  it("have errors with a message", () => {
    const silent = [...all, ...opened].flatMap(({ exports }) =>
      exports
        .filter((one) => kindOf(one) === "error")
        .filter(({ module, own }) => {
          const text = readModule(module)
          const from = text.indexOf(`export class ${own} `)
          return !text.slice(from, text.indexOf("\n}\n", from)).includes("get message()")
        })
        .map(({ module, own }) => `${own} (${module})`)
    )
    assert.deepStrictEqual(silent, [])
  })

  it("are each used by a program of the documentation, and listed in its table", () => {
    const imported = new Set(
      [...programs.values()].flatMap((text) =>
        [...text.matchAll(/from "(agent-tool-billing\/[\w/-]+)"/gu)].map(([, name]) => name!)
      )
    )
    const known = all.map(({ name }) => name)
    assert.deepStrictEqual(
      known.filter((name) => !imported.has(name)),
      []
    )
    const paths = new Set([...known, ...opened.map(({ name }) => name)])
    assert.deepStrictEqual(
      [...imported].filter((name) => !paths.has(name)),
      []
    )
    const listed = [...chapter.matchAll(/^\| `(agent-tool-billing\/[\w/*-]+)`/gmu)].map(([, name]) => name!)
    assert.deepStrictEqual(listed.toSorted(), [...known, ...PATTERNS].toSorted())
  })

  it.each([
    "remote-key.ts",
    "own-traffic.ts",
    "sqlite-ledger.ts",
    "own-router.ts",
    "declining-gateway.ts",
    "agent.ts",
    "page.ts",
    "effect-agent.ts",
    "provider.ts"
  ])("need at most 30 lines for %s", (name) => {
    const lines = programs
      .get(name)!
      .split("\n")
      .filter((line) => line.trim() !== "")
    assert.isAtMost(lines.length, 30)
  })

  it("export no name twice", () => {
    for (const { exports, name } of all) {
      const names = exports.map((one) => one.name)
      assert.deepStrictEqual(names.length, new Set(names).size, name)
    }
  })
})

describe("The packages that a program installs beside this one", () => {
  const { devDependencies, peerDependencies, peerDependenciesMeta } = manifest
  const developed: Readonly<Record<string, string>> = devDependencies

  it("are those that the tests run with", () => {
    for (const [name, version] of Object.entries(peerDependencies)) {
      assert.strictEqual(developed[name], version.replace("~", ""), name)
    }
    assert.deepStrictEqual(
      Object.keys(peerDependencies).filter((name) => !(name in peerDependenciesMeta)),
      ["@effect/platform-node", "effect"]
    )
  })

  it("are named with their versions by the errors and the chapter", () => {
    const versions: Readonly<Record<string, string>> = developed
    assert.deepStrictEqual(Object.keys(OPTIONAL_PACKAGES), Object.keys(peerDependenciesMeta))
    for (const [name, { version }] of Object.entries(OPTIONAL_PACKAGES)) {
      assert.strictEqual(version, versions[name], name)
      assert.match(chapter, new RegExp(`^\\| \`${name}\` +\\| ${version.replaceAll(".", "\\.")} +\\|`, "mu"))
    }
    for (const name of ["effect", "@effect/platform-node"]) assert.include(chapter, `${name}@${versions[name]}`)
    assert.strictEqual(
      new PackageMissing({ name: "stripe" }).message,
      `PAYMENTS=stripe needs the package stripe, which is not installed. Run: npm install --save-exact stripe@${versions["stripe"]}`
    )
  })
})
