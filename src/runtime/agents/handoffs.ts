import type { Fold } from '../../log/fold.ts'
import { toolCallsOf } from '../../protocol/messages.ts'

/** Definition that answers in one agent's conversation: the one that the conversation was handed to, from the end of that step on. */
export interface Handoffs {
  /** Name of the definition that answers; missing if it is the agent's own. */
  name?: string | undefined
  /** Name of the definition that will answer once the current step has ended. */
  pending?: string | undefined
  /** Number of calls of the last reply without a result. */
  open: number
  /** True once a handoff has ended the settings that `agent.use` made for the previous definition. */
  endsUse: boolean
}

const own = (): Handoffs => ({ name: undefined, pending: undefined, open: 0, endsUse: false })

/** Fold over a log. Changes the state in place. */
export const handoffsFold: Fold<Handoffs> = {
  name: 'handoffs',
  initial: own,
  keep: (handoffs) => ({ ...handoffs }),
  // Every field, in its order: a checkpoint is compared as text.
  resume: (kept) => ({ ...own(), ...kept }),
  on: {
    'reply.end'(handoffs, { message }) {
      handoffs.open = toolCallsOf(message.content).length
    },
    'tool.end'(handoffs, { handoff = handoffs.pending }) {
      handoffs.open -= 1
      handoffs.pending = handoff
      if (handoffs.open > 0 || handoff === undefined) return
      handoffs.name = handoff
      handoffs.pending = undefined
      handoffs.endsUse = true
    },
    'use.changed'(handoffs) {
      handoffs.endsUse = false
    },
    'agent.created'(handoffs, { parent }) {
      handoffs.open = 0
      handoffs.pending = undefined
      // A sub-agent that knows its caller's conversation is another agent.
      if (parent !== undefined) handoffs.name = undefined
    },
  },
}
