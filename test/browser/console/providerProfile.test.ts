/**
 * A provider changes its profile on its dashboard: name, server, and its email address with the code that is mailed.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser } from "../../support/market/Browser.ts"
import { aSeller, got } from "../../support/market/HttpMarket.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { entered, openTab, says, seen } from "../../support/market/ProviderPage.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"
import { mailServer } from "../../support/trust/MailServer.ts"

it.live.skipIf(!hasBrowser)(
  "a provider changes its profile, moves its server and confirms a new address",
  () =>
    Effect.gen(function* () {
      const mail = yield* mailServer
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", SMTP_URL: mail.url })
      const { seller } = yield* aSeller(url)
      const other = yield* providing(fine)
      const { complaints, page } = yield* entered(yield* browser, url, seller.key)
      yield* openTab(page, "Settings")
      const submit = (form: string, values: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          for (const [name, value] of Object.entries(values)) await page.fill(`#${form}-${name}`, value)
          await page.click(`#${form} button[type=submit]`)
        })
      yield* submit("profile", { endpoint_url: "ftp://tools.example.org" })
      yield* says(page, "#profile-endpoint_url-fault", "http or https")
      yield* submit("profile", { name: "Ada Works", endpoint_url: other.url })
      yield* says(page, "#account", "Your profile was changed.")
      assert.strictEqual(yield* Effect.promise(() => page.inputValue("#profile-name")), "Ada Works")

      yield* submit("new-email", { email: "new@example.org" })
      yield* says(page, "#email", "A code was mailed to new@example.org.")
      assert.include(yield* seen(page, "#email"), "Your address is ada@example.org.")
      const code = /^ {2}([0-9a-f]{64})\r?$/mu.exec(mail.letters.at(-1)!.text)![1]!
      yield* submit("confirm-email", { token: "0".repeat(64) })
      yield* says(page, "#confirm-email-token-fault", "wrong or has expired")
      yield* submit("confirm-email", { token: code })
      yield* says(page, "#email", "Your address is new@example.org.")
      const profile = yield* got(`${url}/api/v1/market/providers/profile`, seller.key)
      assert.deepInclude(profile, { name: "Ada Works", email: "new@example.org", endpoint_url: other.url })
      assert.deepStrictEqual(
        complaints.filter((complaint) => !complaint.includes("422")),
        []
      )
    }).pipe(Effect.scoped),
  180_000
)
