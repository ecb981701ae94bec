/**
 * Links between the Markdown files of the repository lead to files and headings that exist there, for a reader of the
 * repository too, and so do the paths in CONTRIBUTING.md: no link leads to a file that is generated and not committed.
 */
import { assert, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { projectRoot } from "../../support/project/PlantedProject.ts"

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8")

const files = [
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "README.md",
  "SECURITY.md",
  ...["docs", "docs/guides", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(projectRoot, folder)).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : []))
  )
]

/** Paths below the root that are not committed. */
const uncommitted = read(".gitignore")
  .split("\n")
  .filter((line) => line.startsWith("/"))
  .map((line) => line.slice(1))

/** As GitHub names headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-")

const anchorsIn = (file: string) => [...read(file).matchAll(/^#+ (.*)$/gmu)].map(([, heading]) => anchorOf(heading!))

const problemOf = (from: string, href: string): string | undefined => {
  if (/^(?:https?:|mailto:|\/)/u.test(href)) return undefined
  const [path = "", anchor] = href.split("#")
  const to = path === "" ? from : join(dirname(from), path)
  if (!existsSync(join(projectRoot, to))) return `${from}: ${href} does not exist`
  if (uncommitted.some((ignored) => to.startsWith(ignored))) {
    return `${from}: ${href} is not committed; name the command that writes it`
  }
  return anchor === undefined || !to.endsWith(".md") || anchorsIn(to).includes(anchor)
    ? undefined
    : `${from}: ${href} is no heading`
}

it("a link to a file that is generated leads nowhere in the repository", () => {
  assert.strictEqual(
    problemOf("docs/embedding.md", "api.md#agent-tool-billingcore"),
    "docs/embedding.md: api.md#agent-tool-billingcore is not committed; name the command that writes it"
  )
  assert.isUndefined(problemOf("docs/embedding.md", "clients.md"))
})

it("links between documents lead somewhere", () => {
  const links = files.flatMap((file) =>
    [...read(file).matchAll(/\]\(([^)\s]+)\)/gu)].map(([, href]) => [file, href!] as const)
  )
  assert.isAbove(links.length, 100)
  assert.deepStrictEqual(
    links.flatMap(([file, href]) => problemOf(file, href) ?? []),
    []
  )
})

it("CONTRIBUTING.md names files that exist", () => {
  const named = [
    ...read("CONTRIBUTING.md").matchAll(/`((?:\.ci|adapters|domain|docs|migrations|src|test|testing)\/[^`]+)`/gu)
  ]
  assert.isAbove(named.length, 40)
  assert.deepStrictEqual(
    named.map(([, path]) => path!).filter((path) => !existsSync(join(projectRoot, path))),
    []
  )
})
