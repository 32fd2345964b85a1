import type { RecordOf } from '../records.ts'
import type { Artifact } from './artifact.ts'

/** Returns the artifacts that a result names: those that the model may read, and its data. */
export function artifactsOf({ message, dataApart }: RecordOf<'tool.end'>): readonly Artifact[] {
  const named = message.artifacts ?? []
  return dataApart !== undefined && 'artifact' in dataApart ? [...named, dataApart.artifact] : named
}
