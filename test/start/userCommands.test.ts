/**
 * The commands of users, against a service in a process of its own: the login and what it protects, tools and
 * calls.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { aUser, poor, receiptIn, register, Shop, signedIn } from "../support/user/UserShell.ts"

const SLOW = 300_000

const COMMANDS = [
  "login",
  "logout",
  "whoami",
  "tools",
  "call",
  "keys",
  "funds",
  "receipts",
  "witness",
  "verify",
  "forget"
]

it.layer(Shop.layer, { timeout: SLOW, excludeTestServices: true })("the commands of users", (it) => {
  it.effect(
    "keep a key where only its owner can read it, and never print all of it",
    () =>
      Effect.gen(function* () {
        const { file, run, url } = yield* aUser
        const registered = yield* run(register(url))
        assert.strictEqual(registered.code, 0, registered.problem)
        const { key } = JSON.parse(readFileSync(file, "utf8")) as { readonly key: string }
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        const shown = yield* run(["whoami"])
        const asJson = yield* run(["whoami", "--json"])
        assert.include(shown.output, "Ada")
        assert.deepInclude(JSON.parse(asJson.output), { url, source: "file", key: `${key.slice(0, 12)}…` })

        const again = yield* run(["login", "--url", url, "--key-stdin"], {}, `${key}\n`)
        assert.strictEqual(again.code, 0, again.problem)
        for (const { output, problem } of [registered, shown, asJson, again]) assert.notInclude(output + problem, key)

        chmodSync(file, 0o644)
        const exposed = yield* run(["whoami"])
        assert.strictEqual(exposed.code, 1)
        assert.include(exposed.problem, "other users of this machine can read it")
        chmodSync(file, 0o600)
        assert.include((yield* run(["logout"])).output, "Signed out")
        const out = yield* run(["whoami"])
        assert.strictEqual(out.code, 3)
        assert.include(out.problem, "Run `login`")
      }),
    SLOW
  )

  it.effect(
    "store no key that the service rejects, and ask nothing without a terminal",
    () =>
      Effect.gen(function* () {
        const { run, url } = yield* aUser
        const wrong = yield* run(["login", "--url", url, "--key-stdin"], {}, `atb_c_${"0".repeat(72)}`)
        assert.strictEqual(wrong.code, 3, wrong.problem)
        assert.strictEqual((yield* run(["whoami"])).code, 3)
        for (const [args, input, says] of [
          [["login", "--url", url], undefined, "--key-stdin or --register is required"],
          [["login"], undefined, "--url is required"],
          [["login", "--url", "market.example", "--key-stdin"], "x", "--url=market.example"],
          [["login", "--url", url, "--key-stdin"], "hunter2 '", "This is not an API key."],
          [["login", "--url", url, "--key-stdin"], "", "This is not an API key."]
        ] as const) {
          const { code, problem } = yield* run(args, {}, input)
          assert.strictEqual(code, 2, args.join(" "))
          assert.include(problem, says)
          assert.notInclude(problem, "hunter2")
        }
      }),
    SLOW
  )

  it.effect(
    "set a default cap with a new account, $0.10 unless another one or none is named",
    () =>
      Effect.gen(function* () {
        for (const [flags, cap, says] of [
          [[], 100_000, "at most $0.10"],
          [["--default-cap", "0.02"], 20_000, "at most $0.02"],
          [["--default-cap", "none"], null, "must name one"]
        ] as const) {
          const { run, url } = yield* aUser
          const made = yield* run([...register(url), ...flags])
          assert.include(made.problem, says)
          const { account } = JSON.parse((yield* run(["whoami", "--json"])).output) as {
            readonly account: { readonly account_default_cap_microcents: number | null }
          }
          assert.strictEqual(account.account_default_cap_microcents, cap)
          yield* run(["funds", "load", "1"])
          const called = yield* run(["call", "demo/count_words", '{"text": "a b"}'])
          assert.strictEqual(called.code, cap === null ? 2 : 0, called.problem)
          if (cap !== null) continue
          assert.match(
            called.problem,
            /costs up to \$0\.01,.*--max-cost 0\.25, or set a default cap at \S+\/developer\/connect\./u
          )
          assert.notMatch(called.problem, /body|header/u)
        }
        const { run, url } = yield* aUser
        const wrong = yield* run([...register(url), "--default-cap", "much"])
        assert.strictEqual(wrong.code, 2)
        assert.include(wrong.problem, "--default-cap must be an amount in dollars")
      }),
    SLOW
  )

  it.effect(
    "send the stored key to no other service, and prefer the environment",
    () =>
      Effect.gen(function* () {
        const { key, run, url } = yield* signedIn
        const elsewhere = yield* run(["whoami"], { AGENT_TOOL_BILLING_URL: "http://127.0.0.1:65000" })
        assert.strictEqual(elsewhere.code, 3)
        assert.include(elsewhere.problem, "There is no key for http://127.0.0.1:65000")
        const config = yield* run(["mcp", "config", "json"], { AGENT_TOOL_BILLING_URL: "http://127.0.0.1:65000" })
        assert.notInclude(config.output, key)

        const environment = { AGENT_TOOL_BILLING_URL: url, AGENT_TOOL_BILLING_KEY: key, XDG_CONFIG_HOME: "/nowhere" }
        const named = yield* run(["whoami", "--json"], environment)
        assert.deepInclude(JSON.parse(named.output), { url, source: "environment" })
        const wrong = yield* run(["whoami", "--json"], { ...environment, AGENT_TOOL_BILLING_KEY: "atb_c_0" })
        assert.strictEqual(wrong.code, 3)
        assert.deepInclude(JSON.parse(wrong.problem), { kind: "signed_out", code: "UNAUTHORIZED" })
        const gone = yield* run(["whoami"], { ...environment, AGENT_TOOL_BILLING_URL: "http://127.0.0.1:65000" })
        assert.strictEqual(gone.code, 7)
        assert.include(gone.problem, "http://127.0.0.1:65000 does not respond")
      }),
    SLOW
  )

  it.effect(
    "fill the configuration of an MCP client in from the login",
    () =>
      Effect.gen(function* () {
        const { key, run, url } = yield* signedIn
        const full = yield* run(["mcp", "config", "json"])
        assert.include(full.output, `"url": "${url}/mcp"`)
        assert.include(full.output, `Bearer ${key}`)
        assert.notInclude((yield* run(["mcp", "config", "json", "--no-key"])).output, key)
        assert.notInclude((yield* run(["mcp", "config", "json", "--url", "https://market.example"])).output, key)
      }),
    SLOW
  )

  it.effect(
    "list, search and show tools with their prices",
    () =>
      Effect.gen(function* () {
        const { run, url } = yield* aUser
        const anyone = { AGENT_TOOL_BILLING_URL: url }
        const list = yield* run(["tools", "list"], anyone)
        assert.match(list.output, /^TOOL +PRICE +CATEGORY +DESCRIPTION\n/u)
        assert.match(list.output, /^demo\/echo +\$0\.0005 +demo /mu)
        const page = yield* run(["tools", "list", "--limit", "1", "--sort", "price_desc"], anyone)
        assert.match(page.problem, /Next page: --cursor \S+/u)
        const found = yield* run(["tools", "search", "counts", "words", "--json"], anyone)
        const { tools } = JSON.parse(found.output) as { tools: ReadonlyArray<{ qualified_name: string }> }
        assert.deepStrictEqual(
          tools.map((tool) => tool.qualified_name),
          ["demo/count_words"]
        )
        assert.match((yield* run(["tools", "show", "demo/echo"], anyone)).output, /^Price +\$0\.0005$/mu)
        for (const [name, says] of [
          ["demo/ecko", "`demo/echo`"],
          ["ecko", "`demo/echo`"]
        ] as const) {
          const unknown = yield* run(["tools", "show", name], anyone)
          assert.strictEqual(unknown.code, 4, unknown.problem)
          assert.include(unknown.problem, says)
        }
      }),
    SLOW
  )

  it.effect(
    "call a tool with input from an argument, a file or stdin, once per idempotency key",
    () =>
      Effect.gen(function* () {
        const { home, run } = yield* signedIn
        const first = yield* run(["call", "demo/echo", '{"message": "hello"}', "--idempotency-key", "one"])
        assert.strictEqual(first.output, "hello\n", first.problem)
        assert.match(first.problem, /Cost \$0\.0005, \$4\.9995 left\. Receipt rcpt_/u)
        const again = yield* run(["call", "demo/echo", '{"message": "hello"}', "--idempotency-key", "one"])
        assert.strictEqual(receiptIn(again.problem), receiptIn(first.problem))
        writeFileSync(join(home, "input.json"), '{"message": "\\u001b[2Jfrom a file"}')
        assert.strictEqual((yield* run(["call", "demo/echo", "@input.json"])).output, "[U+001B][2Jfrom a file\n")
        const piped = yield* run(["call", "demo/echo", "-", "--json"], {}, '{"message": "from stdin"}')
        assert.deepInclude((JSON.parse(piped.output) as { meta: object }).meta, {
          outcome: "success",
          cost_microcents: 500
        })
        assert.strictEqual(piped.problem, "")
        const quoted = yield* run(["call", "demo/echo", '{"message": "hello"}', "--dry-run"])
        assert.include(quoted.output, "demo/echo costs $0.0005")
        const slow = yield* run(["call", "demo/countdown", '{"from": 3}'])
        assert.include(slow.problem, "1/3 2 left")
      }),
    SLOW
  )

  it.effect(
    "say what is wrong with a call, with an exit code of its own",
    () =>
      Effect.gen(function* () {
        const { run } = yield* signedIn
        for (const [args, code, says] of [
          [["demo/ecko"], 4, "Did you mean `demo/echo`?"],
          [["demo/echo", "{message}"], 2, "The input is not JSON"],
          [["demo/echo", "[1]"], 2, "must be a JSON object"],
          [["demo/echo", "@nothing.json"], 2, "nothing.json cannot be read: the file does not exist"],
          [["demo/echo", '{"message": 1}'], 2, "input.message: must be string"],
          [["demo/echo", '{"message": "a"}', "--max-cost", "much"], 2, "--max-cost must be an amount in dollars"],
          [["demo/echo", '{"message": "a"}', "--max-cost", "0.0001"], 2, "$0.0005"],
          [["demo/count_words", '{"text": "a b"}'], 0, "Receipt rcpt_"],
          [["demo/count_words", '{"text": "a b"}', "--max-cost", "9"], 0, "Receipt rcpt_"],
          [[], 2, "Missing required argument: tool"],
          [["demo/echo", "--max-kost", "1"], 2, "--max-cost"]
        ] as const) {
          const { code: exit, problem } = yield* run(["call", ...args])
          assert.include(problem, says)
          assert.strictEqual(exit, code, problem)
        }
        const { key, run: runPoor, url } = yield* poor
        const unpaid = yield* runPoor(["call", "demo/echo", '{"message": "a"}'], {
          AGENT_TOOL_BILLING_URL: url,
          AGENT_TOOL_BILLING_KEY: key
        })
        assert.strictEqual(unpaid.code, 5)
        assert.include(unpaid.problem, "`funds load 5` adds $5.00")
      }),
    SLOW
  )

  it.effect(
    "complete their names and flags in shells",
    () =>
      Effect.gen(function* () {
        const { run } = yield* aUser
        for (const shell of ["bash", "zsh", "fish", "powershell"]) {
          const { code, output } = yield* run(["--completions", shell])
          assert.strictEqual(code, 0)
          for (const word of [...COMMANDS, "max-cost", "leave-money", "rate-limit-rpm"]) assert.include(output, word)
        }
      }),
    SLOW
  )
})
