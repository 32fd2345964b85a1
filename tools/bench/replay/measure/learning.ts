import type { RecordedTurn } from '../recordedSession.ts'
import { namesIn, namesOf } from './names.ts'
import type { NameTracker } from './references.ts'

/** Adds the names that the agent has met in a turn: those in its words, and those in the results. */
export function meetTurn(names: NameTracker, turn: RecordedTurn): void {
  names.meet(namesOf(turn.content))
  if (turn.type === 'user') return
  for (const { content } of turn.results)
    for (const block of content) if (block.type === 'text') names.meet(namesIn(block.text))
}
