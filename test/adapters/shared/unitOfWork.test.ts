import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Exit, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { KeyStore } from "../../../domain/accounts/Keys.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { unitOfWorkContract } from "../../../testing/contracts/shared/UnitOfWorkContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"
import { postgresPorts } from "../../contracts/ports.ts"
import { aConsumer } from "../../contracts/samples.ts"

contractOverEveryStore("UnitOfWork", unitOfWorkContract)

it.layer(postgresPorts, { timeout: "60 seconds", excludeTestServices: true })(
  "UnitOfWork over PostgreSQL alone",
  (it) => {
    it.effect("retries a deadlock, so that both units are kept", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const keys = yield* KeyStore
        const [a, b] = [yield* aConsumer(), yield* aConsumer()]
        const [hasFirst, otherHasFirst] = [yield* Latch.make(), yield* Latch.make()]
        const now = yield* DateTime.now
        let runs = 0
        const unit = (first: typeof a, second: typeof a, mine: Latch.Latch, others: Latch.Latch) =>
          atomically(
            Effect.gen(function* () {
              runs++
              yield* keys.ofOwner(first.id, now)
              yield* mine.open
              yield* others.await
              // A nested unit is not retried alone: the lock in the way belongs to the outer one.
              yield* atomically(keys.ofOwner(second.id, now))
              return yield* aConsumer()
            })
          )
        const kept = yield* Effect.all([unit(a, b, hasFirst, otherHasFirst), unit(b, a, otherHasFirst, hasFirst)], {
          concurrency: "unbounded"
        })
        assert.lengthOf(new Set(kept.map((consumer) => consumer.id)), 2)
        assert.isAtLeast(runs, 3)
      })
    )

    it.effect("does not retry when the connection is lost: the unit may have committed", () =>
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const sql = yield* SqlClient.SqlClient
        let runs = 0
        const exit = yield* Effect.exit(
          atomically(
            Effect.gen(function* () {
              runs++
              yield* Effect.orDie(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
            })
          )
        )
        assert.isTrue(Exit.isFailure(exit))
        assert.strictEqual(runs, 1)
        yield* atomically(aConsumer())
      })
    )
  }
)
