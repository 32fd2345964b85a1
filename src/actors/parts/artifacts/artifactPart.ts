import { agentPart } from '../agentPart.ts'
import {
  artifactOptionsSchema,
  artifactSettings,
  type ArtifactOption,
  type ArtifactSetting,
} from './artifactOptions.ts'
import { readArtifactName, readArtifactTool } from './readArtifactTool.ts'

/** Results that are too large to show are kept whole, and read with a tool. */
export const artifactPart = agentPart<ArtifactOption, ArtifactSetting>({
  options: { artifacts: artifactOptionsSchema },
  settings: ({ artifacts }) => ({ artifacts: artifactSettings(artifacts) }),
  tools: (_, { artifacts }) => (artifacts === null ? [] : [readArtifactTool()]),
  toolNames: [readArtifactName],
  staysAtHandoff: 'artifacts',
})
