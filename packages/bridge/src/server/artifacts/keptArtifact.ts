import type { Artifact } from '../../../../../src/protocol/artifacts/artifact.ts'
import { artifactsOf, hasResult } from '../../../../../src/protocol/artifacts/artifactsOf.ts'
import type { AgentAccess } from '../agentAccess.ts'

/**
 * Returns the artifact that a result in an agent's log names, with its bytes; `undefined` if no result names
 * it, or the bytes are gone. Rejects as `access.records` does.
 */
export async function keptArtifact(
  access: Pick<AgentAccess, 'must' | 'records' | 'keptBeside'>,
  agentId: string,
  id: string,
): Promise<(Artifact & { readonly content: Uint8Array }) | undefined> {
  access.must('see.all', 'artifact')
  for await (const record of access.records(agentId)) {
    if (!hasResult(record)) continue
    const found = artifactsOf(record).find((one) => one.id === id && one.agentId === agentId)
    if (found === undefined) continue
    const content = await access.keptBeside(agentId, id)
    return content === undefined ? undefined : { ...found, content }
  }
  return undefined
}
