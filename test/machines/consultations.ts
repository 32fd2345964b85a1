import type { ConsultOutput } from '../../src/machines/drainTypes.ts'
import type { PolicyEnd } from '../../src/protocol/braking.ts'
import type { ChildOf } from '../support/machineDriver.ts'

/** Output of policies of which none fires, or one that asks for these steps to be hidden. */
export const consulted = (
  { input: { key, from, request } }: ChildOf<'consultPolicies'>,
  at: number,
  fired?: Partial<PolicyEnd> & { readonly steps?: readonly number[] },
): ConsultOutput => {
  const answered = request === undefined ? {} : { requestId: request.id }
  if (fired === undefined && request === undefined) return { key, asked: 2, end: null, noteTokens: 0, at }
  const { steps, ...end } = fired ?? {}
  const prune = { id: key, by: 'runtime', policy: 'tidy', steps: steps?.map((id) => `n${id}`) ?? [] } as const
  const outcome = steps === undefined ? 'nothing' : 'planned'
  return {
    key,
    asked: request === undefined ? from + 1 : from,
    end: { policy: 'tidy', outcome, costUsd: 0, ...end, ...answered },
    ...(steps === undefined ? {} : { prune }),
    noteTokens: end.note === undefined ? 0 : 10,
    at,
  }
}
