import { isImported } from '../../protocol/imported.ts'
import type { PlainBlock } from '../../protocol/messages.ts'
import type { ProvenanceKind } from '../../protocol/provenance.ts'
import type { ConversationNode } from '../tree/node.ts'

/** A node as agents here and far away have it. */
type SaidNode = Pick<ConversationNode, 'runId' | 'turnIndex' | 'message'>

/** A prompt, and where it came from unless from a person. */
export interface SaidAgain {
  readonly content: PlainBlock[]
  readonly provenance?: ProvenanceKind
}

/**
 * The message that began the last run with one of its own, without the context that stood before it. A resumed run counts as part of the run before
 * it. `undefined` if the agent has not been asked anything. Pure.
 */
export function lastPrompt<N extends SaidNode>(trunk: readonly N[]): N | undefined {
  const said = trunk.filter(({ message, ...at }) => message.role === 'user' && !isImported({ ...at, message }))
  const last = said.at(-1)
  if (last === undefined) return undefined
  const ofRun = said.filter(({ runId }) => runId === last.runId)
  // Its context, and what was left unsaid before, go first in that turn; what was said into it comes in later ones.
  return ofRun.findLast(({ turnIndex }) => turnIndex === ofRun[0]!.turnIndex)
}

/**
 * Returns the prompt that asks an agent again what it was asked last: the text, images and files of its last prompt. Secrets are as the log has them:
 * blanked. The words of another program keep their provenance, whoever asks again. `undefined` if the agent has not been asked anything. Pure.
 *
 * For runs that ended otherwise than by an error: `resume` continues a failed run and repeats no prompt.
 */
export function promptAgain(trunk: readonly SaidNode[]): SaidAgain | undefined {
  const message = lastPrompt(trunk)?.message
  if (message?.role !== 'user') return undefined
  const { content, provenance } = message
  return { content: [...content], ...(provenance === undefined ? {} : { provenance }) }
}
