import { artifactName } from '../../../../../../src/protocol/artifacts/artifactNames.ts'
import type { ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import { formatBytes } from '../words/numbers.ts'

/** The artifacts that a result, or a part of a request, keeps. */
export type Keeping = Pick<ToolResultMessage, 'artifacts'>

/** Name of the tool with which a model reads an artifact that a result keeps. */
export const readArtifactName = 'read_artifact'

/** Returns a line for each artifact that a result keeps. */
export const artifactNotes = ({ artifacts = [] }: Keeping): readonly string[] =>
  artifacts.map((artifact) => {
    const { name = artifactName(artifact), bytes, mimeType } = artifact
    return `${name}, ${formatBytes(bytes)}, ${mimeType}`
  })
