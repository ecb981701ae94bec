/**
 * Which errors an endpoint can respond with, each with an example.
 */
import {
  codesByStatus,
  namedCodes,
  type ProblemCode,
  type ProblemStatus,
  problemType,
  titles
} from "../contract/Problem.ts"
import type { EndpointInfo } from "./Api.ts"
import type { Json } from "./OpenApiModel.ts"
import { BASE_URL } from "../contract/SampleValues.ts"
import { guide, takesIdempotencyKey } from "./ProblemGuide.ts"

export const statuses = Object.keys(codesByStatus).map(Number) as ReadonlyArray<number> as ReadonlyArray<ProblemStatus>

export const isProblemStatus = (status: number): status is ProblemStatus => Object.hasOwn(codesByStatus, status)

export const codesAt = (status: ProblemStatus, endpoint: EndpointInfo): ReadonlyArray<ProblemCode> =>
  codesByStatus[status].filter(
    (code) =>
      !(namedCodes as ReadonlyArray<ProblemCode>).includes(code) ||
      endpoint.codes.includes(code) ||
      (code === "IDEMPOTENCY_CONFLICT" && takesIdempotencyKey(endpoint))
  )

export const exampleProblem = (status: ProblemStatus, code: ProblemCode): Json => ({
  type: problemType(BASE_URL, code),
  title: titles[status],
  status,
  detail: guide[code].message,
  instance: "/api/market/register-consumer",
  error: true,
  code,
  message: guide[code].message,
  request_id: "0193fa00-9c1e-7f43-8b6d-5a4e3d2c1b0a",
  ...guide[code].extra
})
