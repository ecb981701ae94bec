/**
 * The home page: working quickstart commands, totals, size.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { elementsOf, parseHtml, textOf, wordsOf } from "../../support/checks/HtmlCheck.ts"
import { post } from "../../support/servers/ServiceProcess.ts"

const HOME_PAGE_BYTES_MAX = 150_000

const shell = (commands: ReadonlyArray<string>) =>
  Effect.promise(async () => (await promisify(execFile)("bash", ["-c", commands.join("\necho\n")])).stdout)

const get = (url: string) => Effect.promise(async () => (await fetch(url)).text())

const commandsIn = (page: string, id: string): ReadonlyArray<string> => {
  const card = elementsOf(parseHtml(page)).find((element) => element.attributes["id"] === id)!
  return elementsOf(card)
    .filter(({ tag }) => tag === "code")
    .map(textOf)
}

describe("the home page", () => {
  it.live(
    "has commands that work in sequence",
    () =>
      Effect.gen(function* () {
        const { url } = yield* catalogShop
        // The newest tool costs more than the commands add.
        yield* post(`${url}/api/market/register-provider`, {
          name: "Dear",
          email: "dear@example.org",
          endpoint_url: "http://127.0.0.1:9/mcp",
          tools: [{ tool_name: "dear", price_microcents: 6_000_000, free_tier_calls: 0 }]
        })
        const page = yield* get(`${url}/`)
        const bought = yield* shell(commandsIn(page, "developers"))
        assert.match(bought, /^atb_c_[0-9a-f]{72}$/mu)
        assert.include(bought, `"new_balance":"$5.00"`)
        assert.include(bought, `"dry_run":true`)
        assert.match(bought, /"receipt_id":"rcpt_/u)
        const sold = yield* shell(commandsIn(page, "providers"))
        assert.match(sold, /^atb_p_[0-9a-f]{72}$/mu)
        for (const answered of [`"challenge"`, `"gross_revenue"`, `"minimum_payout":"$10.00"`]) {
          assert.include(sold, answered)
        }
      }).pipe(Effect.scoped),
    { timeout: 180_000 }
  )

  it.live(
    "shows totals and loads less than 150 kB",
    () =>
      Effect.gen(function* () {
        const { url } = yield* catalogShop
        const page = yield* get(`${url}/`)
        const words = wordsOf(elementsOf(parseHtml(page)).find(({ tag }) => tag === "main")!)
        for (const part of ["Tools 25", "Providers 2", "Calls 0", "Revenue $0.00"]) assert.include(words, part)
        const loaded = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/gu)].map(([, path]) => path!)
        let bytes = Buffer.byteLength(page)
        for (const path of loaded) bytes += Buffer.byteLength(yield* get(`${url}${path}`))
        assert.isBelow(bytes, HOME_PAGE_BYTES_MAX)
      }).pipe(Effect.scoped),
    { timeout: 180_000 }
  )
})
