/**
 * What the container files keep from an image and from the service in it.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { matchesGlob } from "node:path"
import { parse } from "yaml"
import { projectRoot } from "../support/project/PlantedProject.ts"

const textOf = (file: string): string => readFileSync(`${projectRoot}/docs/operations/${file}`, "utf8")

describe("The container files", () => {
  const ignored = textOf("Containerfile.dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))

  it("copy no file of settings into a layer, wherever the documentation puts it", () => {
    for (const file of [".env", "settings.env", "docs/operations/.env", "docs/operations/settings.env"]) {
      assert.isTrue(
        ignored.some((pattern) => matchesGlob(file, pattern)),
        file
      )
    }
    for (const file of ["package.json", "src/config/Settings.ts", "docs/settings.md"]) {
      assert.isFalse(
        ignored.some((pattern) => matchesGlob(file, pattern)),
        file
      )
    }
  })

  it("give the service no password of the database's superuser", () => {
    const { services } = parse(textOf("compose.yaml"))
    const asked = [...JSON.stringify(services.database).matchAll(/\$\{(\w+)/gu)].map(([, name]) => name!)
    assert.deepStrictEqual(asked, ["DATABASE_ADMIN_PASSWORD"])
    for (const name of asked) assert.strictEqual(services.service.environment[name], "")
  })
})
