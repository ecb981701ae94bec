/**
 * `login` as a person sees it, in a terminal.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { inTerminal, isTerminalHere, KEYS } from "../support/user/Terminal.ts"
import { aUser, Shop, signedIn } from "../support/user/UserShell.ts"

const SLOW = 300_000
const URL_PROMPT = "URL of the service"
const KEY_PROMPT = "API key"

const keyIn = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as { readonly key: string }).key

it.layer(Shop.layer, { timeout: SLOW, excludeTestServices: true })("login in a terminal", (it) => {
  const inATerminal = it.effect.skipIf(!isTerminalHere())

  inATerminal(
    "asks for a URL until it is one, and registers an account where no key is given",
    () =>
      Effect.gen(function* () {
        const { file, home, run, url } = yield* aUser
        const { answer, exit, output } = yield* inTerminal(["login"], home)
        yield* answer(URL_PROMPT, KEYS.clear, "market", KEYS.enter)
        yield* answer("Expected an http or https URL", KEYS.clear, `${url}/`, KEYS.enter)
        yield* answer(KEY_PROMPT, KEYS.enter)
        yield* answer("Name of the account", KEYS.enter)
        yield* answer("Required.", "Ada", KEYS.enter)
        yield* answer("Email address", "ada@example.org", KEYS.enter)
        yield* answer("in dollars, or none", KEYS.clear, "much", KEYS.enter)
        yield* answer("Enter an amount in dollars", KEYS.clear, "0.05", KEYS.enter)
        assert.strictEqual(yield* exit, 0, output())
        assert.include(output(), `Signed in to ${url} as Ada`)
        assert.include(output(), "costs at most $0.05")
        assert.include(output(), file)
        assert.notInclude(output(), keyIn(file))
        assert.include((yield* run(["whoami"])).output, "Ada")
      }),
    SLOW
  )

  inATerminal(
    "hides the key that is typed, lets it be corrected, and names what is wrong with it",
    () =>
      Effect.gen(function* () {
        const { key, url } = yield* signedIn
        const { file, home } = yield* aUser
        const typed = yield* inTerminal(["login", "--url", url], home)
        yield* typed.answer(KEY_PROMPT, "hello world", KEYS.enter)
        yield* typed.answer("This is not an API key.", KEYS.clear, key, KEYS.enter)
        assert.strictEqual(yield* typed.exit, 0, typed.output())
        assert.notInclude(typed.output(), "hello")
        assert.notInclude(typed.output(), key)
        assert.strictEqual(keyIn(file), key)

        const wrong = yield* inTerminal(["login", "--url", url], home)
        yield* wrong.answer(KEY_PROMPT, `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`, KEYS.enter)
        assert.strictEqual(yield* wrong.exit, 3, wrong.output())
        assert.include(wrong.output(), "Check that you copied all of it")
        assert.strictEqual(keyIn(file), key)
      }),
    SLOW
  )

  inATerminal(
    "does not replace the stored key by that of a new account without being told to",
    () =>
      Effect.gen(function* () {
        const { file, home, key, url } = yield* signedIn
        const { answer, exit, output } = yield* inTerminal(["login"], home)
        yield* answer(url, KEYS.enter)
        yield* answer(KEY_PROMPT, KEYS.enter)
        yield* answer("login --register", KEYS.interrupt)
        assert.strictEqual(yield* exit, 130, output())
        assert.notInclude(output(), "Name of the account")
        assert.strictEqual(keyIn(file), key)
      }),
    SLOW
  )

  for (const [name, key] of [
    ["Ctrl-C", KEYS.interrupt],
    ["Ctrl-D", KEYS.end]
  ] as const) {
    inATerminal(
      `ends at ${name} on a line of its own, with nothing stored`,
      () =>
        Effect.gen(function* () {
          const { file, home, url } = yield* aUser
          const { answer, exit, output } = yield* inTerminal(["login", "--url", url], home)
          yield* answer(KEY_PROMPT, key)
          assert.strictEqual(yield* exit, 130, output())
          assert.match(output(), /\nCanceled\.\r\n$/u)
          assert.isFalse(existsSync(file))
        }),
      SLOW
    )
  }

  inATerminal(
    "says that no service responds at a URL, and stores nothing",
    () =>
      Effect.gen(function* () {
        const { key } = yield* signedIn
        const { file, home } = yield* aUser
        const { answer, exit, output } = yield* inTerminal(["login", "--url", "http://127.0.0.1:1"], home)
        yield* answer(KEY_PROMPT, key, KEYS.enter)
        assert.strictEqual(yield* exit, 7, output())
        assert.include(output(), "http://127.0.0.1:1 does not respond")
        assert.isFalse(existsSync(file))
      }),
    SLOW
  )
})
