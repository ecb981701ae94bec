/**
 * Users of the command line: a service in a process of its own, and a folder for each user's login.
 */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { finished, ready, temporaryFolder } from "../servers/ServiceProcess.ts"

/** A service with the demo provider, and a user with a folder of their own. */
export class Shop extends Context.Service<Shop, { readonly url: string }>()("test/support/user/UserShell/Shop") {
  static readonly layer = Layer.effect(
    Shop,
    ready({ PROFILE: "memory", DEMO_PROVIDER: "on", LOG_LEVEL: "Error", RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0" })
  )
}

export const aUser = Effect.gen(function* () {
  const { url } = yield* Shop
  const home = yield* temporaryFolder
  const settings = { XDG_CONFIG_HOME: home }
  const file = join(home, "agent-tool-billing/login.json")
  const run = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}, input?: string) =>
    finished(args, { settings: { ...settings, ...more }, cwd: home, ...(input === undefined ? {} : { input }) })
  return { file, home, run, settings, url }
})

export const signedIn = Effect.gen(function* () {
  const user = yield* aUser
  const { code, problem } = yield* user.run(register(user.url))
  assert.strictEqual(code, 0, problem)
  const { key } = JSON.parse(readFileSync(user.file, "utf8")) as { readonly key: string }
  const paid = yield* user.run(["funds", "load", "5"])
  assert.strictEqual(paid.code, 0, paid.problem)
  return { ...user, key }
})

export const register = (url: string) => [
  "login",
  "--url",
  url,
  "--register",
  "--name",
  "Ada",
  "--email",
  "ada@example.org"
]

export const receiptIn = (text: string): string => /rcpt_[0-9a-f]{16,}/u.exec(text)![0]

/** Without funds. */
export const poor = Effect.gen(function* () {
  const user = yield* aUser
  yield* user.run(register(user.url))
  return { ...user, key: (JSON.parse(readFileSync(user.file, "utf8")) as { readonly key: string }).key }
})
