/**
 * The services of the core on whatever ports they are given.
 */
import { Layer } from "effect"
import { Authentication } from "../../domain/accounts/Authentication.ts"
import { Keys } from "../../domain/accounts/Keys.ts"
import { Registration } from "../../domain/accounts/Registration.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { Idempotency } from "../../domain/shared/Idempotency.ts"

export const core = Layer.mergeAll(Registration.layer, Authentication.layer, Idempotency.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Keys.layer, Catalog.layer))
)
