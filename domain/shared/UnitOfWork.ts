/**
 * All or nothing: what the ports write inside `atomically` is kept together or not at all.
 * Nested calls are savepoints: a caught failure inside undoes the inside only.
 * Nothing that reaches outside the store (payments, tool calls, mail) belongs in here.
 */
import { Context, type Effect } from "effect"

export class UnitOfWork extends Context.Service<
  UnitOfWork,
  {
    atomically<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  }
>()("agent-tool-billing/domain/shared/UnitOfWork") {}
