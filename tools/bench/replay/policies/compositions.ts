import { compositions } from '../../../../src/policies.ts'
import { namesIn, namesOf } from '../measure/names.ts'
import { isStep, type RecordedSession } from '../recordedSession.ts'
import { sizeOf } from './deadEnds.ts'
import { revertDeadEnds } from './hindsight.ts'
import { compactsAt, type FoldOptions, policiesFor } from './policies.ts'
import type { Policy, Script } from './policy.ts'
import { stepNodes } from './stepNodes.ts'

/** The rows of the table of compositions, all with a window in which a compaction begins at so many tokens; before them two to compare with. */
export const compositionsFor = (compactAt: number, fold: FoldOptions = true): readonly Policy[] => {
  const contextWindow = Math.round(compactAt / compactsAt)
  const others = policiesFor(compactAt, fold)
  return [
    ...['none', 'fold-compaction'].map((name) => others.find((policy) => policy.name === name)!),
    {
      name: 'baseline',
      about: 'compaction by no model at the threshold',
      shape: compositions.baseline({ contextWindow }),
    },
    {
      name: 'layered',
      about: 'a model condenses the older half',
      shape: (model) => compositions.layered({ contextWindow, model }),
    },
    {
      name: 'reviewed',
      about: 'a reviewer chooses',
      shape: (model) => compositions.reviewed({ contextWindow, model }),
    },
    {
      name: 'scored',
      about: 'steps of little worth leave when the work goes badly',
      shape: compositions.scored({ contextWindow }),
    },
    {
      name: 'hybrid',
      about: 'a reviewer chooses, by size or when the agent goes in circles',
      shape: (model) => compositions.hybrid({ contextWindow, model }),
    },
    {
      name: 'pinned',
      about: 'all but the newest and the pinned leaves; pins by hindsight',
      shape: compositions.pinned({ contextWindow }),
      script: pinUsed,
    },
    {
      name: 'retrieval',
      about: 'what has least to do with the task leaves',
      shape: compositions.retrieval({ contextWindow }),
    },
    {
      name: 'typedReverts',
      about: 'the model reverts dead ends, found by hindsight; loops are noticed',
      shape: compositions.typedReverts({ contextWindow }),
      script: (session) => ({ ...revertDeadEnds(session), resumes: true }),
    },
  ]
}

/** Tokens of all pins together, and replies that use what a step showed. */
const pins = { tokens: 10_000, leastUses: 3 }

/** Somebody who knows pins the steps whose names, shown there first, most later replies write: for their size, as many as 10,000 tokens hold. */
export function pinUsed(session: RecordedSession): Script {
  const wanted = pinnedTurns(session)
  return {
    beforeReply(turn, _request, agent) {
      if (!wanted.has(turn - 1)) return undefined
      const step = stepNodes(agent)[turn - 1]
      if (step !== undefined) agent.pin(step)
      return undefined
    },
  }
}

function pinnedTurns({ turns }: RecordedSession): ReadonlySet<number> {
  const shownAt = new Map<string, number>()
  const uses = new Map<number, number>()
  turns.forEach((turn, at) => {
    const used = new Set(namesOf(turn.content).flatMap((name) => shownAt.get(name) ?? []))
    if (isStep(turn)) for (const step of used) uses.set(step, (uses.get(step) ?? 0) + 1)
    const results = isStep(turn) ? turn.results.flatMap(({ content }) => content) : []
    const shown = results.flatMap((block) => (block.type === 'text' ? namesIn(block.text) : []))
    for (const name of [...namesOf(turn.content), ...shown])
      if (!shownAt.has(name)) shownAt.set(name, isStep(turn) ? at : -1)
  })
  uses.delete(-1)
  const worth = [...uses]
    .filter(([, count]) => count >= pins.leastUses)
    .map(([at, count]) => ({ at, tokens: sizeOf(turns[at]!), count }))
    .toSorted((a, b) => b.count / b.tokens - a.count / a.tokens)
  const pinned = new Set<number>()
  let room = pins.tokens
  for (const { at, tokens } of worth) {
    if (tokens > room) continue
    pinned.add(at)
    room -= tokens
  }
  return pinned
}
