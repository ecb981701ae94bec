/**
 * A store in memory from plain functions. What a method returns is read or written when its effect runs, so within the unit of
 * work around it.
 */
import { type Context, Effect, Layer } from "effect"

/** A method returns its value, or an effect where it writes what a failed unit of work undoes. */
type Plain<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...given: infer Given) => Effect.Effect<infer A, infer E>
    ? (...given: Given) => A | Effect.Effect<A, E>
    : Store[Name]
}

type Method = (...given: ReadonlyArray<unknown>) => unknown

export const memoryStore = <Id, Store extends object>(
  _: Context.Key<Id, Store>,
  methods: Plain<NoInfer<Store>>
): Store => {
  const all: ReadonlyArray<[string, Method | Effect.Effect<unknown>]> = Object.entries(methods)
  return Object.fromEntries(
    all.map(([name, method]) => [name, Effect.isEffect(method) ? method : lifted(method)])
  ) as Store
}

/** The layer of a store on state that others share. */
export const memoryLayer = <Id, Store extends object, StateId, State>(
  store: Context.Key<Id, Store>,
  state: Context.Key<StateId, State>,
  make: (state: State) => Plain<NoInfer<Store>>
): Layer.Layer<Id, never, StateId> =>
  Layer.effect(
    store,
    Effect.map(state, (shared) => memoryStore(store, make(shared)))
  )

const lifted =
  (method: Method): Method =>
  (...given) =>
    Effect.suspend(() => {
      const made = method(...given)
      return isWork(made) ? made : Effect.succeed(made)
    })

const isWork = (made: unknown): made is Effect.Effect<unknown> => Effect.isEffect(made)
