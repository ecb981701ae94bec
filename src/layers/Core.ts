/**
 * The services of the core on whatever ports they are given.
 */
import { Layer } from "effect"
import { Authentication } from "../../domain/accounts/Authentication.ts"
import { Keys } from "../../domain/accounts/Keys.ts"
import { Registration } from "../../domain/accounts/Registration.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { Budgets } from "../../domain/ledger/Budgets.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { Loads } from "../../domain/ledger/Loads.ts"
import { DirectMetering } from "../../domain/metering/DirectMetering.ts"
import { Grants } from "../../domain/metering/Grants.ts"
import { Metering } from "../../domain/metering/Metering.ts"
import { Sweeper } from "../../domain/metering/Sweeper.ts"
import { ToolDirectory } from "../../domain/metering/ToolDirectory.ts"
import { Usage } from "../../domain/metering/Usage.ts"
import { Idempotency } from "../../domain/shared/Idempotency.ts"

const foundations = Layer.mergeAll(Keys.layer, Catalog.layer, Ledger.layer, Grants.layer, Idempotency.layer)

const directory = ToolDirectory.layer.pipe(Layer.provideMerge(foundations))

export const core = Layer.mergeAll(
  Registration.layer,
  Authentication.layer,
  Metering.layer,
  DirectMetering.layer,
  Sweeper.layer,
  Usage.layer,
  Loads.layer,
  Budgets.layer
).pipe(Layer.provideMerge(directory))
