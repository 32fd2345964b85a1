import { stallOf } from '../../../../src/conversation/brakes/stall/stall.ts'
import { defaultStallRules, stallRules } from '../../../../src/conversation/brakes/stall/stallRules.ts'
import type { ConversationNode } from '../../../../src/index.ts'
import type { StallRule } from '../../../../src/protocol/braking.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { replay } from '../replay.ts'

/** Detector to test: one of the rules, or the default rules together. */
export type Asked = StallRule | 'default set'

export const allAsked: readonly Asked[] = ['default set', ...(Object.keys(stallRules) as StallRule[])]

const rulesOf = (asked: Asked): readonly StallRule[] => (asked === 'default set' ? defaultStallRules : [asked])

/** A loop that was found. All are steps counted from 0; `target` is -1 for the prompt. */
export interface Detection {
  readonly at: number
  readonly first: number
  readonly target: number
}

export interface Watched {
  readonly steps: number
  readonly found: Readonly<Record<Asked, readonly Detection[]>>
}

/** Replays a run while the runtime only watches, and asks each rule after each of its steps. */
export async function watch(session: RecordedSession): Promise<Watched> {
  const { log, failure, stalls } = await replay(session, {
    compaction: false,
    braking: { stall: { note: false, revert: false, pause: false } },
  })
  if (failure !== undefined) throw new Error(`${session.name}: ${failure}`)
  const steps = stepsIn(log)
  const found = {} as Record<Asked, readonly Detection[]>
  for (const asked of allAsked) found[asked] = detections(log, steps, rulesOf(asked))
  // What the runtime noticed is what the rules say of its log, or the figures are of something else.
  if (stalls.length !== found['default set'].length)
    throw new Error(`${session.name}: the runtime noticed ${stalls.length}, its rules ${found['default set'].length}`)
  return { steps: steps.length, found }
}

/** Replies with calls: id of the reply, and of the last of its results. */
interface LoggedStep {
  readonly id: number
  readonly endId: number
}

function stepsIn(log: readonly ConversationNode[]): LoggedStep[] {
  const steps: { id: number; endId: number }[] = []
  for (const { id, stepId, message } of log) {
    if (message.role === 'toolResult' && steps.at(-1)?.id === stepId) steps.at(-1)!.endId = id
    if (message.role === 'assistant' && message.content.some(({ type }) => type === 'toolCall'))
      steps.push({ id, endId: id })
  }
  return steps
}

function detections(
  log: readonly ConversationNode[],
  steps: readonly LoggedStep[],
  rules: readonly StallRule[],
): Detection[] {
  const nodes = new Map(log.map((node) => [node.id, node]))
  const stepOf = (id: number): number => steps.findLastIndex((step) => step.id <= id)
  return steps.flatMap(({ endId }, at) => {
    // Nothing is looked for while a message waits.
    if (nodes.get(endId + 1)?.message.role === 'user') return []
    const stall = stallOf(
      { lastNodeId: endId, node: (id) => (id > endId ? undefined : nodes.get(id)), onTrunk: () => true },
      rules,
    )
    return stall === undefined ? [] : [{ at, first: stepOf(stall.first), target: stepOf(stall.target) }]
  })
}
