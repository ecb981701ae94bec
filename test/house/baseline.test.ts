/**
 * A change of the baseline is a decision: databases that were made before it are rejected.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import baseline from "../../migrations/0001_baseline.ts"

/** Of the tables and types. The functions of calls were part of the first release's baseline, and are those of a migration now. */
const DIGEST = "8228cb22d2f9"

/** Records statements instead of executing them. */
const recorder = (statements: Array<string>): SqlClient.SqlClient => {
  const record = (text: string) => Effect.sync(() => void statements.push(text))
  const sql = (parts: TemplateStringsArray, ...texts: ReadonlyArray<string>) =>
    record(String.raw({ raw: parts }, ...texts))
  return Object.assign(sql, { unsafe: record, literal: (text: string) => text }) as unknown as SqlClient.SqlClient
}

/** Neither comments nor spaces change a schema. */
const normalized = (statement: string): string =>
  statement
    .replaceAll(/--[^\n]*/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()

it.effect("The baseline is that of the first release", () =>
  Effect.gen(function* () {
    const statements: Array<string> = []
    yield* Effect.provideService(baseline, SqlClient.SqlClient, recorder(statements))
    assert.isAbove(statements.length, 50)
    const digest = createHash("sha256").update(statements.map(normalized).join(";\n")).digest("hex").slice(0, 12)
    assert.strictEqual(
      digest,
      DIGEST,
      "The baseline changed, which databases made before lack. Write a migration instead."
    )
  })
)
