import { isImported } from '../../../src/protocol/text/nodeIds.ts'
import type { PlainBlock } from '../../../src/protocol/messages.ts'
import type { ProvenanceKind } from '../../../src/protocol/provenance.ts'
import type { ConversationNode } from '../../../src/conversation/tree/node.ts'

/** The parts of a node that local and remote agents share. */
type SaidNode = Pick<ConversationNode, 'runId' | 'turnIndex' | 'message'>

/** A prompt, with its provenance unless it came from a person. */
export interface SaidAgain {
  readonly content: PlainBlock[]
  readonly provenance?: ProvenanceKind
}

/**
 * Returns the prompt of the last run that began with a message, without its context. A resumed run counts as part of the run before it.
 * Returns `undefined` if the agent has not been asked anything. Pure.
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
 * Returns the prompt that repeats an agent's last prompt: its text, images and files. Secrets are blanked as in the log. A prompt from another
 * program keeps its provenance. Returns `undefined` if the agent has not been asked anything. Pure. For runs that ended otherwise than by an error:
 * `resume` continues a failed run and repeats no prompt.
 */
export function promptAgain(trunk: readonly SaidNode[]): SaidAgain | undefined {
  const message = lastPrompt(trunk)?.message
  if (message?.role !== 'user') return undefined
  const { content, provenance } = message
  return { content: [...content], ...(provenance === undefined ? {} : { provenance }) }
}
