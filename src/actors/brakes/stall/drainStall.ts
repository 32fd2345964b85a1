import { decideStall, pauseDue, stallRevert } from '../../../conversation/brakes/stall/decideStall.ts'
import { renderNotice } from '../../../conversation/request/brakeNotes.ts'
import type { StallInput, StallCheck } from '../../../machines/drainTypes.ts'
import type { FindPorts } from '../../agentPorts.ts'
import { effect } from '../../effect.ts'
import { requestTokens } from '../../turn/estimates.ts'

/** The effect of `draining.checking`: checks whether the newest step ends a loop, and decides how to handle it. */
export const drainStall = (find: FindPorts) =>
  effect<StallCheck, StallInput>(({ agentId, key, revertId, reverts }) => {
    const ports = find(agentId)
    const { conversation, definition, clock } = ports
    const at = clock.now()
    const due = pauseDue(conversation)
    if (due !== undefined) return { key, stall: due, isRecorded: true, noteTokens: 0, at }
    const { stall: settings, revert } = definition.braking!
    const { offersRevert, ...policy } = settings!
    const stall = decideStall(conversation, policy, { revertId, reverts: revert, waiting: reverts, offersRevert })
    if (stall === undefined) return { key, stall: null, noteTokens: 0, at }
    const { note } = stall
    const shown = note === undefined ? 0 : conversation.counter.text(renderNotice({ kind: 'stall', text: note }))
    const { trunkTokens } = conversation
    const noteTokens = requestTokens(ports, trunkTokens + shown) - requestTokens(ports, trunkTokens)
    const request = stall.rung === 'revert' ? { revert: stallRevert(revertId, stall) } : {}
    return { key, stall, ...request, noteTokens, at }
  })
