import type { Artifact } from '../../../protocol/artifacts/artifact.ts'

/** An artifact that is kept once its result stands. */
export interface Keeping {
  readonly artifact: Artifact
  readonly bytes: Uint8Array
  /** Note that tells the model about the artifact, in a block of its own. */
  readonly note: string
}
