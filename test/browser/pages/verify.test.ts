/**
 * The verify page in a browser: valid and forged receipts, accessibility, no requests.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fine, providing } from "../../support/metering/Provider.ts"
import { browser, browserWith, hasBrowser, open } from "../../support/market/Browser.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"

const text = (url: string) => Effect.promise(async () => (await fetch(url)).text())

/** A service with one paid call. */
const sold = Effect.gen(function* () {
  const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
  const provider = yield* providing(fine)
  yield* post(`${url}/api/market/register-provider`, {
    name: "Seller",
    email: "seller@example.org",
    endpoint_url: provider.url,
    tools: [{ tool_name: "echo", price_microcents: 500, free_tier_calls: 0 }]
  })
  const { body } = yield* post(`${url}/api/market/register-consumer`, { name: "Buyer", email: "buyer@example.org" })
  const key = String(body["api_key"])
  yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
  const bought = yield* post(`${url}/api/market/proxy`, { tool_name: "echo", input: {} }, key)
  const id = String((bought.body["meta"] as Record<string, unknown>)["receipt_id"])
  const receipt = JSON.stringify(JSON.parse(yield* text(`${url}/api/v1/market/receipts/${id}`)).receipt, null, 2)
  return { url, receipt, proof: yield* text(`${url}/api/v1/market/receipts/${id}/proof`) }
})

it.live.skipIf(!hasBrowser)(
  "the verify page detects forged receipts, in the browser alone",
  () =>
    Effect.gen(function* () {
      const { proof, receipt, url } = yield* sold
      const opened = yield* browser
      const { asked, complaints, page } = yield* open(opened, `${url}/verify`)
      const loaded = asked.length
      const verdict = Effect.fnUntraced(function* (receiptText: string, proofText: string) {
        yield* Effect.promise(async () => {
          await page.fill("#receipt", receiptText)
          await page.fill("#proof", proofText)
          await page.evaluate("document.querySelector('#verdict').replaceChildren()")
          await page.click("button[type=submit]")
          await page.waitForFunction("document.querySelector('#verdict').textContent !== ''")
        })
        return yield* Effect.promise(() => page.innerText("#verdict"))
      })
      assert.match(yield* verdict(receipt, proof), /^Valid\. Entry 1 of 1 in /u)
      assert.include(yield* verdict(receipt.replace("500", "400"), proof), "does not match this receipt")
      assert.include(yield* verdict("{}", proof), "This is not a receipt")
      assert.include(yield* verdict(receipt, "so it is"), "not a c2sp.org")
      assert.include(yield* verdict("", proof), "Missing: receipt")

      // Editing the input clears the verdict.
      assert.match(yield* verdict(receipt, proof), /^Valid/u)
      yield* Effect.promise(() => page.press("#receipt", "Space"))
      assert.match(yield* Effect.promise(() => page.innerText("#verdict")), /^Not verified/u)

      // Selected files fill the matching fields.
      yield* Effect.promise(() => page.reload())
      yield* Effect.promise(() =>
        page.setInputFiles("#files", [
          { name: "receipt.tlog-proof", mimeType: "text/plain", buffer: Buffer.from(proof) },
          { name: "receipt.json", mimeType: "application/json", buffer: Buffer.from(receipt) }
        ])
      )
      yield* Effect.promise(() => page.waitForSelector(".verdict.valid"))
      assert.deepStrictEqual(complaints, [])
      assert.isTrue(
        asked.slice(loaded).every((one) => one.startsWith(url) && (one.endsWith("/verify") || one.includes("/assets/")))
      )
      // Keyboard only.
      yield* Effect.promise(async () => {
        await page.focus("#key")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
      })
      assert.match(yield* Effect.promise(() => page.innerText("#verdict")), /^Valid/u)
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "the verify page explains that it needs HTTPS or localhost",
  () =>
    Effect.gen(function* () {
      const { proof, receipt, url } = yield* sold
      // Loopback is trusted without HTTPS, so the page needs another host name.
      const opened = yield* browserWith(["--host-resolver-rules=MAP billing.example 127.0.0.1"])
      const { page } = yield* open(opened, `${url.replace("127.0.0.1", "billing.example")}/verify`)
      yield* Effect.promise(async () => {
        await page.fill("#receipt", receipt)
        await page.fill("#proof", proof)
        await page.click("button[type=submit]")
        await page.waitForSelector(".verdict.invalid")
      })
      assert.include(yield* Effect.promise(() => page.innerText("#verdict")), "over HTTPS or from localhost")
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)

it.live.skipIf(!hasBrowser)(
  "the verify page is accessible in light and dark, on desktop and phone",
  () =>
    Effect.gen(function* () {
      const { url } = yield* sold
      const { complaints, page } = yield* open(yield* browser, `${url}/verify`)
      assert.deepStrictEqual(complaints, [])
      yield* isReadable(page, "verify")
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)
