import { assert, it } from "@effect/vitest"
import { guessOf, nearestName, nearestNames } from "../../../domain/shared/NearestName.ts"

const FIELDS = ["tool_id", "tool_name", "input", "max_cost_microcents", "dry_run", "expires_at", "amount_cents"]

it.each([
  ["dry_runn", "dry_run"],
  ["dryrun", "dry_run"],
  ["dryRun", "dry_run"],
  ["dry-run", "dry_run"],
  ["DRY_RUN", "dry_run"],
  ["dyr_run", "dry_run"],
  ["max_cost_microcent", "max_cost_microcents"],
  ["maxCostMicrocents", "max_cost_microcents"],
  ["max_cost", "max_cost_microcents"],
  ["expires_in_days", "expires_at"],
  ["expiresInDays", "expires_at"],
  ["amount", "amount_cents"],
  ["imput", "input"],
  ["tool", "tool_id"],
  ["toolname", "tool_name"]
])("%s suggests %s", (name, known) => {
  assert.strictEqual(nearestName(name, FIELDS), known)
})

it.each([
  "",
  "x",
  "no",
  "color",
  "__proto__",
  "constructor",
  "_",
  "\0",
  "\ud800",
  "x".repeat(129),
  "zzzzzzzzzzzzzzzzzz"
])("nothing is similar to %s", (name) => {
  assert.isUndefined(nearestName(name, FIELDS))
})

it("prefers the most similar, then the first", () => {
  assert.strictEqual(nearestName("echp", ["each", "echo", "echa"]), "echo")
  assert.strictEqual(nearestName("echo", ["each", "echo"]), "echo")
  assert.isUndefined(nearestName("anything", []))
})

it("finds all that are as close as the closest, in their order, up to a number", () => {
  assert.deepStrictEqual(nearestNames("echp", ["each", "echo", "echa", "echos"], 3), ["echo", "echa"])
  assert.deepStrictEqual(nearestNames("echp", ["echo", "echa", "echb", "echc"], 3), ["echo", "echa", "echb"])
  assert.deepStrictEqual(nearestNames("search", ["search.papers", "search.web", "find"], 3), [
    "search.papers",
    "search.web"
  ])
  assert.deepStrictEqual(nearestNames("zzz", ["echo"], 3), [])
})

it("asks whether one of the names was meant", () => {
  assert.strictEqual(guessOf([]), "")
  assert.strictEqual(guessOf(["a"]), " Did you mean `a`?")
  assert.strictEqual(guessOf(["a", "b"]), " Did you mean `a` or `b`?")
  assert.strictEqual(guessOf(["a", "b", "c"]), " Did you mean `a`, `b` or `c`?")
})

it("compares long names in bounded time", () => {
  const others = Array.from({ length: 400 }, (_, n) => `${"a".repeat(124)}${n}`)
  assert.strictEqual(nearestName(`${"a".repeat(124)}77x`, others), `${"a".repeat(124)}77`)
  assert.isUndefined(nearestName("b".repeat(128), others))
})
