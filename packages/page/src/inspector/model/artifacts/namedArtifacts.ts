import type { ConversationView } from '../../../../../../src/conversation/tree/conversationView.ts'
import type { Artifact } from '../../../../../../src/protocol/artifacts/artifact.ts'
import { artifactName, artifactNames } from '../../../../../../src/protocol/artifacts/artifactNames.ts'
import type { Keeping } from './artifactNotes.ts'
import type { DataApart } from '../../../../../../src/protocol/resultData.ts'
import { textOf } from '../../../../../../src/protocol/text/messageText.ts'
import type { RequestMessage } from '../../../../../../src/protocol/ports/model.ts'

/**
 * Returns a function that finds the artifacts named by the results in a request, which has only the texts of results. Only artifacts of the
 * conversation's results are found, whatever text names them. Valid for one rendering, as the conversation may grow.
 */
export function artifactsIn(conversation: ConversationView): (message: RequestMessage) => readonly Artifact[] {
  let known: Map<string, Artifact> | undefined
  return (message) => {
    if (message.role !== 'toolResult') return []
    const names = new Set(artifactNames(textOf(message.content)))
    if (names.size === 0) return []
    known ??= kept(conversation)
    return [...names].flatMap((name) => known!.get(name) ?? [])
  }
}

/** Returns data beside the log in the form of a result's artifacts; nothing if the data is lost. */
export const keptData = (apart: DataApart): Keeping => ('lost' in apart ? {} : { artifacts: [apart.artifact] })

/** As `artifactsIn`, with the artifacts in the form of `Keeping`. */
export function keptIn(conversation: ConversationView): (message: RequestMessage) => Keeping {
  const named = artifactsIn(conversation)
  return (message) => ({ artifacts: named(message) })
}

/** Returns the newest artifact of each name. */
function kept(conversation: ConversationView): Map<string, Artifact> {
  const known = new Map<string, Artifact>()
  for (const { message } of conversation.log())
    if (message.role === 'toolResult')
      for (const artifact of message.artifacts ?? []) known.set(artifactName(artifact), artifact)
  return known
}
