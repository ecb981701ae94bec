/**
 * Values that the examples of the OpenAPI document share: one consumer calls one tool of one provider.
 */
export const BASE_URL = "https://billing.example.org"
export const PRODUCT_NAME = "Agent Tool Billing"
export const PRODUCT_DESCRIPTION = "Billing, metering and authentication between agents and the MCP tools they call."

export const PROVIDER_ID = "0193f9c2-7d5e-7a7b-9d3e-2f1a6b7c8d9e"
export const CONSUMER_ID = "0193f9c4-1b20-7c55-8e01-6d2f90ab34ce"
export const TOOL_ID = "0193f9c3-02af-7e19-b6c4-91d7e0f45a12"
export const KEY_ID = "0193f9c4-1b21-7d08-9a6b-3c5e7f902b4d"
export const RUN_ID = "0193f9c6-2c31-7e19-8b7c-4d6f8a103c5e"
export const RECEIPT_ID = "rcpt_5f0c1d9b7a3e4c2880d6b1f2a4e39c75"
export const DISPUTE_ID = "0193fa10-6c1d-7e44-9b02-5f6a7b8c9d0e"
export const INVOICE_ID = "0193fa06-8192-73b4-a5d6-e7f8091a2b3c"
export const GRANT_ID = "0193fa04-6071-7283-94a5-b6c7d8e9f01a"
export const BUDGET_ID = "0193fa03-5e6f-7081-92a3-b4c5d6e7f809"
export const PAYOUT_ID = "0193fa05-7081-72a3-94c5-d6e7f8091a2b"
export const SUBMISSION_ID = "0193fa07-91a2-74c5-b6e7-f8091a2b3c4d"

export const SAMPLE_SIGNATURE = "t=1763633472,v1=5257a869e7"
export const SAMPLE_OPERATOR_KEY = "<value of OPERATOR_KEY>"

/** A tool that a new service has: its demo provider lists it. */
export const DEMO_TOOL = "demo/echo"
export const DEMO_INPUT = { message: "hello" }

/** Shaped like keys; no checksum accepts them. */
export const CONSUMER_KEY = `atb_c_${"0123456789abcdef".repeat(4)}00000000`
export const RUN_KEY = `atb_r_${"0123456789abcdef".repeat(4)}00000000`
export const PROVIDER_KEY = `atb_p_${"0123456789abcdef".repeat(4)}00000000`

export const NOW = "2026-11-20T09:30:00.000Z"
export const TODAY = "2026-11-20"

export const INPUT_SCHEMA = { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
