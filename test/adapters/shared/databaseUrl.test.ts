/**
 * Connection URLs with one host and with several.
 */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { parseDatabaseUrl } from "../../../adapters/sql/primary/DatabaseUrl.ts"

const urlsOf = (text: string) =>
  Result.map(parseDatabaseUrl(text), (hosts) => hosts.map(({ url }) => Redacted.value(url)))
const RW = "target_session_attrs=read-write"

describe("a connection URL", () => {
  it.each([
    ["postgres://h/db", ["postgres://h:5432/db"]],
    ["postgresql://u:p@h:6000/db", ["postgresql://u:p@h:6000/db"]],
    ["postgres://u:p@h/db?sslmode=require", ["postgres://u:p@h:5432/db?sslmode=require"]],
    ["postgres:///db", ["postgres://localhost:5432/db"]],
    [`postgres://u:p@h/db?${RW}`, ["postgres://u:p@h:5432/db"]],
    [`postgres://u:p@h1:5432,h2:5433/db?${RW}`, ["postgres://u:p@h1:5432/db", "postgres://u:p@h2:5433/db"]],
    [
      `postgres://u:p@h1,h2/db?target_session_attrs=primary`,
      ["postgres://u:p@h1:5432/db", "postgres://u:p@h2:5432/db"]
    ],
    [
      `postgres://u@[::1]:1,[fe80::2]/db?${RW}&sslmode=require`,
      ["postgres://u@[::1]:1/db?sslmode=require", "postgres://u@[fe80::2]:5432/db?sslmode=require"]
    ],
    [
      `postgres://u:a%40b%2Fc%3A%2C@h1,h2/db?${RW}`,
      ["postgres://u:a%40b%2Fc%3A%2C@h1:5432/db", "postgres://u:a%40b%2Fc%3A%2C@h2:5432/db"]
    ],
    [`postgres://u:a@b,c@h1,h2/db?${RW}`, ["postgres://u:a@b,c@h1:5432/db", "postgres://u:a@b,c@h2:5432/db"]],
    [`postgres://u:p@%2Frun%2Fpg,h2/db?${RW}`, ["postgres://u:p@%2Frun%2Fpg:5432/db", "postgres://u:p@h2:5432/db"]],
    ["postgres://u:p@/db?host=/run/pg", ["postgres://u:p@%2Frun%2Fpg:5432/db"]],
    [`postgres://u:p@x/db?host=h1,::1&port=1,2&${RW}`, ["postgres://u:p@h1:1/db", "postgres://u:p@[::1]:2/db"]],
    [`postgres://u:p@h1,h2/db?port=6&${RW}`, ["postgres://u:p@h1:6/db", "postgres://u:p@h2:6/db"]]
  ])("%s leads to its hosts", (text, urls) => {
    assert.deepStrictEqual(urlsOf(text), Result.succeed(urls))
  })

  it.each([
    ["mysql://h/db", "starts with postgres://"],
    ["postgres://u:p/q@h/db", "Percent-encode"],
    ["postgres://u:p@h:0/db", "port of host 1"],
    ["postgres://u:p@h:70000/db", "port of host 1"],
    ["postgres://u:p@h1,h2/db", "Add `target_session_attrs=read-write`"],
    [`postgres://u:p@h1,/db?${RW}`, "Host 2 is not valid"],
    [`postgres://u:p@::1,h2/db?${RW}`, "brackets"],
    [`postgres://u:p@h1,h2/db?port=1,2,3&${RW}`, "2 hosts and 3 ports"],
    [`postgres://u:p@${"h,".repeat(8)}h/db?${RW}`, "8 is the limit"],
    [
      "postgres://u:p@h/db?sslmod=require",
      "The driver does not know the parameter `sslmod`. The closest one that it knows is `sslmode`"
    ],
    ["postgres://u:p@h/db?ssl=true", "The driver does not know the parameter `ssl`. Remove it"],
    [
      "postgres://u:p@h/db?channel_binding=require",
      "The driver does not know the parameter `channel_binding`. Remove it"
    ],
    ["postgres://u:p@h/db?zzz=1", "The driver does not know the parameter `zzz`. Remove it"],
    ["postgres://u:p@h/db?target_session_attrs=standby", "needs the primary"]
  ])("%s is rejected with advice", (text, advice) => {
    const parsed = parseDatabaseUrl(text)
    assert.isTrue(Result.isFailure(parsed))
    if (Result.isFailure(parsed)) {
      assert.include(parsed.failure, advice)
      assert.notInclude(parsed.failure, "u:p")
    }
  })
})

describe("a connection URL of read replicas", () => {
  it("may name several hosts and no primary", () => {
    const hosts = Result.getOrThrow(parseDatabaseUrl("postgres://h1,h2/db?target_session_attrs=standby", "replica"))
    assert.deepStrictEqual(
      hosts.map(({ url }) => Redacted.value(url)),
      ["postgres://h1:5432/db", "postgres://h2:5432/db"]
    )
    assert.isTrue(Result.isSuccess(parseDatabaseUrl("postgres://h1,h2/db", "replica")))
    const problem = Result.flip(parseDatabaseUrl(`postgres://h/db?${RW}`, "replica"))
    assert.include(Result.getOrThrow(problem), "Use standby")
  })
})
