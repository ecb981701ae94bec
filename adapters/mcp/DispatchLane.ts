import type { HttpExchange } from "./HttpExchange.ts"

/** Begins exchanges together, once per turn of the event loop: fewer, fuller turns of undici and of the sockets. */
export const makeLane = (): ((exchange: HttpExchange) => void) => {
  let queue: Array<HttpExchange> = []
  const flush = () => {
    const batch = queue
    queue = []
    for (const exchange of batch) exchange.dispatch()
  }
  return (exchange) => {
    if (queue.push(exchange) === 1) setImmediate(flush)
  }
}
