import { isLikelyBug } from '../../../protocol/callbackBugs.ts'
import { renderNotice } from '../../../conversation/request/brakeNotes.ts'
import type { Conversation } from '../../../conversation/tree/conversation.ts'
import { cutMiddle } from '../../../protocol/text/cutMiddle.ts'
import type { ConsultInput, ConsultOutput } from '../../../machines/drainTypes.ts'
import type { PolicyEnd } from '../../../protocol/braking.ts'
import { messageOf } from '../../../protocol/errors.ts'
import { totalTokens } from '../../../protocol/messages.ts'
import type { AgentPorts, FindPorts } from '../../agentPorts.ts'
import type { Cancellation } from '../../timing/cancellation.ts'
import { effect } from '../../effect.ts'
import { planOf, type AskedFor } from './checkPlan.ts'
import { consultationOf, noSpending, spentSoFar, type Spending } from './consultation.ts'
import type { Policy } from '../../define/policy.ts'
import { TimeLimit } from '../../timing/timeLimit.ts'
import { requestTokens } from '../../turn/estimates.ts'

/** Maximum lengths of stored texts, in characters. */
const longest = { why: 300, reason: 500, note: 4_000 } as const

type Consulted = Omit<ConsultOutput, 'asked'>

/**
 * The effect of `draining.consulting`: asks the policies in their order until one fires, and returns its requests. A policy that throws, hangs or
 * returns nonsense changes nothing.
 */
export const consultPolicies = (find: FindPorts) =>
  effect<ConsultOutput, ConsultInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { list } = ports.definition.braking!.policies!
    const { key, request, from } = input
    if (request !== undefined) {
      const policy = list.find(({ name }) => name === request.policy)
      const consulted = policy === undefined ? undefined : await consult(ports, policy, input, cancellation)
      return { ...(consulted ?? unknownPolicy(ports, input)), asked: from }
    }
    for (let at = from; at < list.length; at++) {
      const consulted = await consult(ports, list[at]!, input, cancellation)
      if (consulted !== undefined) return { ...consulted, asked: at + 1 }
    }
    return { key, asked: list.length, end: null, noteTokens: 0, at: ports.clock.now() }
  })

/** Returns the id of the request that a policy answers, if there is one. The log has the policy's effects under this id. */
const answerTo = ({ request }: ConsultInput): { requestId?: string } =>
  request === undefined ? {} : { requestId: request.id }

/** Result for a policy that is missing because the agent was resumed with a definition that no longer has it. */
const unknownPolicy = ({ clock }: AgentPorts, input: ConsultInput): Consulted => {
  const reason = 'there is no policy of this name'
  const end = { policy: input.request!.policy, outcome: 'failed', reason, ...answerTo(input), costUsd: 0 } as const
  return { key: input.key, end, noteTokens: 0, at: clock.now() }
}

/** Returns true if a policy is not asked: for some turns after it changed nothing, and at rest unless it sets `atRest`. */
function isLeftAlone(
  { name, when, retryTurns }: Policy,
  { annotations }: Conversation,
  { turn, isAtRest }: ConsultInput,
): boolean {
  if (isAtRest && when.atRest !== true) return true
  const last = annotations?.policies.last(name)
  return last !== undefined && !last.hasChanged && turn < last.turn + retryTurns
}

/** Asks one policy. Resolves with `undefined` if it did not fire. */
async function consult(
  ports: AgentPorts,
  policy: Policy,
  input: ConsultInput,
  cancellation: Cancellation,
): Promise<Consulted | undefined> {
  const { request, key } = input
  if (request === undefined && isLeftAlone(policy, ports.conversation, input)) return undefined
  const spending = noSpending()
  const limit = new TimeLimit(ports.clock, policy.timeoutMs, cancellation)
  const at = consultationOf(ports, policy, input, limit.cancellation, spending)
  let hasFired = false
  const fire = (why: string): void => {
    hasFired = true
    const { contextTokens: tokens, turn } = at
    const start = { policy: policy.name, why: cutMiddle(why, longest.why), turn, tokens, ...answerTo(input) }
    ports.policyFired(key, start)
  }
  try {
    // Most triggers answer at once, and most say no.
    const fires = request === undefined ? policy.when.fires(at) : `asked for by the ${request.by}`
    if (fires === null) return undefined
    return await limit.race(async () => {
      const why = await fires
      limit.cancellation.throwIfAborted()
      if (why === null) {
        // What its trigger asked a model is paid for all the same.
        const isFree = totalTokens(spentSoFar(spending).usage) === 0
        return isFree
          ? undefined
          : endOf(ports, input, policy, spending, { outcome: 'nothing', reason: 'it did not fire' })
      }
      if (typeof why !== 'string')
        throw new Error(`when: ${policy.when.name} answered nonsense: give a reason, or null`)
      fire(why)
      // Nothing is paid before the log says for what.
      await ports.durable()
      const asked = await ports.within({ type: 'drain' }, () => planOf(policy, ports.conversation, at, key))
      return plannedEnd(ports, input, policy, spending, asked)
    })
  } catch (thrown) {
    cancellation.throwIfAborted()
    if (isLikelyBug(thrown)) ports.callbackFailed?.(`The policy "${policy.name}"`, thrown)
    if (!hasFired) fire('its trigger failed')
    const reason = limit.isOver ? `it took too long, over ${policy.timeoutMs} ms` : messageOf(thrown)
    return endOf(ports, input, policy, spending, { outcome: 'failed', reason })
  } finally {
    limit.end()
  }
}

function plannedEnd(
  ports: AgentPorts,
  input: ConsultInput,
  policy: Policy,
  spending: Spending,
  { prune, revert, note, why }: AskedFor,
): Consulted {
  const isNothing = prune === undefined && revert === undefined && note === undefined
  const end = endOf(ports, input, policy, spending, {
    outcome: isNothing ? 'nothing' : 'planned',
    ...(prune === undefined ? {} : { prune: prune.id }),
    ...(revert === undefined ? {} : { revert: revert.id }),
    ...(note === undefined ? {} : { note: cutMiddle(note, longest.note) }),
    ...(why === undefined ? {} : { reason: why }),
  })
  return { ...end, ...(prune === undefined ? {} : { prune }), ...(revert === undefined ? {} : { revert }) }
}

function endOf(
  ports: AgentPorts,
  input: ConsultInput,
  { name: policy }: Policy,
  spending: Spending,
  { reason, ...came }: Pick<PolicyEnd, 'outcome' | 'prune' | 'revert' | 'note' | 'reason'>,
): Consulted {
  const { conversation, clock } = ports
  const { usage, costUsd } = spentSoFar(spending)
  const { trunkTokens, counter } = conversation
  const shown = came.note === undefined ? 0 : counter.text(renderNotice({ kind: 'policy', text: came.note }))
  const end: PolicyEnd = {
    policy,
    ...came,
    ...(reason === undefined ? {} : { reason: cutMiddle(reason, longest.reason) }),
    ...answerTo(input),
    ...(totalTokens(usage) === 0 ? {} : { usage }),
    costUsd,
  }
  const noteTokens = requestTokens(ports, trunkTokens + shown) - requestTokens(ports, trunkTokens)
  return { key: input.key, end, noteTokens, at: clock.now() }
}
