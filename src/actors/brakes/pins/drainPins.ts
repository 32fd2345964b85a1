import { decidePin } from '../../../conversation/brakes/pins/pins.ts'
import type { DrainInput, DrainOutput } from '../../../machines/drainTypes.ts'
import type { PinOutcome } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { FindPorts } from '../../agentPorts.ts'
import { effect } from '../../effect.ts'

/** The effect of `draining.pins`: decides each queued pin, in order. */
export const drainPins = (find: FindPorts) =>
  effect<DrainOutput<'pin'>, DrainInput<'pin'>>((input) => {
    const { conversation, clock } = find(input.agentId)
    const decided = new Map<NodeId, boolean>()
    const outcomes: PinOutcome[] = []
    for (const request of input.requests) {
      const outcome = decidePin(conversation, request, decided)
      if (outcome.applied && outcome.step !== undefined) decided.set(outcome.step, outcome.pinned)
      outcomes.push(outcome)
    }
    return { key: input.key, outcomes, at: clock.now() }
  })
