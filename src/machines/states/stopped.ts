import { advance, agentSetup } from '../agentSetup.ts'
import type { EventOfType } from '../agentTypes.ts'
import { endBackground } from '../background.ts'
import { refuse, refuseReshaping } from '../brakes.ts'
import { cancelCalls } from '../calls.ts'
import { cancelCompaction, refuseCompactions } from '../compaction.ts'
import { tellChildren } from '../children.ts'
import { cancelConsultation, refusePolicies } from '../policies.ts'
import { endUndo } from '../undoing.ts'
import { dropQueues } from '../queues.ts'

/** Remembers how the agent is to end, once all running effects are settled. */
export const beginEnding = advance<EventOfType<'stop' | 'close'>>((draft, { type }) => {
  draft.set({ ending: type })
  tellChildren(draft, type)
})

/** Final state. A stopped agent has everything answered and dropped. A closed one keeps its log in a state to be resumed from. */
export const stopped = agentSetup.createStateConfig({
  description: 'The end.',
  type: 'final',
  entry: advance((draft) => {
    // No report of it could come any more; closed, the agent reads so when it goes on from its log.
    endBackground(draft, 'aborted')
    // At rest nothing has settled it.
    if (draft.context.isCompacting) cancelCompaction(draft, 'the agent was stopped', draft.context.ending !== 'stop')
    if (draft.context.consulting !== null)
      cancelConsultation(draft, 'the agent was stopped', draft.context.ending !== 'stop')
    if (draft.context.ending !== 'stop') return
    cancelCalls(draft, 'aborted')
    endUndo(draft, 'the agent was stopped')
    refuseReshaping(draft, 'the agent was stopped')
    refuse(draft, 'pin', 'the agent was stopped')
    refuseCompactions(draft, 'the agent was stopped')
    refusePolicies(draft, 'the agent was stopped')
    dropQueues(draft, ['steering', 'followUps', 'prompts'])
    draft.record({ type: 'agent.stopped' })
  }),
})
