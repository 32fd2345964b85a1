import type { Block, ModelRequest } from '../../../../src/index.ts'
import { meetTurn } from '../measure/learning.ts'
import { namesOf } from '../measure/names.ts'
import { NameTracker } from '../measure/references.ts'
import { BlockTable, isIndexText } from '../measure/requestBlocks.ts'
import { isStep, type RecordedSession } from '../recordedSession.ts'
import type { Script } from './policy.ts'

/** The most calls in one reply, and the lines that each asks for. */
const most = { calls: 8, lines: 12 }

/**
 * Before each recorded reply that uses names the request does not show, or only in an index, the model asks `recall` for them: by the
 * step that the index names, or by the name alone. The dearest that a careful model would be. Asks once a turn, found or not.
 */
export function recallMisses(session: RecordedSession): Script {
  const table = new BlockTable()
  const names = new NameTracker()
  let learned = 0
  let asked = -1
  return {
    beforeReply(turn, request) {
      for (; learned < turn; learned += 1) meetTurn(names, session.turns[learned]!)
      const reply = session.turns[turn]!
      if (asked === turn || !isStep(reply) || !request.tools.some(({ name }) => name === 'recall')) return undefined
      asked = turn
      const { dangling, indexOnly } = names.refer(table.blocksOf(request), namesOf(reply.content))
      const bySteps = Map.groupBy(indexOnly, (name) => stepInIndex(request, name))
      const inputs = [
        ...[...bySteps].map(([step, found]) => ({ ...(step === undefined ? {} : { step }), query: found.join(' ') })),
        ...dangling.map((query) => ({ query })),
      ].slice(0, most.calls)
      if (inputs.length === 0) return undefined
      return inputs.map(({ query, ...step }): Block => {
        const input = { ...step, query: query.slice(0, 1_000), lines: most.lines }
        return { type: 'toolCall', callId: '', name: 'recall', input }
      })
    },
  }
}

/** The step under which the index lists a name: its lines begin with one. */
function stepInIndex({ messages }: ModelRequest, name: string): string | undefined {
  for (const { content } of messages.toReversed())
    for (const block of content) {
      if (block.type !== 'text' || !isIndexText(block.text)) continue
      const line = block.text.split('\n').find((listed) => listed.split(/\s+/).includes(name))
      return line?.match(/^n\d+/)?.[0]
    }
  return undefined
}
