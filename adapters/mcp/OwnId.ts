/**
 * The id of a request in a client's own session. The client sends other requests and cancellations there, so it must not
 * choose or guess the id of a call: a server that got one id twice would answer the wrong request. Other nodes use the session
 * too. Node draws the bytes of UUIDs in blocks: a draw per id would take longer than the rest of the message.
 */
import { randomUUID } from "node:crypto"

export const ownId = (prefix: string): string => `${prefix}.${randomUUID()}`
