import { policy, type PolicyOptions } from '../../src/actors/define/policy.ts'
import { calls, startAgent, tool, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import type { CaseContext } from '../support/suite.ts'

export const look = tool('look', () => 'seen '.repeat(60), { effects: 'none' })

export const always = (atTurn: number): PolicyOptions['when'] => ({
  name: `turn(${atTurn})`,
  fires: ({ turn }) => (turn === atTurn ? 'it is time' : null),
})

export const made = (options: Partial<PolicyOptions> = {}) =>
  policy({
    name: 'tidy',
    when: always(2),
    decide: { name: 'first()', decide: () => ({ hide: ['n2'], memo: 'looked once' }) },
    ...options,
  })

/** An agent that looks three times, then is done. */
export const looker = (
  context: Pick<CaseContext, 'cleanup'>,
  policies: HarnessOptions['braking'],
  more: HarnessOptions = {},
) =>
  startAgent(context, {
    replies: [...['a', 'b', 'c'].map((prefix) => calls(prefix, 'look')), 'done'],
    tools: [look],
    braking: policies!,
    checkRequests: true,
    ...more,
  })

export const ends = ({ ofType }: Harness) =>
  ofType('policy.end').map(({ policy: name, outcome, reason }) => [
    name,
    outcome,
    ...(reason === undefined ? [] : [reason]),
  ])
