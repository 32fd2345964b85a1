import { artifactName } from '../../../../../../src/protocol/artifacts/artifactNames.ts'
import type { ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import { formatBytes } from '../words/numbers.ts'

/** A result, or a part of a request, as far as it keeps artifacts. */
export type Keeping = Pick<ToolResultMessage, 'artifacts'>

/** The tool by which a model reads what a result keeps. */
export const readArtifactName = 'read_artifact'

/** Returns a line for each artifact that a result keeps. */
export const artifactNotes = ({ artifacts = [] }: Keeping): readonly string[] =>
  artifacts.map((artifact) => {
    const { name = artifactName(artifact), bytes, mimeType } = artifact
    return `${name}, ${formatBytes(bytes)}, ${mimeType}`
  })
