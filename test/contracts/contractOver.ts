/**
 * Runs a contract of the testing kit over the ports of one adapter.
 */
import { it } from "@effect/vitest"
import type { Layer } from "effect"
import type { Contract } from "../../testing/contracts/shared/Contract.ts"
import { LIVE } from "../support/servers/PostgresTest.ts"

export const contractOver = <Ports>(title: string, contract: Contract<Ports>, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(title, (it) => {
    for (const rule of contract) it.effect(rule.title, () => rule.check)
  })
