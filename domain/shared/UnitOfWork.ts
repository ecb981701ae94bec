/**
 * All or nothing: what the ports write inside `atomically` is committed together or not at all. Nested calls are
 * savepoints: a caught failure inside undoes only the inside. External effects (payments, tool calls, mail) do not
 * belong in here.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

export class UnitOfWork extends Context.Service<
  UnitOfWork,
  {
    atomically<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R>
  }
>()("agent-tool-billing/domain/shared/UnitOfWork") {}
