import type { HttpExchange } from "./HttpExchange.ts"

/**
 * Starts exchanges together, once per turn of the event loop, which makes fewer and fuller turns of undici and the
 * sockets.
 */
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
