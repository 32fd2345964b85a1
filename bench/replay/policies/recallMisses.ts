import { meetTurn } from '../measure/learning.ts'
import { namesOf } from '../measure/names.ts'
import { NameTracker } from '../measure/references.ts'
import { BlockTable } from '../measure/requestBlocks.ts'
import { isStep, type RecordedSession } from '../recordedSession.ts'
import type { Script } from './policy.ts'

/** Names asked for in one call. */
const perCall = 8

/**
 * Before each recorded reply that uses names the request does not show, or only in an index, the model asks `recall` for them: the
 * dearest that a careful model would be. Asks once a turn, found or not.
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
      if (asked === turn || !isStep(reply)) return undefined
      asked = turn
      const { dangling, indexOnly } = names.refer(table.blocksOf(request), namesOf(reply.content))
      const missed = [...dangling, ...indexOnly]
      if (missed.length === 0 || !request.tools.some(({ name }) => name === 'recall')) return undefined
      return [{ type: 'toolCall', callId: '', name: 'recall', input: { query: missed.slice(0, perCall).join(' ') } }]
    },
  }
}
