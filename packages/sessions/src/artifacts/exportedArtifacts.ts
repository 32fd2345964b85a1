import type { Artifact } from '../../../../src/protocol/artifacts/artifact.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { artifactsOf, hasResult } from '../../../../src/protocol/artifacts/artifactsOf.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { toBase64 } from '../../../../src/protocol/text/toBase64.ts'

/** Line after all records of an exported file: an artifact that a result names, and the agent beside whose log it is kept. */
export interface ExportedArtifact {
  readonly agentId: string
  readonly artifact: Pick<Artifact, 'id'> &
    /** Contents in base64, or a mark that they are missing. */
    ({ readonly data: string } | { readonly missing: true })
}

/** Returns the key of an artifact among those of several agents. */
export const artifactKey = (agentId: string, id: string): string => `${agentId}/${id}`

/** Adds the base64 contents that a line has to `to`, under their `artifactKey`. */
export function takeArtifact({ agentId, artifact }: ExportedArtifact, to: Map<string, string>): void {
  if ('data' in artifact) to.set(artifactKey(agentId, artifact.id), artifact.data)
}

/** The artifacts that the results of a session name, each once. */
export class NamedArtifacts {
  readonly #named = new Map<string, Artifact>()

  apply(record: LogRecord): void {
    if (!hasResult(record)) return
    for (const artifact of artifactsOf(record)) this.#named.set(artifactKey(artifact.agentId, artifact.id), artifact)
  }

  /** Yields a line for each artifact that is still kept. Rejects as the store does. */
  async *kept(store: Pick<Store, 'snapshots'>): AsyncGenerator<ExportedArtifact, void, undefined> {
    for await (const line of this.lines(store)) if ('data' in line.artifact) yield line
  }

  /** Yields a line for each artifact. Rejects as the store does. */
  async *lines({ snapshots }: Pick<Store, 'snapshots'>): AsyncGenerator<ExportedArtifact, void, undefined> {
    for (const { agentId, id } of this.#named.values()) {
      const bytes = await snapshots?.get(agentId, id)
      const data = bytes === undefined ? undefined : toBase64(bytes)
      yield { agentId, artifact: data === undefined ? { id, missing: true } : { id, data } }
    }
  }

  /** Returns a line for each artifact, for a store from which none can be read. */
  missing(): readonly ExportedArtifact[] {
    return [...this.#named.values()].map(({ agentId, id }) => ({ agentId, artifact: { id, missing: true } }))
  }
}
