import { agentPart } from '../agentPart.ts'
import {
  artifactOptionsSchema,
  artifactSettings,
  type ArtifactOption,
  type ArtifactSetting,
} from './artifactOptions.ts'
import { readArtifactName, readArtifactTool } from './readArtifactTool.ts'

/** The part that keeps results that are too large to show, and has the tool to read them. */
export const artifactPart = agentPart<ArtifactOption, ArtifactSetting>({
  options: { artifacts: artifactOptionsSchema },
  settings: ({ artifacts }) => ({ artifacts: artifactSettings(artifacts) }),
  tools: (_, { artifacts }) => (artifacts === null ? [] : [readArtifactTool()]),
  toolNames: [readArtifactName],
  staysAtHandoff: 'artifacts',
})
