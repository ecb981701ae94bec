/**
 * A batch of calls is closed and opened by one function. The two that did it before stay for nodes of the version before,
 * and for what calls that travel alone leave to them.
 */
import { settleCalls } from "./ledger/SettleCalls.ts"

export default settleCalls
