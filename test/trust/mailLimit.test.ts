/**
 * At most five emails in 24 hours are sent to one address, for all requesters together.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mailboxOf, MAILS_PER_DAY_MAX, Verification } from "../../domain/trust/Verification.ts"
import { aProvider, at } from "../support/market/Market.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import { memoryCoreReading } from "../support/metering/Core.ts"
import { problemOf } from "../support/metering/Shop.ts"
import { later } from "../support/metering/TestTime.ts"
import { evidence, World } from "../support/trust/World.ts"

const VERIFY = "/api/v1/market/providers/verify"
const EMAIL = { level: "email" } as const

it.layer(memoryCoreReading(evidence).pipe(Layer.provideMerge(evidence)), LIVE)("Emails", (it) => {
  it.effect("to one mailbox are at most five, for any number of accounts and spellings", () =>
    Effect.gen(function* () {
      const { mail } = yield* World
      const spelled = (n: number) => ["victim", "Victim+1", "VICTIM+two+3", "victim+"][n % 4] + "@mailbox.example"
      const ask = Effect.fnUntraced(function* (email: string) {
        const provider = yield* aProvider({ email })
        return { provider, answer: yield* send({ path: VERIFY, key: provider.key, json: EMAIL }) }
      })
      const asked = yield* Effect.forEach(Array.from({ length: 12 }), (_, n) => ask(spelled(n)), { concurrency: 4 })
      const refused = asked.filter(({ answer }) => answer.status !== 200)
      assert.strictEqual(asked.length - refused.length, MAILS_PER_DAY_MAX)
      for (const { answer } of refused) {
        assert.deepStrictEqual(problemOf(answer), [429, "RATE_LIMITED"])
        const wait = Number(at(answer, "retry_after_seconds"))
        assert.isTrue(wait > 80_000 && wait <= 86_400, String(wait))
        assert.strictEqual(answer.headers["retry-after"], String(wait))
      }
      const sent = mail.letters.filter(({ to }) => /^victim/iu.test(to))
      assert.strictEqual(sent.length, MAILS_PER_DAY_MAX)
      assert.strictEqual((yield* ask("bystander@mailbox.example")).answer.status, 200)
      const { provider } = refused[0]!
      const { verify } = yield* Verification
      const tomorrow = verify(provider.id as never, {
        ...EMAIL,
        domain: undefined,
        repositoryUrl: undefined,
        token: undefined
      })
      assert.isFalse((yield* later("25 hours")(tomorrow)).verified)
      assert.strictEqual(mail.letters.filter(({ to }) => /^victim/iu.test(to)).length, MAILS_PER_DAY_MAX + 1)
    })
  )
})

describe("A mailbox", () => {
  it("is the same in every spelling that is delivered to it", () => {
    for (const same of ["Ada@Example.org", " ada@example.org ", "ada+x@example.org", "ada+a+b@EXAMPLE.ORG."]) {
      assert.strictEqual(mailboxOf(same), "ada@example.org", same)
    }
    for (const same of ["a.d.a@gmail.com", "ada+x@googlemail.com", "A.D.A@GMAIL.COM"]) {
      assert.strictEqual(mailboxOf(same), "ada@gmail.com", same)
    }
  })

  it("is another one where the name differs", () => {
    const names = ["ada@example.org", "a.da@example.org", "ad@example.org", "+ada@example.org", "+bob@example.org"]
    assert.strictEqual(new Set(names.map(mailboxOf)).size, names.length)
  })
})
