import type { Step } from '../../../src/conversation/tree/node.ts'
import { stepOf } from '../../../src/conversation/brakes/prune/pruneNotes.ts'
import { parseNodeId } from '../../../src/protocol/ids.ts'
import type { Consultation, HiddenPart } from '../../../src/actors/define/policy.ts'

/** Returns the steps of a part, with their nodes. */
export const stepsOfPart = ({ steps }: HiddenPart, { conversation }: Pick<Consultation, 'conversation'>): Step[] =>
  steps.flatMap(({ id }) => {
    const node = conversation.node(parseNodeId(id) ?? 0)
    return node === undefined ? [] : [stepOf(node.stepId, conversation)]
  })

/** Returns a hint on how to see the steps again, for the end of a memo. `''` for a model that cannot. */
export const recallHint = ({ canRecall }: Pick<Consultation, 'canRecall'>): string =>
  canRecall ? '\n(recall brings the steps back word for word.)' : ''
