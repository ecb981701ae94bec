import { mcpSessionsContract } from "../contracts/mcpSessions.ts"
import { mcpStreamsContract } from "../contracts/mcpStreams.ts"
import { everyStore } from "../contracts/ports.ts"

for (const [name, ports] of everyStore) {
  mcpSessionsContract(name, ports)
  mcpStreamsContract(name, ports)
}
