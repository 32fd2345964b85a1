import { z } from 'zod'
import { snapshotId } from '../../../stores/src/rules/snapshotLimits.ts'
import { artifactName } from '../../../../src/protocol/artifacts/artifact.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Artifact that a result names. `bytes` is `undefined` if the artifact was no longer kept. */
export interface ReadArtifact {
  readonly agentId: string
  readonly id: string
  readonly bytes: Uint8Array | undefined
}

/** The field of a line that holds an artifact in place of a record. */
export const artifactField = lazily(() =>
  z.object({
    artifact: z
      .union([z.object({ id: z.string(), data: z.base64() }), z.object({ id: z.string(), missing: z.literal(true) })])
      .exactOptional(),
  }),
)

/** Returns the artifact in a line; `undefined` if the line has a record. Throws if the bytes do not match the artifact's id. */
export function artifactIn({
  agentId,
  artifact,
}: z.infer<ReturnType<typeof artifactField>> & { readonly agentId: string }): ReadArtifact | undefined {
  if (artifact === undefined) return undefined
  const { id } = artifact
  if ('missing' in artifact) return { agentId, id, bytes: undefined }
  const bytes = Buffer.from(artifact.data, 'base64')
  if (snapshotId(bytes) === id) return { agentId, id, bytes }
  throw new Error('the artifact is not what its name says')
}

/** Stores artifacts beside the logs just written, whose leases are held. Returns the names of those that could not be stored. */
export async function keepArtifacts(
  { snapshots }: Store,
  written: readonly { readonly agentId: string }[],
  artifacts: readonly ReadArtifact[],
): Promise<string[]> {
  const lost: string[] = []
  for (const { agentId, id, bytes } of artifacts) {
    if (!written.some((part) => part.agentId === agentId)) continue
    const isKept =
      bytes !== undefined &&
      snapshots !== undefined &&
      (await snapshots.put(agentId, bytes).then(
        () => true,
        () => false,
      ))
    if (!isKept) lost.push(artifactName({ id }))
  }
  return lost
}
